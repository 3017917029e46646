//! Games that are deleted, or whose time is over, leave nothing behind.

use banqi::api::proto::v1;
use banqi::game::GameId;
use rstest::rstest;
use tonic::Status;

use crate::expiry::short_lived;
use crate::listing::{list, of_player};
use crate::table::{Table, seat, shuffled};
use crate::world::{Backing, Replica, World, eventually, reason, request_id};
use crate::writes::Write;

async fn delete(replica: &Replica, id: &str) -> Result<v1::DeleteGameResponse, Status> {
    let request = v1::DeleteGameRequest { game_id: id.to_owned(), ..Default::default() };
    Ok(replica.platform().delete_game(request).await?.into_inner())
}

/// A game of two players.
async fn create(replica: &Replica, id: &str, players: [&str; 2]) -> Table {
    let seats = players.map(|player| seat(v1::SeatClaim::Assigned, player)).to_vec();
    let request = v1::CreateGameRequest { game_id: id.to_owned(), seats, ..Default::default() };
    let answer = replica.games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

/// What the store has of a game and of its players, other than what is told of its life.
async fn left_of(world: &World, id: &str, players: [&str; 2]) -> Vec<String> {
    let id: GameId = id.parse().expect("an id");
    let store = &world.store;
    let shard = store.shards().shard_of(&id);
    let mut left = Vec::new();
    left.extend(store.load(&id).await.expect("an answer").map(|_| "its record".to_owned()));
    let listed = store.listing_page(None, 100).await.expect("a page");
    left.extend(listed.iter().filter(|entry| entry.game == id).map(|_| "its listing".to_owned()));
    for player in players {
        let games = store.index_page(player, None, 100).await.expect("a page");
        left.extend(games.iter().map(|entry| format!("{player}: {entry:?}")));
    }
    let outbox = store.outbox(shard, 100).await.expect("an answer");
    left.extend(outbox.iter().map(|entry| format!("outbox: {entry:?}")));
    let due = store.due(shard, banqi::game::Millis(u64::MAX), 100).await.expect("an answer");
    left.extend(due.iter().map(|due| format!("due: {due:?}")));
    if let Some(redis) = &world.redis {
        let mut connection = redis.connection().await;
        let keys: Vec<String> =
            redis::cmd("KEYS").arg("*").query_async(&mut connection).await.expect("the keys");
        let names = [id.as_str(), players[0], players[1]];
        left.extend(keys.into_iter().filter(|key| names.iter().any(|name| key.contains(name))));
        let deadlines = format!("banqi:{{{shard}}}:deadlines");
        let due: Option<f64> = redis::cmd("ZSCORE")
            .arg(deadlines)
            .arg(id.as_str())
            .query_async(&mut connection)
            .await
            .expect("a score or none");
        left.extend(due.map(|due| format!("a deadline: {due}")));
    }
    left
}

#[rstest]
#[case::waiting(0)]
#[case::in_play(3)]
#[tokio::test]
async fn a_deleted_game_leaves_nothing_and_its_proof_is_answered(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[case] actions: usize,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let players = ["anna-who-goes", "bert-who-goes"];
    let table = create(one, "to-be-deleted", players).await;
    let before = table.play_on(one, actions).await;
    // The other replica has it ready, and somebody watches it there.
    let mut stream = other.watch(&table.id, "").await.expect("a watch");
    stream.message().await.expect("a snapshot").expect("a snapshot");
    for player in players {
        eventually("listed", async || list(one, &of_player(player)).await, |ids| ids.len() == 1)
            .await;
    }

    let proof = delete(one, &table.id).await.expect("deleted");
    assert_eq!(proof.commitment, before.commitment);
    assert_eq!((proof.server_seed.len(), proof.entropies.len()), (32, 2));
    assert_eq!(proof.deal.split(' ').count(), 32);
    let told = loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ends without a word"),
            Err(status) => break reason(&status),
        }
    };
    assert_eq!(told, "GAME_NOT_FOUND");
    let play = Write::Play(table.act(1, "h4")).send(other).await.expect_err("gone");
    assert_eq!(reason(&play), "GAME_NOT_FOUND");
    assert_eq!(reason(&delete(other, &table.id).await.expect_err("gone")), "GAME_NOT_FOUND");
    eventually("all gone", || left_of(&world, &table.id, players), Vec::is_empty).await;

    // The id is free, and what is created under it is another game.
    let anew = create(other, &table.id, players).await;
    let play = Write::Play(table.act(1, "a1")).send(one).await.expect_err("another game");
    assert_eq!(reason(&play), "SEAT_TOKEN_WRONG");
    anew.play_on(one, 1).await;
    eventually("listed", async || list(one, &of_player(players[0])).await, |ids| ids.len() == 1)
        .await;
}

