//! The platform ends games.

use banqi::api::proto::v1;
use rstest::rstest;
use tonic::Status;

use crate::support::bad_fields;
use crate::table::{Table, seat};
use crate::world::{Backing, Replica, World, reason};
use crate::writes::Write;

fn placements(places: &[u32]) -> Vec<v1::Placement> {
    (1..).zip(places).map(|(seat, &place)| v1::Placement { seat, place }).collect()
}

async fn send(replica: &Replica, request: v1::AdjudicateGameRequest) -> Result<v1::Game, Status> {
    let answer = replica.platform().adjudicate_game(request).await?.into_inner();
    let mut game = answer.game.expect("a game");
    game.server_time = None;
    Ok(game)
}

/// Ends a game with these places, in seat order.
pub(crate) async fn adjudicate(
    replica: &Replica,
    id: &str,
    places: &[u32],
) -> Result<v1::Game, Status> {
    let placements = placements(places);
    send(
        replica,
        v1::AdjudicateGameRequest { game_id: id.to_owned(), placements, ..Default::default() },
    )
    .await
}

#[rstest]
#[tokio::test]
async fn a_game_ends_with_the_places_that_are_given(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    table.play_on(one, 2).await;
    let request = v1::AdjudicateGameRequest {
        game_id: table.id.clone(),
        placements: placements(&[2, 1]),
        etag: one.get(&table.id).await.etag,
        request_id: "the referee".to_owned(),
        ..Default::default()
    };
    let game = send(one, request.clone()).await.expect("ended");
    assert_eq!(game.state(), v1::GameState::Finished);
    let result = game.result.clone().expect("a result");
    assert_eq!((result.reason(), &result.winners[..]), (v1::EndReason::Adjudicated, &[2][..]));
    assert_eq!(result.placements, placements(&[2, 1]));
    let log = other.get(&table.id).await.log;
    let Some(v1::log_entry::Event::Adjudicated(told)) = &log.last().expect("an entry").event else {
        panic!("{log:?}");
    };
    assert_eq!(told.placements, placements(&[2, 1]));
    // Repeated, it has the same answer; asked for anew, the game is over.
    assert_eq!(send(other, request.clone()).await.expect("repeated"), game);
    let changed = v1::AdjudicateGameRequest { placements: placements(&[1, 2]), ..request };
    assert_eq!(reason(&send(other, changed).await.expect_err("another")), "REQUEST_ID_REUSED");
    let again = adjudicate(other, &table.id, &[1, 1]).await.expect_err("over");
    assert_eq!(reason(&again), "GAME_OVER");
    let play = Write::Play(table.act(1, "h4")).send(other).await.expect_err("over");
    assert_eq!(reason(&play), "GAME_OVER");
}

#[rstest]
#[tokio::test]
async fn a_game_that_nobody_has_joined_can_be_ended_too(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let seats = vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Open, "")];
    let create = Write::Create(v1::CreateGameRequest { seats, ..Default::default() });
    let id = create.send(world.any()).await.expect("created").game.game_id;
    let won = adjudicate(world.any(), &id, &[1, 2]).await.expect("who came has won");
    assert_eq!(won.result.expect("a result").winners, [1]);

    let id = create.send(world.any()).await.expect("created").game.game_id;
    let abort = v1::AdjudicateGameRequest { game_id: id, abort: true, ..Default::default() };
    let aborted = send(world.any(), abort).await.expect("aborted");
    let result = aborted.result.expect("a result");
    assert_eq!((result.reason(), result.placements.len()), (v1::EndReason::Aborted, 0));
}

#[tokio::test]
async fn a_ruling_that_makes_no_sense_is_refused() {
    let world = World::start(Backing::Memory, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let place = |seat, place| v1::Placement { seat, place };
    let cases = [
        (Vec::new(), false, "placements"),
        (placements(&[1, 2]), true, "abort"),
        (placements(&[2, 2]), false, "placements"),
        (placements(&[1, 3]), false, "placements"),
        (vec![place(1, 1), place(1, 2)], false, "placements"),
        (vec![place(2, 1), place(3, 2)], false, "placements"),
        (placements(&[1, 2, 3, 4, 5]), false, "placements"),
    ];
    for (placements, abort, field) in cases {
        let request = v1::AdjudicateGameRequest {
            game_id: table.id.clone(),
            placements: placements.clone(),
            abort,
            ..Default::default()
        };
        let status = send(world.any(), request).await.expect_err("no ruling");
        assert_eq!(bad_fields(&status), [field], "{placements:?}");
    }
    let status = adjudicate(world.any(), &table.id, &[0, 9]).await.expect_err("no places");
    assert_eq!(bad_fields(&status), ["placements[0].place", "placements[1].place", "placements"]);
    assert_eq!(world.any().get(&table.id).await.revision, 1);
}
