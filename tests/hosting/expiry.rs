//! Games that nobody plays end, ended games disappear, and players find theirs.

use std::sync::Arc;

use banqi::api::proto::v1;
use banqi::game::{GameId, Limits, Millis, Span};
use banqi::server::Config;
use banqi::store::codec::{self, IndexChange, IndexTask};
use banqi::store::{Change, Commit, IndexEntry, Outcome, Write as Stored};
use rstest::rstest;

use crate::meddling::{Meddling, Trouble};
use crate::support::PATIENCE;
use crate::table::{Table, seat};
use crate::world::{Backing, Replica, World, eventually, reason, trusting};
use crate::writes::Write;

/// Games that must be begun within a moment, and disappear a moment after their end.
pub(crate) fn short_lived() -> Config {
    let mut config = trusting();
    config.host.limits = Limits { unbegun: Span(100), ended: Span(1_500) };
    config
}

async fn until_gone(replica: &Replica, id: &str) {
    let ask = async || match replica.try_get(id).await {
        Ok(game) => format!("revision {}", game.revision),
        Err(status) => reason(&status),
    };
    eventually("gone", ask, |told| told == "GAME_NOT_FOUND").await;
}

#[rstest]
#[tokio::test]
async fn a_game_that_nobody_begins_is_aborted_and_disappears(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, short_lived()).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let mut stream = other.watch(&table.id, "").await.expect("a watch");
    let aborted = async {
        loop {
            let message = stream.message().await.expect("no error").expect("no end").message;
            if let Some(v1::watch_game_response::Message::Event(event)) = message {
                return event;
            }
        }
    };
    let event = tokio::time::timeout(PATIENCE, aborted).await.expect("swept in time");
    let entry = event.entry.expect("an entry");
    assert!(matches!(entry.event, Some(v1::log_entry::Event::Aborted(_))), "{entry:?}");
    let game = event.game.expect("a game");
    assert_eq!(game.state(), v1::GameState::Finished);
    let result = game.result.expect("a result");
    assert_eq!(result.reason(), v1::EndReason::Aborted);
    assert_eq!((result.winners.len(), result.placements.len()), (0, 0));
    let status = Write::Play(table.act(1, "a1")).send(other).await.expect_err("it is over");
    assert!(["GAME_OVER", "GAME_NOT_FOUND"].contains(&reason(&status).as_str()));

    for replica in [one, other] {
        until_gone(replica, &table.id).await;
    }
    let play = Write::Play(table.act(1, "a1")).send(one).await.expect_err("gone");
    assert_eq!(reason(&play), "GAME_NOT_FOUND");
}

#[rstest]
#[tokio::test]
async fn a_game_that_was_begun_stays_and_an_ended_one_disappears(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut config = short_lived();
    // Long enough to begin one even on a busy machine.
    config.host.limits.unbegun = Span(2_000);
    let world = World::with(backing, 2, config).await;
    let begun = Table::create(world.any(), "TAIWANESE").await;
    let ended = Table::create(world.any(), "TAIWANESE").await;
    for table in [&begun, &ended] {
        table.play(world.any(), "a1").await;
    }
    let unbegun = Table::create(world.any(), "TAIWANESE").await;
    ended.resign(world.any(), 2).await;
    for table in [&ended, &unbegun] {
        until_gone(world.any(), &table.id).await;
    }
    // By now the sweeper was there, and all limits have passed.
    let game = world.replicas[1].get(&begun.id).await;
    assert_eq!(game.state(), v1::GameState::Active);
    begun.play_on(world.any(), 1).await;
}

/// A player's games, the newest first.
async fn games_of(world: &World, player: &str) -> Vec<IndexEntry> {
    world.store.index_page(player, None, 10).await.expect("an answer")
}

fn indexed(game: &v1::Game) -> IndexEntry {
    let time = game.create_time.expect("a time");
    let created = time.seconds as u64 * 1000 + time.nanos as u64 / 1_000_000;
    IndexEntry { created: Millis(created), game: game.game_id.parse().expect("an id") }
}

#[rstest]
#[tokio::test]
async fn players_find_the_games_that_they_were_seated_in_and_joined(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let create = v1::CreateGameRequest {
        preset: "DOUBLE_FOUR".to_owned(),
        seats: vec![
            seat(v1::SeatClaim::Assigned, "anna"),
            seat(v1::SeatClaim::Reserved, "bert"),
            seat(v1::SeatClaim::Open, ""),
            seat(v1::SeatClaim::Assigned, ""),
        ],
        ..Default::default()
    };
    let game = Write::Create(create).send(world.any()).await.expect("created").game;
    let join = v1::JoinGameRequest {
        game_id: game.game_id.clone(),
        player_id: "carl".to_owned(),
        ..Default::default()
    };
    Write::Join(join).send(world.any()).await.expect("joined");
    for player in ["anna", "bert", "carl"] {
        eventually(player, || games_of(&world, player), |games| *games == [indexed(&game)]).await;
    }
    assert_eq!(games_of(&world, "").await, []);
}

#[rstest]
#[tokio::test]
async fn what_a_replica_that_died_left_behind_is_done_by_another(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::with(backing, 0, trusting()).await;
    // A replica writes, and dies before it has applied anything: it never reaches the store again.
    let meddling = Meddling::with(Arc::clone(&world.store));
    let dying = Replica::on(Arc::clone(&meddling) as _, trusting()).await;
    let create = v1::CreateGameRequest {
        game_id: "orphan".to_owned(),
        seats: vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Reserved, "bert")],
        ..Default::default()
    };
    meddling.make(Trouble::AwayAfterWriting);
    let status = Write::Create(create).send(&dying).await.expect_err("it dies");
    assert_eq!(reason(&status), "STORE_UNAVAILABLE");
    meddling.make(Trouble::Away);
    drop(dying);

    // And one of another release leaves what nobody here knows.
    let id: GameId = "orphan".parse().expect("an id");
    let shard = world.store.shards().shard_of(&id);
    let record = world.store.load(&id).await.expect("an answer").expect("written");
    let game = codec::read(&id, &record).expect("a record");
    let created = game.log.last_at();
    let task = |player: &str| IndexTask {
        change: IndexChange::Add,
        player: player.parse().expect("a player"),
        entry: IndexEntry { created, game: id.clone() },
    };
    let change = Change::Put { record: record.clone(), deadline: None, expiry: None };
    let write = Stored { game: id.clone(), expected: Some(record.version), change };
    let present = world.store.now(shard).await.expect("the time");
    let commit = Commit::new(world.store.shards(), present, write)
        .with_outbox_entry(vec![0xff, 0xff].into())
        .with_outbox_entry(task("bert").to_bytes())
        // Of a player who is not in the game, as where his join was lost.
        .with_outbox_entry(task("carl").to_bytes());
    let outcome = world.store.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");

    world.add_replica().await;
    let expected = [IndexEntry { created, game: id.clone() }];
    for player in ["anna", "bert"] {
        eventually(player, || games_of(&world, player), |games| *games == expected).await;
    }
    // What is not understood waits for a release that does; the rest is cleared away.
    eventually(
        "cleared away",
        async || world.store.outbox(shard, 10).await.expect("an answer").len(),
        |left| *left == 1,
    )
    .await;
    assert_eq!(games_of(&world, "carl").await, []);
}
