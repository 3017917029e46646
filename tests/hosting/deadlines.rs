//! Games on clocks that nobody touches, and what may stand in a sweeper's way.

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::time_control::{Clock, PerTurn};
use banqi::game::{GameId, History, Millis, Revision, Span, Version};
use banqi::store::codec;
use banqi::store::{Change, Commit, Outcome, Record, Shard, Store, Write as Stored};
use bytes::Bytes;
use rstest::rstest;

use crate::table::assigned;
use crate::world::{Backing, World, eventually, trusting};
use crate::writes::Write;

/// Creates a game whose first turn may take so long.
async fn on_clock(world: &World, id: &str, limit: u64) -> v1::Game {
    let limit = Duration::from_millis(limit).try_into().expect("short");
    let clock = Clock::PerTurn(PerTurn { limit: Some(limit) });
    let create = v1::CreateGameRequest {
        game_id: id.to_owned(),
        seats: assigned("TAIWANESE"),
        time_control: Some(v1::TimeControl { clock: Some(clock), first_turn_limit: None }),
        ..Default::default()
    };
    Write::Create(create).send(world.any()).await.expect("created").game
}

fn millis(time: Option<prost_types::Timestamp>) -> i64 {
    let time = time.expect("a time");
    time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000
}

/// Whether the record says that the game has ended. Nobody who asks the service could tell, since
/// the service ends what it is asked for.
async fn has_ended(store: &dyn Store, id: &str) -> bool {
    let id: GameId = id.parse().expect("an id");
    let record = store.load(&id).await.expect("an answer").expect("a game");
    codec::read(&id, &record).expect("a record").outcome.is_some()
}

#[rstest]
#[tokio::test]
async fn games_that_nobody_touches_end_once_by_their_clocks(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 3, trusting()).await;
    let mut games = Vec::new();
    for number in 0..40 {
        games.push(on_clock(&world, &format!("clock-{number}"), 300 + 30 * number).await);
    }
    for game in &games {
        let ask = || has_ended(&*world.store, &game.game_id);
        eventually(&game.game_id, ask, |ended| *ended).await;
    }
    for created in &games {
        for replica in &world.replicas {
            let game = replica.get(&created.game_id).await;
            let result = game.result.as_ref().expect("a result");
            assert_eq!((result.reason(), &result.winners[..]), (v1::EndReason::Timeout, &[2][..]));
            let events: Vec<_> = game.log.iter().map(|entry| &entry.event).collect();
            assert!(
                matches!(
                    events[..],
                    [
                        Some(v1::log_entry::Event::Created(_)),
                        Some(v1::log_entry::Event::TimedOut(_))
                    ]
                ),
                "{events:?}"
            );
            let late = millis(game.end_time) - millis(created.deadline);
            assert!((0..=5_000).contains(&late), "{} ended {late} ms late", game.game_id);
        }
    }
}

/// Puts a record that nobody can read where a game would be, due long ago.
async fn put_unreadable(store: &dyn Store, shard: Shard, id: &GameId) {
    for _ in 0..5 {
        let present = store.now(shard).await.expect("the time");
        let version = Version { revision: Revision(1), history: History(*b"garbage!") };
        let record = Record { format: 1, version, payload: Bytes::from_static(b"\xff\xff") };
        let change = Change::Put { record, deadline: Some(Millis(1)), expiry: None };
        let write = Stored { game: id.clone(), expected: None, change };
        let commit = Commit::new(store.shards(), present, write);
        match store.commit(&commit).await.expect("an answer") {
            Outcome::Applied { .. } => return,
            outcome => assert!(matches!(outcome, Outcome::ClockOff { .. }), "{outcome:?}"),
        }
    }
    panic!("the estimated present was off five times in a row");
}

#[rstest]
#[tokio::test]
async fn games_that_cannot_be_read_keep_no_other_from_its_end(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    const UNREADABLE: usize = 150;
    let world = World::with(backing, 2, trusting()).await;
    let store = &*world.store;
    let shards = store.shards();
    let shard = shards.iter().next().expect("a shard");
    let mut ids = (0..).map(|number| format!("beside-{number}"));
    let mut next = || ids.find(|id| shards.shard_of(&id.parse().expect("an id")) == shard);
    for _ in 0..UNREADABLE {
        let id = next().expect("ids never run out").parse().expect("an id");
        put_unreadable(store, shard, &id).await;
    }
    let id = next().expect("ids never run out");
    on_clock(&world, &id, 500).await;
    eventually(&id, || has_ended(store, &id), |ended| *ended).await;
    // They are not looked at again every round, and not forgotten either.
    let due = async |after| {
        let now = store.now(shard).await.expect("the time");
        store.due(shard, now + Span(after), 1_000).await.expect("an answer").len()
    };
    eventually("looked at", || due(10_000), |due| *due == 0).await;
    assert_eq!(due(120_000).await, UNREADABLE);
}
