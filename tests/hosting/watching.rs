//! Watchers miss nothing and see nothing twice, or they are told that history was lost.

use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use banqi::api::proto::v1::watch_game_response::{KeepAlive, Message, Snapshot};
use banqi::game::GameId;
use banqi::store::{Change, Commit, Outcome, Write as Stored};
use futures_util::future::join_all;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rstest::rstest;
use tokio::time::timeout;
use tonic::{Status, Streaming};

use crate::meddling::{Meddling, Trouble};
use crate::support::{PATIENCE, refusal};
use crate::table::{Table, to_move};
use crate::world::{Backing, Replica, World, reason, trusting};
use crate::writes::Write;

/// One watch, read in order.
struct Reader(Streaming<v1::WatchGameResponse>);

impl Reader {
    async fn open(replica: &Replica, id: &str, after_etag: &str) -> Self {
        Self(replica.watch(id, after_etag).await.expect("a watch"))
    }

    /// The next message that does not tell who is present; `None` at the end of the stream.
    async fn next(&mut self) -> Result<Option<Message>, Status> {
        loop {
            let next = timeout(PATIENCE, self.0.message()).await.expect("a message in time")?;
            match next.map(|response| response.message.expect("a message says something")) {
                Some(Message::Presence(_)) => {}
                other => return Ok(other),
            }
        }
    }

    async fn message(&mut self) -> Message {
        self.next().await.expect("no error").expect("no end")
    }

    async fn snapshot(&mut self) -> Snapshot {
        match self.message().await {
            Message::Snapshot(snapshot) => snapshot,
            other => panic!("not a snapshot: {other:?}"),
        }
    }

    async fn keep_alive(&mut self) -> KeepAlive {
        match self.message().await {
            Message::KeepAlive(keep_alive) => keep_alive,
            other => panic!("not a keep_alive: {other:?}"),
        }
    }

    /// The next event, whatever says in between that nothing is new.
    async fn event(&mut self) -> v1::GameEvent {
        loop {
            match self.message().await {
                Message::Event(event) => return event,
                Message::KeepAlive(_) => {}
                other => panic!("not an event: {other:?}"),
            }
        }
    }

    /// Reads what comes after a revision up to another one: each once, in order, as the log has it.
    async fn follow(&mut self, after: u64, game: &v1::Game) {
        for entry in &game.log[after as usize..] {
            let event = self.event().await;
            assert_eq!(event.entry.as_ref(), Some(entry));
            let then = event.game.expect("the game after it");
            assert_eq!((then.revision, &then.etag), (entry.revision, &entry.etag));
            if then.revision == game.revision {
                assert_eq!(then, basic(game), "the game after the last event");
            }
        }
    }

    /// Reads to the end of the stream; nothing new may come.
    async fn end(&mut self) {
        while let Some(message) = self.next().await.expect("no error") {
            assert!(matches!(message, Message::KeepAlive(_)), "{message:?}");
        }
    }
}

/// The game as events tell it.
fn basic(game: &v1::Game) -> v1::Game {
    v1::Game { log: Vec::new(), server_time: None, ..game.clone() }
}

/// A game with an event of every kind that its players can cause; open until they join.
async fn lively_game(replica: &Replica) -> String {
    let request = v1::CreateGameRequest { entropy_required: true, ..Default::default() };
    let created = Write::Create(request).send(replica).await.expect("created");
    created.game.game_id
}

/// Plays it through both replicas, to its end.
async fn live(world: &World, id: &str) {
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let join = |entropy: &[u8]| {
        Write::Join(v1::JoinGameRequest {
            game_id: id.to_owned(),
            entropy: entropy.to_vec(),
            ..Default::default()
        })
    };
    let first = join(b"with entropy").send(one).await.expect("joined");
    let second = join(b"").send(other).await.expect("joined");
    let tokens = [first.tokens, second.tokens].concat();
    let table = Table::of(Some(second.game), tokens);
    let entropy = v1::AddEntropyRequest {
        game_id: id.to_owned(),
        seat_token: table.token(2),
        entropy: b"later".to_vec(),
        ..Default::default()
    };
    Write::AddEntropy(entropy).send(one).await.expect("added");
    for turn in 0..6 {
        table.play_on(&world.replicas[turn % 2], 1).await;
    }
    table.resign(other, 2).await;
}

#[rstest]
#[tokio::test]
async fn a_snapshot_and_then_every_revision_once(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let id = lively_game(world.any()).await;
    let created = world.any().get(&id).await;
    let mut readers = Vec::new();
    for replica in world.replicas.iter().cycle().take(6) {
        let mut reader = Reader::open(replica, &id, "").await;
        let snapshot = reader.snapshot().await;
        assert!(!snapshot.history_lost);
        let game = snapshot.game.expect("a game");
        assert!(game.server_time.is_some());
        assert_eq!(basic(&game), basic(&created));
        readers.push(reader);
    }
    live(&world, &id).await;
    let game = world.any().get(&id).await;
    let kinds: Vec<&Event> = game.log.iter().filter_map(|entry| entry.event.as_ref()).collect();
    assert!(matches!(
        kinds[..],
        [
            Event::Created(_),
            Event::Joined(_),
            Event::Joined(_),
            Event::EntropyAdded(_),
            Event::Played(_),
            ..,
            Event::Resigned(_)
        ]
    ));
    for reader in &mut readers {
        reader.follow(1, &game).await;
        reader.end().await;
    }
}

