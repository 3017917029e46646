//! Who is present at a game.

use std::slice;

use banqi::game::{GameId, Span};
use banqi::store::{Hint, Presence, PresentSlot, Slot, StreamId};
use tokio::time::timeout;

use crate::fixture::{Fixture, PATIENCE, due_at, game, games_of_one_shard};

/// Longer than any test.
const LONG: Span = Span(60_000);

fn presence(game: &GameId, slot: u8, stream: u64) -> Presence {
    Presence { game: game.clone(), slot: Slot(slot), stream: StreamId(stream) }
}

impl Fixture {
    async fn mark(&self, presences: &[Presence], lifetime: Span) {
        self.store.mark_present(presences, lifetime).await.expect("an answer");
    }

    async fn clear(&self, presences: &[Presence]) {
        self.store.clear_present(presences).await.expect("an answer");
    }

    async fn present(&self, game: &GameId) -> Vec<PresentSlot> {
        let found = self.store.present(slice::from_ref(game)).await.expect("an answer");
        let [present] = &found[..] else { panic!("one game was asked for: {found:?}") };
        present.clone()
    }

    async fn slots(&self, game: &GameId) -> Vec<u8> {
        self.present(game).await.iter().map(|present| present.slot.0).collect()
    }
}

pub(crate) async fn a_slot_is_present_for_the_lifetime_of_its_mark(fixture: Fixture) {
    let id = game("g");
    assert_eq!(fixture.slots(&id).await, [0_u8; 0]);
    let brief = Span(800);
    fixture.mark(&[presence(&id, 2, 7), presence(&id, 1, 8)], brief).await;
    let present = fixture.present(&id).await;
    assert_eq!(present.iter().map(|present| present.slot).collect::<Vec<_>>(), [Slot(1), Slot(2)]);
    assert!(present.iter().all(|present| (Span(1)..=brief).contains(&present.remaining)));

    fixture.mark(&[presence(&id, 2, 7)], LONG).await;
    fixture.pass(brief).await;
    let [present] = fixture.present(&id).await[..] else { panic!("slot 2 was marked again") };
    assert_eq!(present.slot, Slot(2));
    assert!((Span(LONG.0 / 2)..=LONG).contains(&present.remaining), "{present:?}");
}

pub(crate) async fn a_slot_is_present_until_the_last_of_its_streams_is_cleared(fixture: Fixture) {
    let (id, other) = (game("g"), game("other"));
    // Slots whose digits begin alike.
    let streams = [presence(&id, 1, 1), presence(&id, 1, 2), presence(&id, 11, 1)];
    fixture.mark(&streams, LONG).await;
    fixture.mark(&[presence(&other, 1, 1)], Span(300)).await;
    fixture.mark(&[presence(&other, 1, 2)], LONG).await;
    fixture.clear(&streams[..1]).await;
    assert_eq!(fixture.slots(&id).await, [1, 11]);
    fixture.clear(&streams[..1]).await;
    assert_eq!(fixture.slots(&id).await, [1, 11], "the same stream again");
    fixture.clear(&streams[1..2]).await;
    assert_eq!(fixture.slots(&id).await, [11]);
    fixture.clear(&streams).await;
    assert_eq!(fixture.slots(&id).await, [0_u8; 0]);

    fixture.pass(Span(300)).await;
    let present = fixture.present(&other).await;
    assert_eq!(present.len(), 1, "one stream ended by itself, the other did not: {present:?}");
    assert!(present[0].remaining > Span(1_000), "as long as the stream that keeps it longest");
    fixture.mark(&[], LONG).await;
    fixture.clear(&[]).await;
    assert_eq!(fixture.store.present(&[]).await.expect("an answer"), [[]; 0]);
}

/// A hint is never later than one of a later write, so what the write is told with shows whether
/// there was another before it.
pub(crate) async fn only_a_change_of_presence_is_hinted_at_and_as_such(fixture: Fixture) {
    let id = game("g");
    let [one, two, other] = [presence(&id, 1, 1), presence(&id, 1, 2), presence(&id, 2, 3)];
    let mut subscription = fixture.store.subscribe(&id).await.expect("a subscription");
    let mut hint =
        async || timeout(PATIENCE, subscription.changed()).await.expect("a hint in time");
    let mark = async |presence: &Presence| fixture.mark(slice::from_ref(presence), LONG).await;
    let clear = async |presence: &Presence| fixture.clear(slice::from_ref(presence)).await;

    mark(&one).await;
    assert_eq!(hint().await, Hint::PRESENCE);
    mark(&one).await;
    mark(&two).await;
    clear(&one).await;
    clear(&other).await;
    fixture.apply(due_at(&id, 1, None)).await;
    assert_eq!(hint().await, Hint::RECORD, "no slot has come or gone");
    mark(&other).await;
    assert_eq!(hint().await, Hint::PRESENCE);
    clear(&two).await;
    assert_eq!(hint().await, Hint::PRESENCE);
    mark(&one).await;
    assert_eq!(hint().await, Hint::PRESENCE);
    fixture.mark(slice::from_ref(&one), Span(200)).await;
    fixture.pass(Span(200)).await;
    mark(&one).await;
    assert_eq!(hint().await, Hint::PRESENCE, "it had ended meanwhile");
}

pub(crate) async fn many_games_are_marked_read_and_cleared_at_once(fixture: Fixture) {
    // More of one shard than one script takes, and others here and there.
    let near: [GameId; 70] = games_of_one_shard(&*fixture.store, "near");
    let far = (0..600).map(|number| game(&format!("far-{number}")));
    let games: Vec<GameId> = far.chain(near).collect();
    let slot = |place: usize| u8::try_from(place % 4 + 1).expect("a small number");
    let all: Vec<Presence> =
        games.iter().enumerate().map(|(place, game)| presence(game, slot(place), 5)).collect();
    fixture.mark(&all, LONG).await;
    let present = fixture.store.present(&games).await.expect("an answer");
    let slots: Vec<Vec<u8>> = present
        .iter()
        .map(|present| present.iter().map(|present| present.slot.0).collect())
        .collect();
    assert_eq!(slots, (0..games.len()).map(|place| vec![slot(place)]).collect::<Vec<_>>());
    fixture.clear(&all[1..]).await;
    let present = fixture.store.present(&games).await.expect("an answer");
    assert_eq!(present[0].len(), 1);
    assert!(present[1..].iter().all(Vec::is_empty));
}
