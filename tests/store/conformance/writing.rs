//! Compare-and-set.

use std::sync::Arc;

use banqi::game::Millis;
use banqi::store::{Commit, CommitError, EntryId, Outcome};
use bytes::Bytes;
use tokio::task::JoinSet;

use crate::fixture::{
    Fixture, commit_of, delete, due_at, game, games_of_one_shard, put, record, version,
};

pub(crate) async fn what_was_written_is_read_back(fixture: Fixture) {
    let game = game("g");
    assert_eq!(fixture.load(&game).await, None);
    let record = record(1, b"historic");
    fixture.apply(put(&game, None, record.clone())).await;
    assert_eq!(fixture.load(&game).await, Some(record));
}

pub(crate) async fn a_game_is_created_once(fixture: Fixture) {
    let game = game("g");
    let first = record(1, b"history1");
    fixture.apply(put(&game, None, first.clone())).await;
    let outcome = fixture.commit(put(&game, None, record(1, b"history2"))).await;
    assert!(
        matches!(&outcome, Outcome::Conflict { current, .. } if *current == [Some(first.clone())]),
        "{outcome:?}"
    );
    assert_eq!(fixture.load(&game).await, Some(first));
}

pub(crate) async fn a_write_needs_the_revision_that_stands(fixture: Fixture) {
    let game = game("g");
    fixture.apply(put(&game, None, record(7, b"historic"))).await;
    for wrong in [0, 6, 8, 7 << 8, u64::MAX] {
        let write = put(&game, Some(version(wrong, b"historic")), record(8, b"history8"));
        let outcome = fixture.commit(write).await;
        assert!(matches!(outcome, Outcome::Conflict { .. }), "{wrong}: {outcome:?}");
    }
    fixture.apply(put(&game, Some(version(7, b"historic")), record(8, b"history8"))).await;
    assert_eq!(fixture.load(&game).await, Some(record(8, b"history8")));
}

pub(crate) async fn a_write_needs_the_history_that_stands(fixture: Fixture) {
    let game = game("g");
    fixture.apply(put(&game, None, record(7, b"histori\0"))).await;
    for wrong in [b"histori\x01", b"\0istori\0", b"\0\0\0\0\0\0\0\0"] {
        let outcome =
            fixture.commit(put(&game, Some(version(7, wrong)), record(8, b"history8"))).await;
        assert!(matches!(outcome, Outcome::Conflict { .. }), "{wrong:?}: {outcome:?}");
    }
    fixture.apply(put(&game, Some(version(7, b"histori\0")), record(8, b"history8"))).await;
}

pub(crate) async fn a_write_on_nothing_is_refused(fixture: Fixture) {
    let game = game("g");
    let expected = version(3, b"historic");
    for write in [put(&game, Some(expected), record(4, b"history4")), delete(&game, expected)] {
        let outcome = fixture.commit(write).await;
        assert!(
            matches!(&outcome, Outcome::Conflict { current, .. } if *current == [None]),
            "{outcome:?}"
        );
    }
    assert_eq!(fixture.load(&game).await, None);
}

