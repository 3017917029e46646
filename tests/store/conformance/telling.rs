//! What others learn of a write: hints, feed and outbox, the index of games; and replicas.

use std::time::Duration;

use banqi::game::{GameId, Millis, Span};
use banqi::store::{Commit, EntryId, IndexEntry, Outcome, ReplicaId};
use bytes::Bytes;
use tokio::time::timeout;
use uuid::Uuid;

use crate::fixture::{Fixture, PATIENCE, delete, due_at, game, games_of_one_shard, version};

pub(crate) async fn the_outbox_keeps_entries_until_they_are_acknowledged(fixture: Fixture) {
    let game = game("g");
    let shard = fixture.store.shards().shard_of(&game);
    let outbox = async |limit| fixture.store.outbox(shard, limit).await.expect("an answer");
    assert_eq!(outbox(10).await, []);
    for revision in 1..=3_u8 {
        let entry = |number| Bytes::from(vec![revision, number, 255]);
        let add = |commit: Commit| commit.with_outbox_entry(entry(0)).with_outbox_entry(entry(1));
        fixture.apply_with(due_at(&game, revision.into(), None), add).await;
    }
    let entries = outbox(10).await;
    let contents: Vec<_> =
        entries.iter().map(|entry| (entry.content[0], entry.content[1])).collect();
    assert_eq!(contents, [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]);
    assert!(entries.is_sorted_by(|earlier, later| earlier.id < later.id));
    assert_eq!(outbox(10).await, entries, "reading takes nothing");
    assert_eq!(outbox(2).await, entries[..2]);

    let ids: Vec<EntryId> = entries.iter().map(|entry| entry.id).collect();
    fixture.store.acknowledge(shard, &ids[1..3]).await.expect("an answer");
    assert_eq!(outbox(10).await, [&entries[..1], &entries[3..]].concat());
    fixture.store.acknowledge(shard, &ids).await.expect("some are gone already");
    assert_eq!(outbox(10).await, []);
}

pub(crate) async fn the_feed_is_read_on_from_an_entry(fixture: Fixture) {
    let game = game("g");
    let shard = fixture.store.shards().shard_of(&game);
    for revision in 1..=3_u8 {
        let add = |commit: Commit| commit.with_feed_entry(Bytes::from(vec![revision]));
        fixture.apply_with(due_at(&game, revision.into(), None), add).await;
    }
    let feed =
        async |after, limit| fixture.store.feed(shard, after, limit).await.expect("an answer");
    let all = feed(EntryId::default(), 10).await;
    assert_eq!(all.iter().map(|entry| entry.content[0]).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(feed(EntryId::default(), 2).await, all[..2]);
    assert_eq!(feed(all[0].id, 10).await, all[1..]);
    assert_eq!(feed(all[0].id, 1).await, all[1..2]);
    assert_eq!(feed(all[2].id, 10).await, []);
    assert_eq!(fixture.store.outbox(shard, 10).await.expect("an answer"), []);
}

pub(crate) async fn a_write_is_hinted_at(fixture: Fixture) {
    let game = game("g");
    let mut first = fixture.store.subscribe(&game).await.expect("a subscription");
    let mut second = fixture.store.subscribe(&game).await.expect("a subscription");
    for revision in 1..=3 {
        fixture.apply(due_at(&game, revision, None)).await;
        timeout(PATIENCE, first.changed()).await.expect("a hint");
    }
    timeout(PATIENCE, second.changed()).await.expect("a hint");
    drop(first);
    fixture.apply(delete(&game, version(3, b"historic"))).await;
    timeout(PATIENCE, second.changed()).await.expect("a hint after another went away");
    drop(second);
    let mut again = fixture.store.subscribe(&game).await.expect("a subscription");
    fixture.apply(due_at(&game, 1, None)).await;
    timeout(PATIENCE, again.changed()).await.expect("a hint after all went away and came back");
}

pub(crate) async fn a_hint_concerns_one_game(fixture: Fixture) {
    let [one, other] = games_of_one_shard(&*fixture.store, "hint");
    let mut of_one = fixture.store.subscribe(&one).await.expect("a subscription");
    let mut of_other = fixture.store.subscribe(&other).await.expect("a subscription");
    fixture.apply(due_at(&one, 1, None)).await;
    timeout(PATIENCE, of_one.changed()).await.expect("a hint");
    // Hints of one shard come in order, so one of the first write would be here by now.
    fixture.apply(due_at(&other, 1, None)).await;
    timeout(PATIENCE, of_other.changed()).await.expect("a hint");
    let second = timeout(Duration::from_millis(50), of_one.changed()).await;
    assert!(second.is_err(), "a write of another game is no hint");
}

pub(crate) async fn a_players_games_come_newest_first_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    let entry = |created, id| IndexEntry { created: Millis(created), game: game(id) };
    // Two of the same time, and times whose decimal digits would sort otherwise.
    let newest_first = [entry(1_000, "a"), entry(999, "c"), entry(999, "b"), entry(20, "Z")];
    for place in [2, 0, 3, 1] {
        store.index_add("ann", &newest_first[place]).await.expect("an answer");
    }
    store.index_add("bob", &entry(5, "b")).await.expect("an answer");
    let page = async |before, limit| store.index_page("ann", before, limit).await.expect("a page");
    assert_eq!(page(None, 10).await, newest_first);
    assert_eq!(page(None, 2).await, newest_first[..2]);
    assert_eq!(page(Some(&newest_first[1]), 2).await, newest_first[2..]);
    assert_eq!(page(Some(&newest_first[3]), 2).await, []);
    assert_eq!(page(Some(&entry(999, "bb")), 1).await, newest_first[2..3], "of one that is gone");
    assert_eq!(store.index_page("nobody", None, 5).await.expect("a page"), []);
    assert_eq!(store.index_page("an", None, 5).await.expect("a page"), []);
}

