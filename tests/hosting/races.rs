//! Many callers at once, over two replicas: exactly one is served, all others are told so.

use banqi::api::error::Reason;
use banqi::api::proto::v1;
use futures_util::future::join_all;
use rstest::rstest;
use tonic::Status;

use crate::support::refusal;
use crate::table::{Table, seat};
use crate::world::{Backing, World, reason, request_id};
use crate::writes::{Answer, Write};

/// Sends all at once, in turn to each replica; answers who was served and who was refused.
async fn at_once(world: &World, writes: impl Iterator<Item = Write>) -> (Vec<Answer>, Vec<Status>) {
    let calls = writes.enumerate().map(|(index, write)| {
        let replica = &world.replicas[index % world.replicas.len()];
        async move { write.send(replica).await }
    });
    let (served, refused): (Vec<_>, Vec<_>) =
        join_all(calls).await.into_iter().partition(Result::is_ok);
    let served = served.into_iter().filter_map(Result::ok).collect();
    (served, refused.into_iter().filter_map(Result::err).collect())
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hundred_actions_at_one_etag_one_is_played(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let etag = world.any().get(&table.id).await.etag;
    let plays = (0..200).map(|number| {
        let square = format!("{}{}", char::from(b'a' + number % 8), 1 + number / 8 % 4);
        Write::Play(table.act(1, &square)).with_etag(&etag)
    });
    let (served, refused) = at_once(&world, plays).await;
    assert_eq!(served.len(), 1);
    assert_eq!(refused.len(), 199);
    let game = &served[0].game;
    for status in &refused {
        let (code, told, details) = refusal(status);
        assert_eq!((code, told.as_str()), (Reason::EtagMismatch.code(), "ETAG_MISMATCH"));
        let metadata = &details.error_info().expect("an ErrorInfo").metadata;
        assert_eq!(metadata["etag"], game.etag);
        assert_eq!(metadata["revision"], "2");
        assert_eq!(metadata["game_id"], table.id);
    }
    for replica in &world.replicas {
        assert_eq!(replica.get(&table.id).await.etag, game.etag);
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_joins_of_one_seat_one_has_it(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values(0, 2)] asked: u32,
) {
    let world = World::start(backing, 2).await;
    let seats = vec![seat(v1::SeatClaim::Assigned, ""), seat(v1::SeatClaim::Open, "")];
    let request = v1::CreateGameRequest { seats, ..Default::default() };
    let created = Write::Create(request).send(world.any()).await.expect("created").game;
    let joins = (0..50).map(|number| {
        Write::Join(v1::JoinGameRequest {
            game_id: created.game_id.clone(),
            seat: asked,
            player_id: format!("player {number}"),
            request_id: request_id(),
            ..Default::default()
        })
    });
    let (served, refused) = at_once(&world, joins).await;
    assert_eq!(served.len(), 1);
    let expected = if asked == 0 { "NO_SEAT_OPEN" } else { "SEAT_TAKEN" };
    assert!(refused.iter().all(|status| reason(status) == expected), "{refused:?}");
    let game = world.any().get(&created.game_id).await;
    assert_eq!(game.revision, 2);
    assert_eq!(game.seats, served[0].game.seats, "the seat is the winner's");
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_fifty_creations_of_one_id_one_has_it(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let creations = (0..50).map(|_| {
        Write::Create(v1::CreateGameRequest {
            game_id: "wanted".to_owned(),
            request_id: request_id(),
            ..Default::default()
        })
    });
    let (served, refused) = at_once(&world, creations).await;
    assert_eq!(served.len(), 1);
    assert!(refused.iter().all(|status| reason(status) == "GAME_ID_TAKEN"), "{refused:?}");
    assert_eq!(world.any().get("wanted").await.etag, served[0].game.etag);
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_creation_sent_fifty_times_at_once_is_one_game(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let seats = vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Open, "")];
    let request = v1::CreateGameRequest { seats, request_id: request_id(), ..Default::default() };
    let copies = (0..50).map(|_| Write::Create(request.clone()));
    let (served, refused) = at_once(&world, copies).await;
    assert!(refused.is_empty(), "{refused:?}");
    assert_eq!(served[0].tokens.len(), 1);
    assert!(served.iter().all(|answer| answer == &served[0]));
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_action_sent_fifty_times_at_once_is_played_once(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let copies = (0..50).map(|_| Write::Play(table.act(1, "c3")).with_request_id("once"));
    let (served, refused) = at_once(&world, copies).await;
    assert!(refused.is_empty(), "{refused:?}");
    assert!(served.iter().all(|answer| answer == &served[0]));
    assert_eq!(world.any().get(&table.id).await.revision, 2);
}
