//! Watchers know which seats are present: those that somebody who proved to be them watches from,
//! over any replica.

use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use banqi::game::GameId;
use banqi::server::Config;
use rstest::rstest;
use tokio::time::{Instant, timeout};
use tonic::{Code, Request, Status, Streaming};

use crate::meddling::{Meddling, Trouble};
use crate::support::{PATIENCE, bad_fields, refusal};
use crate::table::Table;
use crate::world::{Backing, Replica, World, reason, trusting};

/// Long enough that nothing in a test ends by itself.
const LONG: Duration = Duration::from_secs(60);

fn lasting(presence_lifetime: Duration) -> Config {
    let mut config = trusting();
    config.watching.presence_lifetime = presence_lifetime;
    config.watching.linger = Duration::from_secs(2);
    config
}

/// A call to watch as what a token says; empty for a spectator.
fn request(table: &Table, after_etag: &str, token: &str) -> v1::WatchGameRequest {
    v1::WatchGameRequest {
        game_id: table.id.clone(),
        after_etag: after_etag.to_owned(),
        seat_token: token.to_owned(),
        seat: 0,
    }
}

/// One watch, with all that it is told.
struct Watch(Streaming<v1::WatchGameResponse>);

impl Watch {
    async fn open(replica: &Replica, table: &Table, seat: u32) -> Self {
        let token = if seat == 0 { String::new() } else { table.token(seat) };
        let watch = replica.games().watch_game(request(table, "", &token)).await;
        Self(watch.expect("a watch").into_inner())
    }

    async fn next(&mut self) -> Result<Option<Message>, Status> {
        let next = timeout(PATIENCE, self.0.message()).await.expect("a message in time")?;
        Ok(next.map(|response| response.message.expect("a message says something")))
    }

    async fn message(&mut self) -> Message {
        self.next().await.expect("no error").expect("no end")
    }

    /// The first message after a snapshot: who is present.
    async fn begin(&mut self) -> Vec<bool> {
        assert!(matches!(self.message().await, Message::Snapshot(_)));
        present(&self.message().await).expect("who is present, right after the first message")
    }

    /// Who is present as it is told next.
    async fn presence(&mut self) -> Vec<bool> {
        let told = async {
            loop {
                if let Some(present) = present(&self.message().await) {
                    return present;
                }
            }
        };
        timeout(PATIENCE, told).await.expect("who is present, in time")
    }
}

/// Whether each seat is present, if the message says so.
fn present(message: &Message) -> Option<Vec<bool>> {
    let Message::Presence(presence) = message else { return None };
    let seats: Vec<u32> = presence.seats.iter().map(|seat| seat.seat).collect();
    assert_eq!(seats, (1..=u32::try_from(seats.len()).expect("few")).collect::<Vec<_>>());
    Some(presence.seats.iter().map(|seat| seat.present).collect())
}

/// How many seats the store has as present.
async fn stored(world: &World, table: &Table) -> usize {
    let id: GameId = table.id.parse().expect("an id");
    world.store.present(&[id]).await.expect("an answer")[0].len()
}

#[rstest]
#[tokio::test]
async fn a_seat_is_present_while_it_is_watched(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, lasting(LONG)).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let mut spectators = Vec::new();
    for replica in [one, other] {
        let mut spectator = Watch::open(replica, &table, 0).await;
        assert_eq!(spectator.begin().await, [false, false], "a spectator is no seat");
        spectators.push(spectator);
    }

    let mut first = Watch::open(one, &table, 1).await;
    assert_eq!(first.begin().await, [true, false], "it knows of itself from the start");
    for spectator in &mut spectators {
        assert_eq!(spectator.presence().await, [true, false]);
    }
    // The token may come as metadata, and a trusted caller may name the seat.
    let mut bearer = Request::new(request(&table, "", ""));
    let token = format!("Bearer {}", table.token(2));
    bearer.metadata_mut().insert("authorization", token.parse().expect("metadata"));
    let named = Request::new(v1::WatchGameRequest { seat: 2, ..request(&table, "", "") });
    for second in [bearer, named] {
        let stream = other.games().watch_game(second).await.expect("a watch").into_inner();
        let mut second = Watch(stream);
        assert_eq!(second.begin().await, [true, true]);
        assert_eq!(first.presence().await, [true, true]);
        drop(second);
        assert_eq!(first.presence().await, [true, false]);
    }
    drop(first);
    for spectator in &mut spectators {
        while spectator.presence().await != [false, false] {}
    }
    assert_eq!(stored(&world, &table).await, 0);
}