#[rstest]
#[tokio::test]
async fn who_comes_back_is_told_exactly_what_was_missed(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    table.play_on(one, 5).await;
    let game = one.get(&table.id).await;
    for (missed_after, entry) in (1..).zip(&game.log) {
        for replica in [one, other] {
            let mut reader = Reader::open(replica, &table.id, &entry.etag).await;
            if missed_after < game.revision {
                let Message::Event(event) = reader.message().await else { panic!("no event") };
                assert_eq!(event.entry.expect("an entry").revision, missed_after + 1);
                reader.follow(missed_after + 1, &game).await;
            }
            let keep_alive = reader.keep_alive().await;
            assert_eq!(keep_alive.etag, game.etag);
            assert!(keep_alive.server_time.is_some());
        }
    }
    // And from there on what happens.
    let mut reader = Reader::open(other, &table.id, &game.etag).await;
    reader.keep_alive().await;
    table.play_on(one, 2).await;
    reader.follow(game.revision, &one.get(&table.id).await).await;
}

#[rstest]
#[tokio::test]
async fn who_comes_back_from_another_history_is_told_so(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    table.play_on(world.any(), 2).await;
    let other = Table::create(world.any(), "TAIWANESE").await;
    let other = other.play_on(world.any(), 4).await;
    let game = world.any().get(&table.id).await;
    let elsewhere = format!("{}.{}", game.revision, "0".repeat(16));
    let never = format!("0.{}", "0".repeat(16));
    for replica in &world.replicas {
        for etag in [&other.etag, &elsewhere, &never] {
            let mut reader = Reader::open(replica, &table.id, etag).await;
            let snapshot = reader.snapshot().await;
            assert!(snapshot.history_lost, "{etag}");
            assert_eq!(basic(&snapshot.game.expect("a game")), basic(&game));
        }
    }
}