#[rstest]
#[tokio::test]
async fn a_deletion_asks_for_the_state_that_it_was_decided_on(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let one = world.any();
    let table = Table::create(one, "TAIWANESE").await;
    let etag = one.get(&table.id).await.etag;
    Write::Play(table.act(1, "a1")).send(one).await.expect("played");
    let request = |etag: &str, request_id: &str| v1::DeleteGameRequest {
        game_id: table.id.clone(),
        etag: etag.to_owned(),
        request_id: request_id.to_owned(),
    };
    let status = one.platform().delete_game(request(&etag, "")).await.expect_err("it went on");
    assert_eq!(reason(&status), "ETAG_MISMATCH");
    let ended = v1::AdjudicateGameRequest {
        game_id: table.id.clone(),
        abort: true,
        request_id: "mine".to_owned(),
        ..Default::default()
    };
    let game = one.platform().adjudicate_game(ended).await.expect("ended").into_inner().game;
    let etag = game.expect("a game").etag;
    let status = one.platform().delete_game(request(&etag, "mine")).await.expect_err("used");
    assert_eq!(reason(&status), "REQUEST_ID_REUSED");
    one.platform().delete_game(request(&etag, "another")).await.expect("deleted");
    assert_eq!(reason(&one.try_get(&table.id).await.expect_err("gone")), "GAME_NOT_FOUND");
}

#[rstest]
#[tokio::test]
async fn a_deleted_game_with_a_given_deal_proves_nothing(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    use rand::SeedableRng as _;
    let world = World::start(backing, 1).await;
    let mut random = rand::rngs::Xoshiro256PlusPlus::seed_from_u64(3);
    let deal = shuffled(banqi::rules::BoardSize::Single, &mut random);
    let table = Table::import(world.any(), "TAIWANESE", None, &deal).await;
    let proof = delete(world.any(), &table.id).await.expect("deleted");
    assert_eq!((proof.commitment.len(), proof.server_seed.len()), (0, 0));
    assert_eq!(proof.deal, deal);
}

#[rstest]
#[tokio::test]
async fn a_link_to_a_deleted_rematch_is_harmless(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let one = world.any();
    let table = Table::create(one, "TAIWANESE").await;
    table.play_on(one, 2).await;
    table.resign(one, 1).await;
    let rematch = |seat: u32| v1::RematchRequest {
        game_id: table.id.clone(),
        seat_token: table.token(seat),
        request_id: request_id(),
        ..Default::default()
    };
    let made = Write::Rematch(rematch(1)).send(one).await.expect("made").game;
    assert!(list(one, &v1::ListGamesRequest::default()).await.contains(&made.game_id));
    delete(one, &made.game_id).await.expect("deleted");
    assert_eq!(one.get(&table.id).await.rematch_game_id, made.game_id);
    let status = Write::Rematch(rematch(2)).send(one).await.expect_err("gone");
    assert_eq!(reason(&status), "GAME_NOT_FOUND");
    assert_eq!(list(one, &v1::ListGamesRequest::default()).await, [table.id]);
}

#[rstest]
#[tokio::test]
async fn a_game_whose_time_is_over_leaves_nothing(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, short_lived()).await;
    let players = ["anna-who-goes", "bert-who-goes"];
    let table = create(world.any(), "short-lived", players).await;
    // It is aborted, since nobody begins it, and then removed.
    eventually("all gone", || left_of(&world, &table.id, players), Vec::is_empty).await;
}

#[rstest]
#[tokio::test]
async fn entries_of_games_that_are_gone_are_cleared_by_who_comes_across_them(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let one = world.any();
    let table = create(one, "stays", ["anna", "bert"]).await;
    eventually("listed", async || list(one, &of_player("anna")).await, |ids| ids.len() == 1).await;
    let [entry] = &world.store.index_page("anna", None, 5).await.expect("a page")[..] else {
        panic!("one entry");
    };
    // One of a game that there is not, and one of another game of the same id.
    let mut ghosts = [entry.clone(), entry.clone()];
    ghosts[0].game = "ghost".parse().expect("an id");
    ghosts[1].created = entry.created + banqi::game::Span(1);
    for ghost in &ghosts {
        world.store.index_add("anna", ghost).await.expect("added");
        world.store.index_add("carl", ghost).await.expect("added");
    }
    world.store.index_add("carl", entry).await.expect("added");
    assert_eq!(list(one, &of_player("anna")).await, [table.id]);
    assert_eq!(
        world.store.index_page("anna", None, 5).await.expect("a page"),
        std::slice::from_ref(entry)
    );
    assert_eq!(list(one, &of_player("carl")).await, [""; 0]);
    assert_eq!(world.store.index_page("carl", None, 5).await.expect("a page"), []);
}