#[rstest]
#[tokio::test]
async fn one_of_two_tabs_can_be_closed(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let lifetime = Duration::from_millis(600);
    let world = World::with(backing, 2, lasting(lifetime)).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "DOUBLE_FOUR").await;
    let mut spectator = Watch::open(other, &table, 0).await;
    assert_eq!(spectator.begin().await, [false; 4]);
    let mut first = Watch::open(one, &table, 3).await;
    assert_eq!(spectator.presence().await, [false, false, true, false]);
    // A second tab, over the same replica or another one.
    for replica in [one, other] {
        let mut second = Watch::open(replica, &table, 3).await;
        assert_eq!(second.begin().await, [false, false, true, false]);
        drop(second);
        let until = Instant::now() + 2 * lifetime;
        while Instant::now() < until {
            assert_eq!(stored(&world, &table).await, 1, "the first tab is open");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert_eq!(first.begin().await, [false, false, true, false]);
    drop(first);
    // Nothing else was told all the time.
    assert_eq!(spectator.presence().await, [false; 4]);
}

#[rstest]
#[tokio::test]
async fn seats_of_a_dead_replica_become_absent_and_come_back_with_it(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut config = lasting(Duration::from_secs(1));
    // A stream that is to say that it is alive ends when it cannot, since the store is away.
    config.watching.keep_alive = LONG;
    let world = World::with(backing, 1, config.clone()).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let meddling = Meddling::with(Arc::clone(&world.store));
    let dying = Replica::on(Arc::clone(&meddling) as _, config).await;
    let mut spectator = Watch::open(world.any(), &table, 0).await;
    assert_eq!(spectator.begin().await, [false, false]);
    let mut player = Watch::open(&dying, &table, 2).await;
    assert_eq!(player.begin().await, [false, true]);
    assert_eq!(spectator.presence().await, [false, true]);

    // Nothing that it would say reaches the store, as if it had been killed.
    meddling.make(Trouble::Away);
    assert_eq!(spectator.presence().await, [false, false]);
    let began = Watch::open(world.any(), &table, 0).await.begin().await;
    assert_eq!(began, [false, false]);
    // Its stream stands all the time, and once the store is back everybody knows.
    meddling.make(Trouble::None);
    assert_eq!(spectator.presence().await, [false, true]);
    meddling.make(Trouble::Away);
    drop(player);
    dying.stop().await;
    assert_eq!(spectator.presence().await, [false, false]);
}

#[rstest]
#[tokio::test]
async fn seats_of_a_replica_that_stops_are_absent_at_once(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::with(backing, 2, lasting(LONG)).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let mut spectator = Watch::open(world.any(), &table, 0).await;
    assert_eq!(spectator.begin().await, [false, false]);
    let stopping = world.replicas.pop().expect("two replicas");
    let mut player = Watch::open(&stopping, &table, 1).await;
    player.begin().await;
    assert_eq!(spectator.presence().await, [true, false]);
    stopping.stop().await;
    assert_eq!(spectator.presence().await, [false, false]);
}

#[rstest]
#[tokio::test]
async fn who_comes_back_is_told_the_events_and_who_is_present(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, lasting(LONG)).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    table.play_on(one, 3).await;
    let log = one.get(&table.id).await.log;
    let _present = Watch::open(one, &table, 1).await;
    for replica in [one, other] {
        for (place, entry) in log.iter().enumerate() {
            let resumed = request(&table, &entry.etag, &table.token(2));
            let stream = replica.games().watch_game(resumed).await.expect("a watch");
            let mut watch = Watch(stream.into_inner());
            let mut missed = log[place + 1..].iter();
            match (watch.message().await, missed.next()) {
                (Message::Event(event), Some(missed)) => assert_eq!(&event.entry(), missed),
                (Message::KeepAlive(_), None) => {}
                (first, missed) => panic!("{first:?}, and missed was {missed:?}"),
            }
            assert_eq!(present(&watch.message().await).map(|present| present[1]), Some(true));
            for missed in missed {
                match watch.message().await {
                    Message::Event(event) => assert_eq!(&event.entry(), missed),
                    other => assert!(present(&other).is_some(), "{other:?}"),
                }
            }
        }
    }
}

