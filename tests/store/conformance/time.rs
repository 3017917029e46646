//! Deadlines, expiry and the clock.

use banqi::game::{GameId, Millis, Span};
use banqi::store::{Change, Commit, Due, Outcome, Shard, StoreError, Write};

use crate::fixture::{
    Fixture, delete, due_at, eventually, game, games_of_one_shard, put, record, version,
};

/// The games that are due, in order.
fn games(due: Result<Vec<Due>, StoreError>) -> Vec<GameId> {
    due.expect("an answer").into_iter().map(|due| due.game).collect()
}

pub(crate) async fn games_are_due_when_their_deadline_has_passed(fixture: Fixture) {
    let [late, early, never] = games_of_one_shard(&*fixture.store, "due");
    let shard = fixture.store.shards().shard_of(&late);
    let now = fixture.now(&late).await;
    let at = |offset| now + Span(offset);
    fixture.apply(due_at(&late, 1, Some(at(2_000)))).await;
    fixture.apply(due_at(&early, 1, Some(at(1_000)))).await;
    fixture.apply(due_at(&never, 1, None)).await;
    let due = async |now, limit| games(fixture.store.due(shard, now, limit).await);
    assert_eq!(due(at(999), 10).await, []);
    assert_eq!(due(at(1_000), 10).await, std::slice::from_ref(&early));
    assert_eq!(due(at(2_000), 10).await, [early.clone(), late.clone()]);
    assert_eq!(due(at(2_000), 1).await, std::slice::from_ref(&early));
    let other = fixture.store.shards().iter().find(|&other| other != shard).expect("another");
    assert_eq!(fixture.store.due(other, at(9_000), 10).await.expect("an answer"), []);
}

pub(crate) async fn a_write_moves_or_removes_the_deadline(fixture: Fixture) {
    let game = game("g");
    let shard = fixture.store.shards().shard_of(&game);
    let now = fixture.now(&game).await;
    let due = async |now| games(fixture.store.due(shard, now, 10).await);
    fixture.apply(due_at(&game, 1, Some(now))).await;
    assert_eq!(due(now).await, std::slice::from_ref(&game));
    fixture.apply(due_at(&game, 2, Some(now + Span(5_000)))).await;
    assert_eq!(due(now).await, []);
    assert_eq!(due(now + Span(5_000)).await, std::slice::from_ref(&game));
    fixture.apply(due_at(&game, 3, None)).await;
    assert_eq!(due(now + Span(9_000)).await, []);
    fixture.apply(due_at(&game, 4, Some(now))).await;
    fixture.apply(delete(&game, version(4, b"historic"))).await;
    assert_eq!(due(now + Span(9_000)).await, []);
}

pub(crate) async fn the_first_deadline_of_each_shard_is_told(fixture: Fixture) {
    let store = &fixture.store;
    let [early, late] = games_of_one_shard(&**store, "first");
    let shard = store.shards().shard_of(&early);
    let elsewhere = (0..)
        .map(|number| game(&format!("elsewhere-{number}")))
        .find(|game| store.shards().shard_of(game) > shard)
        .expect("ids never run out");
    let other = store.shards().shard_of(&elsewhere);
    let now = fixture.now(&early).await;
    let first = async |shards: &[Shard]| store.first_deadlines(shards).await.expect("an answer");
    let all: Vec<Shard> = store.shards().iter().collect();
    assert_eq!(first(&all).await, vec![None; all.len()]);
    fixture.apply(due_at(&late, 1, Some(now + Span(9_000)))).await;
    fixture.apply(due_at(&early, 1, Some(now + Span(1_000)))).await;
    fixture.apply(due_at(&elsewhere, 1, Some(now + Span(5_000)))).await;
    let [sooner, later] = [now + Span(1_000), now + Span(5_000)];
    assert_eq!(first(&[other, shard]).await, [Some(later), Some(sooner)]);
    assert_eq!(first(&all).await.into_iter().flatten().count(), 2);
    fixture.apply(due_at(&early, 2, None)).await;
    assert_eq!(first(&[shard]).await, [Some(now + Span(9_000))]);
    assert_eq!(first(&[]).await, []);
}