#[rstest]
#[tokio::test]
async fn a_game_that_there_is_not_is_not_found_and_nothing_else(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    for etag in ["", "1.0000000000000000"] {
        let status = world.any().watch("nowhere", etag).await.expect_err("no such game");
        let (_, told, details) = refusal(&status);
        assert_eq!(told, "GAME_NOT_FOUND");
        assert_eq!(details.error_info().expect("an ErrorInfo").metadata["game_id"], "nowhere");
    }
    // It can be watched as soon as there is one.
    let request = v1::CreateGameRequest { game_id: "nowhere".to_owned(), ..Default::default() };
    Write::Create(request).send(world.any()).await.expect("created");
    Reader::open(world.any(), "nowhere", "").await.snapshot().await;
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_misses_nothing(#[values(Backing::Memory, Backing::Redis)] backing: Backing) {
    let seed = 11;
    println!("seed {seed}");
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let mut slow = Reader::open(&world.replicas[1], &table.id, "").await;
    // More than fits into the stream's window is played before the first message is read.
    table.play_out(world.any(), &mut Xoshiro256PlusPlus::seed_from_u64(seed)).await;
    let game = world.any().get(&table.id).await;
    assert!(game.revision > 100, "a long game");
    // The snapshot is of the moment when it was asked for.
    let first = slow.snapshot().await.game.expect("a game").revision;
    slow.follow(first, &game).await;
    slow.end().await;
}

#[rstest]
#[tokio::test]
async fn a_late_reader_gets_the_end_and_the_stream_is_closed(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let middle = table.play_on(world.any(), 3).await;
    table.resign(world.any(), to_move(&middle)).await;
    let game = world.any().get(&table.id).await;
    for replica in &world.replicas {
        let mut reader = Reader::open(replica, &table.id, "").await;
        let snapshot = reader.snapshot().await.game.expect("a game");
        assert!(snapshot.result.is_some());
        reader.end().await;

        let mut reader = Reader::open(replica, &table.id, &middle.etag).await;
        reader.follow(middle.revision, &game).await;
        reader.end().await;

        let mut reader = Reader::open(replica, &table.id, &game.etag).await;
        assert_eq!(reader.keep_alive().await.etag, game.etag);
        reader.end().await;
    }
}

#[tokio::test]
async fn a_lost_subscription_loses_no_event() {
    let world = World::start(Backing::Redis, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let mut readers = Vec::new();
    for replica in [one, other] {
        let mut reader = Reader::open(replica, &table.id, "").await;
        reader.snapshot().await;
        readers.push(reader);
    }
    let redis = world.redis.as_ref().expect("on Redis");
    let mut connection = redis.connection().await;
    for round in 0..3 {
        table.play_on(one, 3).await;
        let mut kill = redis::cmd("CLIENT");
        kill.arg("KILL").arg("TYPE").arg("pubsub");
        let killed: u32 = kill.query_async(&mut connection).await.expect("an answer");
        // Later they may be about to connect again.
        assert!(round > 0 || killed == 2, "{killed} killed, and each replica has one");
        table.play_on(other, 3).await;
    }
    let game = one.get(&table.id).await;
    for reader in &mut readers {
        reader.follow(1, &game).await;
    }
}

#[tokio::test]
async fn a_watch_that_has_begun_outlasts_an_outage() {
    let world = World::start(Backing::Memory, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let meddling = Meddling::with(Arc::clone(&world.store));
    let afar = Replica::on(Arc::clone(&meddling) as _, trusting()).await;
    let mut reader = Reader::open(&afar, &table.id, "").await;
    reader.snapshot().await;
    meddling.make(Trouble::Away);
    table.play_on(world.any(), 4).await;
    // The store is asked again and again meanwhile.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let status = afar.watch(&table.id, "").await.expect_err("none begins without the store");
    assert_eq!(reason(&status), "STORE_UNAVAILABLE");
    assert!(status_has_retry(&status), "{status:?}");
    meddling.make(Trouble::None);
    reader.follow(1, &world.any().get(&table.id).await).await;
}

fn status_has_retry(status: &Status) -> bool {
    refusal(status).2.retry_info().is_some_and(|info| info.retry_delay.is_some())
}

#[rstest]
#[tokio::test]
async fn watchers_learn_that_history_was_lost_and_that_a_game_is_gone(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let id: GameId = table.id.parse().expect("an id");
    let kept = table.play_on(one, 2).await;
    let record = world.store.load(&id).await.expect("an answer").expect("a record");
    let mut readers = Vec::new();
    for replica in [one, other] {
        let mut reader = Reader::open(replica, &table.id, "").await;
        reader.snapshot().await;
        readers.push(reader);
    }
    table.play_on(other, 2).await;
    let lost = one.get(&table.id).await;
    for reader in &mut readers {
        reader.follow(kept.revision, &lost).await;
    }

    let change = Change::Put { record, deadline: None, expiry: None };
    commit(&world, &id, change).await;
    for reader in &mut readers {
        let snapshot = reader.snapshot_after_silence().await;
        assert!(snapshot.history_lost);
        assert_eq!(snapshot.game.expect("a game").etag, kept.etag);
    }
    table.play_on(one, 1).await;
    let game = one.get(&table.id).await;
    for reader in &mut readers {
        reader.follow(kept.revision, &game).await;
    }

    commit(&world, &id, Change::Delete).await;
    for reader in &mut readers {
        let status = loop {
            match reader.next().await {
                Ok(Some(Message::KeepAlive(_))) => {}
                Ok(other) => panic!("{other:?}"),
                Err(status) => break status,
            }
        };
        assert_eq!(reason(&status), "GAME_NOT_FOUND");
    }
}

impl Reader {
    async fn snapshot_after_silence(&mut self) -> Snapshot {
        loop {
            match self.message().await {
                Message::Snapshot(snapshot) => return snapshot,
                Message::KeepAlive(_) => {}
                other => panic!("not a snapshot: {other:?}"),
            }
        }
    }
}

/// Makes a change behind the service's back.
async fn commit(world: &World, id: &GameId, change: Change) {
    let standing = world.store.load(id).await.expect("an answer").expect("a record");
    let write = Stored { game: id.clone(), expected: Some(standing.version), change };
    let present = world.store.now(world.store.shards().shard_of(id)).await.expect("the time");
    let commit = Commit::new(world.store.shards(), present, write);
    let outcome = world.store.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_watchers_that_come_and_go_see_one_course(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    const ACTIONS: usize = 40;
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let last = ACTIONS as u64 + 1;
    // Each reads some events, goes away, and comes back to the other replica.
    let watchers = (0..12_usize).map(|number| {
        let (replicas, id) = (&world.replicas, &table.id);
        async move {
            let mut told: Vec<(u64, String)> = Vec::new();
            let mut visit = number;
            while told.last().is_none_or(|(revision, _)| *revision < last) {
                let after = told.last().map(|(_, etag)| etag.clone()).unwrap_or_default();
                let mut reader = Reader::open(&replicas[visit % 2], id, &after).await;
                if told.is_empty() {
                    let game = reader.snapshot().await.game.expect("a game");
                    told.push((game.revision, game.etag));
                }
                for _ in 0..=(number % 5) {
                    if told.last().is_some_and(|(revision, _)| *revision == last) {
                        break;
                    }
                    let entry = reader.event().await.entry.expect("an entry");
                    told.push((entry.revision, entry.etag));
                }
                visit += 1;
            }
            told
        }
    });
    let play = async {
        for turn in 0..ACTIONS {
            table.play_on(&world.replicas[turn % 2], 1).await;
        }
    };
    let ((), told) = tokio::join!(play, join_all(watchers));
    let log = world.any().get(&table.id).await.log;
    let course: Vec<(u64, String)> =
        log.into_iter().map(|entry| (entry.revision, entry.etag)).collect();
    for told in told {
        let first = told[0].0 as usize;
        assert_eq!(told, course[first - 1..]);
    }
}