/// The entry of an event, which every event has.
trait Entry {
    fn entry(&self) -> v1::LogEntry;
}

impl Entry for v1::GameEvent {
    fn entry(&self) -> v1::LogEntry {
        self.entry.clone().expect("an entry")
    }
}

#[rstest]
#[tokio::test]
async fn who_is_refused_gets_nothing_and_is_not_present(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let untrusting = Config { callers: Default::default(), ..lasting(LONG) };
    let world = World::with(backing, 1, untrusting).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let stranger = Table::create(world.any(), "TAIWANESE").await;
    let refused = async |replica: &Replica, request: v1::WatchGameRequest| {
        replica.games().watch_game(request).await.map(|_| ()).expect_err("refused")
    };
    for etag in ["", "1.0000000000000000"] {
        for token in [stranger.token(1).as_str(), "no token"] {
            let status = refused(world.any(), request(&table, etag, token)).await;
            let (code, told, _) = refusal(&status);
            assert_eq!((code, told.as_str()), (Code::PermissionDenied, "SEAT_TOKEN_WRONG"));
        }
        let named = v1::WatchGameRequest { seat: 1, ..request(&table, etag, "") };
        assert_eq!(reason(&refused(world.any(), named).await), "PLATFORM_ONLY");
    }
    let named = |seat| v1::WatchGameRequest { seat, ..request(&table, "", "") };
    assert_eq!(reason(&refused(world.any(), named(5)).await), "PLATFORM_ONLY");
    // Existence is checked first, and tells nothing else.
    let nowhere =
        v1::WatchGameRequest { game_id: "nowhere".into(), ..request(&table, "", "no token") };
    assert_eq!(reason(&refused(world.any(), nowhere).await), "GAME_NOT_FOUND");
    let trusted = Replica::on(Arc::clone(&world.store), lasting(LONG)).await;
    assert_eq!(reason(&refused(&trusted, named(3)).await), "NO_SUCH_SEAT");
    assert_eq!(bad_fields(&refused(&trusted, named(5)).await), ["seat"]);
    // What was marked before is there by the time that somebody else is.
    let mut player = Watch::open(world.any(), &table, 2).await;
    let mut spectator = Watch::open(&trusted, &table, 0).await;
    while spectator.presence().await != [false, true] {}
    player.begin().await;
    assert_eq!(stored(&world, &table).await, 1);
}

#[rstest]
#[tokio::test]
async fn a_token_that_is_replaced_keeps_nobody_present(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, lasting(LONG)).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let mut table = Table::create(one, "TAIWANESE").await;
    let mut spectator = Watch::open(one, &table, 0).await;
    spectator.begin().await;
    let mut player = Watch::open(other, &table, 1).await;
    assert_eq!(player.begin().await, [true, false]);
    assert_eq!(spectator.presence().await, [true, false]);
    // Other entries of the log disturb nobody.
    table.play_on(one, 1).await;
    assert!(matches!(player.message().await, Message::Event(_)));

    let reissue =
        v1::ReissueSeatTokenRequest { game_id: table.id.clone(), seat: 1, ..Default::default() };
    let reissued = one.games().reissue_seat_token(reissue).await.expect("reissued").into_inner();
    let status = loop {
        match player.next().await {
            Ok(message) => assert!(matches!(message, Some(Message::KeepAlive(_))), "{message:?}"),
            Err(status) => break status,
        }
    };
    assert_eq!(reason(&status), "SEAT_TOKEN_WRONG");
    assert_eq!(spectator.presence().await, [false, false]);
    table.tokens[0] = reissued.seat_token;
    let mut player = Watch::open(other, &table, 1).await;
    assert_eq!(player.begin().await, [true, false]);
    assert_eq!(spectator.presence().await, [true, false]);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comings_and_goings_disturb_no_event(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    const ACTIONS: usize = 30;
    let world = World::with(backing, 2, lasting(LONG)).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let mut watches = Vec::new();
    for (replica, seat) in [(one, 0), (other, 0), (one, 1), (other, 2)] {
        let mut watch = Watch::open(replica, &table, seat).await;
        watch.begin().await;
        watches.push(watch);
    }
    let come_and_go = async {
        for visit in 0..20 {
            let seat = visit % 2 + 1;
            Watch::open(&world.replicas[visit as usize % 2], &table, seat).await.begin().await;
        }
    };
    let play = async {
        for turn in 0..ACTIONS {
            table.play_on(&world.replicas[turn % 2], 1).await;
        }
    };
    tokio::join!(come_and_go, play);
    let log = one.get(&table.id).await.log;
    for watch in &mut watches {
        for entry in &log[1..] {
            let event = loop {
                match watch.message().await {
                    Message::Event(event) => break event,
                    Message::Presence(_) | Message::KeepAlive(_) => {}
                    Message::Snapshot(snapshot) => panic!("{snapshot:?}"),
                }
            };
            assert_eq!(&event.entry(), entry);
        }
    }
}