pub(crate) async fn a_conflict_tells_what_stands_whole(fixture: Fixture) {
    let game = game("g");
    let mut large = record(5, b"historic");
    large.format = 200;
    large.payload = (0..100_000_u32).map(|number| number.to_be_bytes()[3]).collect();
    fixture.apply(put(&game, None, large.clone())).await;
    let outcome =
        fixture.commit(put(&game, Some(version(4, b"historic")), record(5, b"history5"))).await;
    let Outcome::Conflict { current, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(current, [Some(large)]);
}

pub(crate) async fn of_concurrent_commits_exactly_one_wins(fixture: Fixture) {
    let game = game("g");
    fixture.apply(put(&game, None, record(1, b"history1"))).await;
    let mut tasks = JoinSet::new();
    for number in 0..64_u64 {
        let history = number.to_be_bytes();
        let write = put(&game, Some(version(1, b"history1")), record(2, &history));
        let commit = fixture.commit_of(write).await;
        let store = Arc::clone(&fixture.store);
        tasks.spawn(async move {
            (record(2, &history), store.commit(&commit).await.expect("the store answers"))
        });
    }
    let (winners, losers): (Vec<_>, Vec<_>) = tasks
        .join_all()
        .await
        .into_iter()
        .partition(|(_, outcome)| matches!(outcome, Outcome::Applied { .. }));
    assert_eq!(winners.len(), 1);
    let standing = fixture.load(&game).await;
    assert_eq!(standing.as_ref(), Some(&winners[0].0));
    for (_, outcome) in losers {
        let Outcome::Conflict { current, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(current[0], standing);
    }
}

pub(crate) async fn no_update_is_lost(fixture: Fixture) {
    const TASKS: u64 = 8;
    const EACH: u64 = 10;
    let game = game("g");
    fixture.apply(put(&game, None, record(1, &1_u64.to_be_bytes()))).await;
    let mut tasks = JoinSet::new();
    for _ in 0..TASKS {
        let (store, game) = (Arc::clone(&fixture.store), game.clone());
        tasks.spawn(async move {
            let mut standing = store.load(&game).await.expect("an answer").expect("a game").version;
            let mut done = 0;
            while done < EACH {
                let next = standing.revision.next();
                let write = put(&game, Some(standing), record(next.0, &next.0.to_be_bytes()));
                let commit = commit_of(&*store, write).await;
                match store.commit(&commit).await.expect("an answer") {
                    Outcome::Applied { .. } => {
                        done += 1;
                        standing = version(next.0, &next.0.to_be_bytes());
                    }
                    Outcome::Conflict { current, .. } => {
                        standing = current[0].as_ref().expect("a game").version;
                    }
                    Outcome::ClockOff { .. } => {}
                }
            }
        });
    }
    tasks.join_all().await;
    let standing = fixture.load(&game).await.expect("a game");
    assert_eq!(standing.version.revision.0, 1 + TASKS * EACH);
}

pub(crate) async fn a_game_deleted_and_created_anew_is_not_overwritten_by_what_was_known_before(
    fixture: Fixture,
) {
    let game = game("g");
    fixture.apply(put(&game, None, record(1, b"first   "))).await;
    fixture.apply(put(&game, Some(version(1, b"first   ")), record(2, b"first 2 "))).await;
    fixture.apply(delete(&game, version(2, b"first 2 "))).await;
    assert_eq!(fixture.load(&game).await, None);
    let anew = record(2, b"second 2");
    fixture.apply(put(&game, None, anew.clone())).await;
    let stale = version(2, b"first 2 ");
    for write in [put(&game, Some(stale), record(3, b"first 3 ")), delete(&game, stale)] {
        let outcome = fixture.commit(write).await;
        let Outcome::Conflict { current, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(current, [Some(anew.clone())]);
    }
    assert_eq!(fixture.load(&game).await, Some(anew));
}

pub(crate) async fn a_commit_of_several_games_is_written_whole_or_not_at_all(fixture: Fixture) {
    let shards = fixture.store.shards();
    let [old, new] = games_of_one_shard(&*fixture.store, "pair");
    fixture.apply(put(&old, None, record(1, b"old    1"))).await;
    let both = |expected| {
        let (old, new) = (old.clone(), new.clone());
        let fixture = &fixture;
        async move {
            let commit = fixture
                .commit_of(put(&old, Some(expected), record(2, b"old    2")))
                .await
                .and(shards, put(&new, None, record(1, b"new    1")))
                .expect("one shard");
            fixture.store.commit(&commit).await.expect("the store answers")
        }
    };
    let outcome = both(version(1, b"other  1")).await;
    let Outcome::Conflict { current, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(current, [Some(record(1, b"old    1")), None]);
    assert_eq!(fixture.load(&new).await, None);

    let outcome = both(version(1, b"old    1")).await;
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    assert_eq!(fixture.load(&old).await, Some(record(2, b"old    2")));
    assert_eq!(fixture.load(&new).await, Some(record(1, b"new    1")));

    let outcome = both(version(2, b"old    2")).await;
    let Outcome::Conflict { current, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(current, [Some(record(2, b"old    2")), Some(record(1, b"new    1"))]);
}

pub(crate) async fn a_commit_refuses_games_that_it_cannot_write_at_once(fixture: Fixture) {
    let shards = fixture.store.shards();
    let games: [_; Commit::MAX_WRITES + 1] = games_of_one_shard(&*fixture.store, "many");
    let other = (0..)
        .map(|number| game(&format!("other-{number}")))
        .find(|other| shards.shard_of(other) != shards.shard_of(&games[0]))
        .expect("ids never run out");
    let write = |game| put(game, None, record(1, b"historic"));
    let mut commit = Commit::new(shards, Millis(0), write(&games[0]));
    let refused = commit.clone().and(shards, write(&other));
    assert!(matches!(refused, Err(CommitError::OtherShard { .. })), "{refused:?}");
    let refused = commit.clone().and(shards, write(&games[0]));
    assert!(matches!(refused, Err(CommitError::SameGame { .. })), "{refused:?}");
    for game in &games[1..Commit::MAX_WRITES] {
        commit = commit.and(shards, write(game)).expect("not too many yet");
    }
    let refused = commit.and(shards, write(&games[Commit::MAX_WRITES]));
    assert_eq!(refused, Err(CommitError::TooMany));
}

pub(crate) async fn a_refused_commit_leaves_nothing(fixture: Fixture) {
    let game = game("g");
    let shard = fixture.store.shards().shard_of(&game);
    let now = fixture.now(&game).await;
    fixture.apply(due_at(&game, 1, None)).await;
    let add = |commit: Commit| {
        commit
            .with_feed_entry(Bytes::from_static(b"feed"))
            .with_outbox_entry(Bytes::from_static(b"outbox"))
    };
    let outcome = fixture.commit_with(due_at(&game, 1, Some(now)), add).await;
    assert!(matches!(outcome, Outcome::Conflict { .. }), "{outcome:?}");
    assert_eq!(fixture.store.due(shard, now, 10).await.expect("an answer"), []);
    assert_eq!(fixture.store.outbox(shard, 10).await.expect("an answer"), []);
    assert_eq!(fixture.store.feed(shard, EntryId::default(), 10).await.expect("an answer"), []);
}

pub(crate) async fn many_games_are_read_at_once(fixture: Fixture) {
    let games: Vec<_> = (0..600).map(|number| game(&format!("many-{number}"))).collect();
    for game in games.iter().step_by(100) {
        fixture.apply(put(game, None, record(9, b"historic"))).await;
    }
    let records = fixture.store.load_many(&games).await.expect("an answer");
    let versions = fixture.store.versions(&games).await.expect("an answer");
    assert_eq!((records.len(), versions.len()), (games.len(), games.len()));
    for (place, (found, version_found)) in records.into_iter().zip(versions).enumerate() {
        let there = place % 100 == 0;
        assert_eq!(found, Ok(there.then(|| record(9, b"historic"))), "{place}");
        assert_eq!(version_found, Ok(there.then(|| version(9, b"historic"))), "{place}");
    }
    assert_eq!(fixture.store.load_many(&[]).await.expect("an answer"), []);
}
