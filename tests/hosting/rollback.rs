//! A store that lost writes, or a game deleted and created anew: nothing stale overwrites it.

use banqi::api::proto::v1;
use banqi::game::{Etag, GameId, Version};
use banqi::store::{Change, Commit, Outcome, Record, Store, Write as Stored};
use rstest::rstest;

use crate::support::refusal;
use crate::table::{Table, assigned};
use crate::world::{Backing, Replica, World, reason, request_id};
use crate::writes::Write;

async fn stands(store: &dyn Store, game: &GameId) -> Record {
    store.load(game).await.expect("the store answers").expect("the game is there")
}

/// Makes a change behind the service's back, whatever stands.
async fn force(store: &dyn Store, game: &GameId, change: Change) {
    let version = stands(store, game).await.version;
    let write = Stored { game: game.clone(), expected: Some(version), change };
    loop {
        let present = store.now(store.shards().shard_of(game)).await.expect("the time");
        let commit = Commit::new(store.shards(), present, write.clone());
        match store.commit(&commit).await.expect("the store answers") {
            Outcome::Applied { .. } => return,
            Outcome::ClockOff { .. } => {}
            conflict @ Outcome::Conflict { .. } => panic!("{conflict:?}"),
        }
    }
}

/// Puts back a record that stood before, as a failover does that lost what followed.
async fn roll_back(store: &dyn Store, game: &GameId, record: &Record) {
    let change = Change::Put { record: record.clone(), deadline: None, expiry: None };
    force(store, game, change).await;
}

fn version(etag: &str) -> Version {
    etag.parse::<Etag>().expect("an etag").0
}

/// Checks that a write which expects a lost state is refused, and told what stands.
async fn is_told_of_the_loss(replica: &Replica, write: Write, standing: &v1::Game) {
    let status = write.send(replica).await.expect_err("the state is lost");
    let (_, told, details) = refusal(&status);
    assert_eq!(told, "HISTORY_LOST", "{write:?}");
    let metadata = &details.error_info().expect("an ErrorInfo").metadata;
    assert_eq!(metadata["etag"], standing.etag);
    assert_eq!(metadata["revision"], standing.revision.to_string());
    assert_eq!(metadata["game_id"], standing.game_id);
}

#[rstest]
#[tokio::test]
async fn a_rolled_back_game_goes_on_from_where_it_was_rolled_back_to(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let id: GameId = table.id.parse().expect("an id");
    let kept = table.play_on(one, 2).await;
    let record = stands(&*world.store, &id).await;
    assert_eq!(record.version, version(&kept.etag));
    let lost = table.play_on(one, 4).await;
    // Both have the lost state ready.
    assert_eq!(other.get(&table.id).await.etag, lost.etag);
    roll_back(&*world.store, &id, &record).await;

    let play = Write::Play(table.act(1, "h4"));
    for replica in [one, other] {
        is_told_of_the_loss(replica, play.clone().with_etag(&lost.etag), &kept).await;
        assert_eq!(replica.get(&table.id).await.etag, kept.etag);
    }
    // The other replica's copy still is the lost one when it is asked without an etag.
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let played = play.send(one).await.expect("legal in what stands").game;
    assert_eq!(played.revision, kept.revision + 1);
    assert_ne!(played.etag, lost.etag);
    let regained = table.play_on(one, 3).await;
    assert_eq!(regained.revision, lost.revision);
    assert_ne!(regained.etag, lost.etag, "another history of the same length");

    let play = Write::Play(table.act(1, &regained.legal_actions[0].text));
    is_told_of_the_loss(other, play.clone().with_etag(&lost.etag), &regained).await;
    play.send(other).await.expect("legal in what stands");
    let fresh = world.add_replica().await.get(&table.id).await;
    assert_eq!(fresh.revision, regained.revision + 1);
    assert!(
        fresh.log.iter().any(|entry| entry.etag == regained.etag)
            && fresh.log.iter().all(|entry| entry.etag != lost.etag),
        "what was played after the loss is kept"
    );
}