#[rstest]
#[tokio::test]
async fn presence_goes_on_after_the_end_and_does_not_put_off_the_end_of_streams(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, lasting(LONG)).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    table.resign(one, 1).await;
    let mut spectator = Watch::open(one, &table, 0).await;
    assert_eq!(spectator.begin().await, [false, false]);
    let mut player = Watch::open(other, &table, 1).await;
    assert_eq!(player.begin().await, [true, false]);
    assert_eq!(spectator.presence().await, [true, false]);
    drop(player);
    assert_eq!(spectator.presence().await, [false, false]);
    // Somebody comes and goes until the spectator's stream is over nevertheless.
    let visits = async {
        loop {
            Watch::open(other, &table, 2).await.begin().await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let end = async { while spectator.next().await.expect("no error").is_some() {} };
    tokio::select! {
        () = visits => {}
        () = end => {}
    }
}

/// The watchers' replica reads only what a hint concerns.
#[rstest]
#[tokio::test]
async fn what_has_not_changed_is_not_read_again(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    const CHANGES: usize = 6;
    let world = World::with(backing, 1, lasting(LONG)).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let counting = Meddling::with(Arc::clone(&world.store));
    let afar = Replica::on(Arc::clone(&counting) as _, lasting(LONG)).await;
    let mut spectator = Watch::open(&afar, &table, 0).await;
    spectator.begin().await;

    let [loads, readings] = counting.readings();
    for _ in 0..CHANGES {
        let player = Watch::open(world.any(), &table, 1).await;
        assert_eq!(spectator.presence().await, [true, false]);
        drop(player);
        assert_eq!(spectator.presence().await, [false, false]);
    }
    let [loads_now, readings_now] = counting.readings();
    assert_eq!(loads_now, loads, "the record has not changed");
    assert!(readings_now >= readings + 2 * CHANGES, "{readings} and then {readings_now}");

    let [loads, readings] = counting.readings();
    for _ in 0..CHANGES {
        table.play_on(world.any(), 1).await;
        while !matches!(spectator.message().await, Message::Event(_)) {}
    }
    let [loads_now, readings_now] = counting.readings();
    assert!(loads_now >= loads + CHANGES, "{loads} and then {loads_now}");
    // The slow comparison with the store may have fallen into this time.
    assert!(readings_now <= readings + 1, "{readings} and then {readings_now}");
}

#[tokio::test]
async fn a_lost_hint_is_caught_up_on() {
    let mut config = lasting(LONG);
    config.watching.recheck = Duration::from_millis(300);
    let world = World::with(Backing::Redis, 1, config).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let mut spectator = Watch::open(world.any(), &table, 0).await;
    assert_eq!(spectator.begin().await, [false, false]);
    // What nobody is told of.
    let id: GameId = table.id.parse().expect("an id");
    let shard = world.store.shards().shard_of(&id);
    let mut connection = world.redis.as_ref().expect("on Redis").connection().await;
    redis::cmd("ZADD")
        .arg(format!("banqi:{{{shard}}}:presence:{id}"))
        .arg(9_000_000_000_000_u64)
        .arg("2:0000000000000001")
        .query_async::<()>(&mut connection)
        .await
        .expect("an answer");
    assert_eq!(spectator.presence().await, [false, true]);
}