pub(crate) async fn a_players_games_are_added_and_removed_once(fixture: Fixture) {
    let store = &fixture.store;
    // A player's id may have characters that mean something in the name of a key.
    for player in ["ann", "a}{:*\u{e9}", ""] {
        let kept = IndexEntry { created: Millis(1), game: game("kept") };
        let gone = IndexEntry { created: Millis(2), game: game("gone") };
        for _ in 0..2 {
            store.index_add(player, &kept).await.expect("an answer");
            store.index_add(player, &gone).await.expect("an answer");
        }
        for _ in 0..2 {
            store.index_remove(player, &gone).await.expect("an answer");
        }
        assert_eq!(store.index_page(player, None, 10).await.expect("a page"), [kept]);
    }
}

pub(crate) async fn replicas_live_as_long_as_their_heart_beats(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(store.live_replicas().await.expect("an answer"), []);
    let [first, second] = [1, 2].map(|number| ReplicaId(Uuid::from_u128(number)));
    for replica in [second, first, second] {
        store.heartbeat(replica).await.expect("an answer");
    }
    assert_eq!(store.live_replicas().await.expect("an answer"), [first, second]);
    fixture.pass(Span(900)).await;
    store.heartbeat(first).await.expect("an answer");
    fixture.pass(Span(200)).await;
    assert_eq!(store.live_replicas().await.expect("an answer"), [first]);
}

pub(crate) async fn all_games_come_newest_first_in_pages(fixture: Fixture) {
    let store = &fixture.store;
    assert_eq!(store.listing_page(None, 5).await.expect("a page"), []);
    // More games of one shard than it is asked for at first, and many of others; some of one time.
    let here = games_of_one_shard::<40>(&**store, "here");
    let there: Vec<GameId> = (0..40).map(|number| game(&format!("there-{number}"))).collect();
    let mut listed = Vec::new();
    for (number, id) in here.iter().chain(&there).enumerate() {
        let entry = IndexEntry { created: Millis(1_000 + number as u64 / 3), game: id.clone() };
        let add = |commit: Commit| commit.with_listed(entry.clone());
        fixture.apply_with(due_at(id, 1, None), add).await;
        listed.push(entry);
    }
    listed.sort_unstable_by(|one, other| other.cmp(one));
    for size in [1, 7, 100] {
        let mut read = Vec::new();
        loop {
            let page = store.listing_page(read.last(), size).await.expect("a page");
            if page.is_empty() {
                break;
            }
            read.extend(page);
        }
        assert_eq!(read, listed, "{size} a page");
    }
    let gone = IndexEntry { created: Millis(1_005), game: game("gone") };
    let older: Vec<_> = listed.iter().filter(|entry| **entry < gone).cloned().collect();
    let page = store.listing_page(Some(&gone), 3).await.expect("a page");
    assert_eq!(page, older[..3], "from one that is not there");
}

pub(crate) async fn a_game_is_listed_and_unlisted_with_its_commit_only(fixture: Fixture) {
    let store = &fixture.store;
    let id = game("g");
    let entry = IndexEntry { created: Millis(5), game: id.clone() };
    let page = async || store.listing_page(None, 5).await.expect("a page");
    let list = |commit: Commit| commit.with_listed(entry.clone());
    let unlist = |commit: Commit| commit.with_unlisted(entry.clone());
    let refused = fixture.commit_with(due_at(&id, 2, None), list).await;
    assert!(matches!(refused, Outcome::Conflict { .. }));
    assert_eq!(page().await, []);
    fixture
        .apply_with(due_at(&id, 1, None), |commit| {
            list(commit).with_feed_entry(Bytes::from("f")).with_outbox_entry(Bytes::from("o"))
        })
        .await;
    assert_eq!(page().await, std::slice::from_ref(&entry));
    let shard = store.shards().shard_of(&id);
    let feed = store.feed(shard, EntryId::default(), 5).await.expect("an answer");
    let outbox = store.outbox(shard, 5).await.expect("an answer");
    assert_eq!((&feed[0].content[..], &outbox[0].content[..]), (&b"f"[..], &b"o"[..]));
    fixture.apply(due_at(&id, 2, None)).await;
    assert_eq!(page().await, std::slice::from_ref(&entry), "another write changes nothing");
    let refused = fixture.commit_with(delete(&id, version(1, b"historic")), unlist).await;
    assert!(matches!(refused, Outcome::Conflict { .. }));
    assert_eq!(page().await, std::slice::from_ref(&entry));
    fixture.apply_with(delete(&id, version(2, b"historic")), unlist).await;
    assert_eq!(page().await, []);

    fixture.apply_with(due_at(&id, 1, None), list).await;
    let other = IndexEntry { created: Millis(6), game: id.clone() };
    for (entry, left) in [(&other, 1), (&entry, 0), (&entry, 0)] {
        store.listing_remove(entry).await.expect("an answer");
        assert_eq!(page().await.len(), left);
    }
}