#[rstest]
#[tokio::test]
async fn a_warm_replica_does_not_bring_back_what_was_lost(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let id: GameId = table.id.parse().expect("an id");
    let record = stands(&*world.store, &id).await;
    let lost = table.play_on(one, 4).await;
    assert_eq!(other.get(&table.id).await.etag, lost.etag);
    roll_back(&*world.store, &id, &record).await;

    // Legal in both states; the first replica would decide on its copy.
    let square = &lost.legal_actions.iter().find(|action| action.text.len() == 2);
    let flip = &square.expect("a flip").text;
    let played = Write::Play(table.act(1, flip)).send(one).await.expect("legal").game;
    assert_eq!(played.revision, 2, "on what stands, not on what was lost");
    // Not the turn of seat 1 in what stands, but in the other replica's copy.
    let status = Write::Play(table.act(1, "a1")).send(other).await.expect_err("seat 2 is to move");
    assert_eq!(reason(&status), "NOT_YOUR_TURN");
    let fresh = world.add_replica().await.get(&table.id).await;
    assert_eq!(fresh.etag, played.etag);
    assert_eq!(fresh.log.len(), 2);
}

#[rstest]
#[tokio::test]
async fn a_game_created_anew_is_another_game(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let request = v1::CreateGameRequest {
        game_id: "phoenix".to_owned(),
        seats: assigned("TAIWANESE"),
        request_id: request_id(),
        ..Default::default()
    };
    let id: GameId = request.game_id.parse().expect("an id");
    let create = Write::Create(request);
    let first = create.send(one).await.expect("created");
    let old = Table::of(Some(first.game.clone()), first.tokens.clone());
    let lost = old.play_on(one, 3).await;
    assert_eq!(other.get(&old.id).await.etag, lost.etag);

    force(&*world.store, &id, Change::Delete).await;
    for replica in [one, other] {
        let status = Write::Play(old.act(2, "h4")).send(replica).await.expect_err("deleted");
        assert_eq!(reason(&status), "GAME_NOT_FOUND");
    }
    // The same request: nobody knows that it was made before.
    let second = create.send(one).await.expect("created");
    assert_eq!(second.game.revision, 1);
    assert_ne!(second.game.etag, first.game.etag);
    assert_ne!(second.tokens, first.tokens);
    let new = Table::of(Some(second.game.clone()), second.tokens);

    for replica in [one, other] {
        let status = Write::Play(old.act(1, "h4")).send(replica).await.expect_err("an old token");
        assert_eq!(reason(&status), "SEAT_TOKEN_WRONG");
        for etag in [&lost.etag, &first.game.etag] {
            let play = Write::Play(new.act(1, "h4")).with_etag(etag);
            is_told_of_the_loss(replica, play, &second.game).await;
        }
    }
    let played = Write::Play(new.act(1, "h4")).send(other).await.expect("played").game;
    assert_eq!(played.revision, 2);
    assert_eq!(world.add_replica().await.get(&new.id).await.etag, played.etag);
}

#[rstest]
#[tokio::test]
async fn a_lost_join_can_be_made_again_and_its_token_is_the_same(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let created = Write::Create(v1::CreateGameRequest::default()).send(one).await.expect("created");
    let id: GameId = created.game.game_id.parse().expect("an id");
    let record = stands(&*world.store, &id).await;
    let join = Write::Join(v1::JoinGameRequest {
        game_id: created.game.game_id.clone(),
        seat: 1,
        player_id: "anna".to_owned(),
        request_id: request_id(),
        ..Default::default()
    });
    let first = join.send(one).await.expect("joined");
    roll_back(&*world.store, &id, &record).await;
    assert!(!other.get(&created.game.game_id).await.seats[0].joined);
    let again = join.send(other).await.expect("joined again");
    assert_eq!(again.tokens, first.tokens);
    assert_eq!(again.game.revision, 2);
}