pub(crate) async fn what_is_due_can_be_postponed(fixture: Fixture) {
    let store = &fixture.store;
    let game = game("g");
    let shard = store.shards().shard_of(&game);
    let now = fixture.now(&game).await;
    let due = async || store.due(shard, now + Span(9_000), 10).await.expect("an answer");
    let at = |offset| Due { game: game.clone(), deadline: now + Span(offset) };
    fixture.apply(due_at(&game, 1, Some(now + Span(1_000)))).await;
    store.postpone(&at(1_000), Some(now + Span(2_000))).await.expect("an answer");
    assert_eq!(due().await, [at(2_000)]);
    // Who was told what no longer holds moves nothing.
    store.postpone(&at(1_000), Some(now + Span(3_000))).await.expect("an answer");
    store.postpone(&at(1_000), None).await.expect("an answer");
    assert_eq!(due().await, [at(2_000)]);
    assert_eq!(fixture.load(&game).await, Some(record(1, b"historic")));
    // A write sets it anew.
    fixture.apply(due_at(&game, 2, Some(now + Span(1_500)))).await;
    assert_eq!(due().await, [at(1_500)]);
    store.postpone(&at(1_500), None).await.expect("an answer");
    assert_eq!(due().await, []);
    store.postpone(&at(1_500), Some(now)).await.expect("an answer");
    assert_eq!(due().await, [], "what is never due is not made so");
}

pub(crate) async fn records_expire(fixture: Fixture) {
    let [fleeting, lasting] = games_of_one_shard(&*fixture.store, "expiry");
    let shard = fixture.store.shards().shard_of(&fleeting);
    let now = fixture.now(&fleeting).await;
    let expiring = |game: &GameId, expiry| Write {
        game: game.clone(),
        expected: None,
        change: Change::Put { record: record(1, b"historic"), deadline: Some(now), expiry },
    };
    fixture.apply(expiring(&fleeting, Some(Span(1_500)))).await;
    fixture.apply(expiring(&lasting, Some(Span::days(1)))).await;
    let due = async || games(fixture.store.due(shard, now, 10).await);
    let both = if fleeting < lasting { [&fleeting, &lasting] } else { [&lasting, &fleeting] };
    assert_eq!(due().await.iter().collect::<Vec<_>>(), both);
    fixture.pass(Span(1_500)).await;
    eventually("gone", || fixture.load(&fleeting), Option::is_none).await;
    assert!(fixture.load(&lasting).await.is_some());
    assert_eq!(due().await, std::slice::from_ref(&lasting), "the deadline goes with the game");
    // What has expired was, and can be created again.
    fixture.apply(put(&fleeting, None, record(1, b"historic"))).await;
    assert_eq!(due().await, [lasting], "and it does not come back with it");
}

pub(crate) async fn a_write_postpones_expiry(fixture: Fixture) {
    let game = game("g");
    let write = |revision: u64, expiry| Write {
        game: game.clone(),
        expected: (revision > 1).then(|| version(revision - 1, b"historic")),
        change: Change::Put { record: record(revision, b"historic"), deadline: None, expiry },
    };
    fixture.apply(write(1, Some(Span(2_000)))).await;
    fixture.apply(write(2, Some(Span::days(1)))).await;
    fixture.pass(Span(2_100)).await;
    assert_eq!(fixture.load(&game).await, Some(record(2, b"historic")));
    fixture.apply(write(3, Some(Span(2_000)))).await;
    fixture.apply(write(4, None)).await;
    fixture.pass(Span(2_100)).await;
    assert_eq!(fixture.load(&game).await, Some(record(4, b"historic")));
}

/// The shard's time after a beat, as the store itself tells it with a refusal: an estimate may be
/// half a round trip off.
async fn beaten(fixture: &Fixture, game: &GameId) -> Millis {
    let shard = fixture.store.shards().shard_of(game);
    fixture.store.beat(&[shard]).await.expect("a beat");
    let refused = put(game, Some(version(9, b"nowhere ")), record(9, b"historic"));
    match fixture.commit(refused).await {
        Outcome::Conflict { now, .. } => now,
        outcome => panic!("{outcome:?}"),
    }
}

/// Makes the clock of a game's shard run by its own rules: a game in it has a deadline.
async fn run_clock(fixture: &Fixture, game: &GameId) {
    let awaited = awaited_in(fixture, game);
    let deadline = fixture.now(game).await + Span::days(1);
    fixture.apply(due_at(&awaited, 1, Some(deadline))).await;
}

/// A game in the shard of another one.
fn awaited_in(fixture: &Fixture, beside: &GameId) -> GameId {
    let shards = fixture.store.shards();
    let mut games = (0..).map(|number| game(&format!("awaited-{number}")));
    let found = games.find(|game| shards.shard_of(game) == shards.shard_of(beside));
    found.expect("ids never run out")
}

pub(crate) async fn a_shard_without_deadlines_has_its_sources_time(fixture: Fixture) {
    let game = game("g");
    let shard = fixture.store.shards().shard_of(&game);
    let before = beaten(&fixture, &game).await;
    run_clock(&fixture, &game).await;
    fixture.jump(shard, Span(3_600_000)).await;
    let held = beaten(&fixture, &game).await;
    assert!(held.since(before).0 < 20_000, "an hour is not taken from a game: {held:?}");
    let awaited = awaited_in(&fixture, &game);
    fixture.apply(delete(&awaited, version(1, b"historic"))).await;
    let after = beaten(&fixture, &game).await;
    let behind = fixture.source_time().await.0.abs_diff(after.0);
    assert!(behind < 1_000, "{behind} ms from the source's time");
}

pub(crate) async fn the_clock_never_goes_back(fixture: Fixture) {
    let game = game("g");
    run_clock(&fixture, &game).await;
    let mut last = beaten(&fixture, &game).await;
    for step in [0, 1, 999, 2_999, 0, 100_000, 5] {
        fixture.jump(fixture.store.shards().shard_of(&game), Span(step)).await;
        let now = beaten(&fixture, &game).await;
        assert!(now >= last, "{last:?} and then {now:?}");
        last = now;
    }
}

pub(crate) async fn an_outage_costs_three_seconds_at_most(fixture: Fixture) {
    // What a real server's clock moves by itself while the test runs.
    const SLACK: u64 = 1_000;
    let game = game("g");
    let shard = fixture.store.shards().shard_of(&game);
    run_clock(&fixture, &game).await;
    let mut before = beaten(&fixture, &game).await;
    for (outage, cost) in [(1_000, 1_000), (2_500, 2_500), (3_600_000, 3_000)] {
        fixture.jump(shard, Span(outage)).await;
        let after = beaten(&fixture, &game).await;
        let passed = after.since(before).0;
        let most = if cost == 3_000 { 3_000 + SLACK } else { cost + SLACK };
        assert!((cost..=most).contains(&passed), "{outage} ms cost {passed}");
        before = after;
    }
}

pub(crate) async fn a_commit_with_a_wrong_present_is_refused_and_then_told_the_right_one(
    fixture: Fixture,
) {
    let game = game("g");
    let shards = fixture.store.shards();
    run_clock(&fixture, &game).await;
    let now = beaten(&fixture, &game).await;
    // Wide of the tolerance, since a real server's clock goes on while the test runs.
    for wrong in [Millis(now.0 - 5_000), now + Span(5_000), Millis(0), Millis(u64::MAX >> 11)] {
        let commit = Commit::new(shards, wrong, put(&game, None, record(1, b"historic")));
        let outcome = fixture.store.commit(&commit).await.expect("an answer");
        let Outcome::ClockOff { now: told } = outcome else { panic!("{wrong:?}: {outcome:?}") };
        assert!(told.since(now).0 < 3_000, "{told:?} is not near {now:?}");
        assert_eq!(fixture.load(&game).await, None);
    }
    // After the source jumped, one refusal is enough to know better.
    fixture.jump(shards.shard_of(&game), Span(60_000)).await;
    let present =
        match fixture.store.commit(&Commit::new(shards, now, due_at(&game, 1, None))).await {
            Ok(Outcome::ClockOff { now: told }) => {
                let present = fixture.now(&game).await;
                assert!(present.since(told).0 < 1_000, "{present:?} is not near {told:?}");
                present
            }
            other => panic!("{other:?}"),
        };
    let outcome = fixture.store.commit(&Commit::new(shards, present, due_at(&game, 1, None))).await;
    assert!(matches!(outcome, Ok(Outcome::Applied { .. })), "{outcome:?}");
}
