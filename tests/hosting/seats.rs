//! Seats: assigned, open and reserved; their tokens; entropy; when play begins.

use banqi::api::proto::v1;
use rstest::rstest;
use tonic::metadata::MetadataValue;

use crate::support::bad_fields;
use crate::table::{Table, seat};
use crate::world::{Backing, World, reason};
use crate::writes::{Answer, Write};

async fn create(world: &World, request: v1::CreateGameRequest) -> Answer {
    Write::Create(request).send(world.any()).await.expect("created")
}

fn join(game: &v1::Game, seat: u32, player: &str) -> Write {
    Write::Join(v1::JoinGameRequest {
        game_id: game.game_id.clone(),
        seat,
        player_id: player.to_owned(),
        ..Default::default()
    })
}

#[rstest]
#[tokio::test]
async fn a_game_waits_for_its_players_and_then_begins(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let request = v1::CreateGameRequest {
        preset: "DOUBLE_FOUR".to_owned(),
        seats: vec![
            seat(v1::SeatClaim::Assigned, "anna"),
            seat(v1::SeatClaim::Open, ""),
            seat(v1::SeatClaim::Reserved, "carl"),
            seat(v1::SeatClaim::Open, ""),
        ],
        ..Default::default()
    };
    let created = create(&world, request).await;
    let tokens: Vec<u32> = created.tokens.iter().map(|token| token.seat).collect();
    assert_eq!(tokens, [1], "a token for each assigned seat");
    let game = created.game;
    assert_eq!(game.state(), v1::GameState::Waiting);
    assert_eq!((game.legal_actions.len(), game.start_time), (0, None));
    let joined: Vec<bool> = game.seats.iter().map(|seat| seat.joined).collect();
    assert_eq!(joined, [true, false, false, false]);
    let players: Vec<&str> = game.seats.iter().map(|seat| seat.player_id.as_str()).collect();
    assert_eq!(players, ["anna", "", "carl", ""]);

    // Seat 0: whoever it is reserved for has his seat, everyone else the first open one.
    let dora = join(&game, 0, "dora").send(other).await.expect("joined");
    assert_eq!((dora.tokens[0].seat, dora.game.state()), (2, v1::GameState::Waiting));
    let carl = join(&game, 0, "carl").send(one).await.expect("joined");
    assert_eq!(carl.tokens[0].seat, 3);
    let nobody = join(&game, 4, "").send(other).await.expect("joined");
    assert_eq!(nobody.game.state(), v1::GameState::Active);
    assert!(nobody.game.start_time.is_some() && !nobody.game.legal_actions.is_empty());

    let tokens = [&created.tokens[..], &dora.tokens, &carl.tokens, &nobody.tokens].concat();
    let mut texts: Vec<&str> = tokens.iter().map(|token| token.token.as_str()).collect();
    let table = Table::of(Some(game), tokens.clone());
    table.play_on(one, 4).await;
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), 4, "each seat has its own token");
}

#[rstest]
#[tokio::test]
async fn a_token_may_come_as_metadata(#[values(Backing::Memory, Backing::Redis)] backing: Backing) {
    let world = World::start(backing, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let bearer = |token: &str, action: &str| {
        let message = v1::PlayActionRequest { seat_token: String::new(), ..table.act(1, action) };
        let mut request = tonic::Request::new(message);
        let value: MetadataValue<_> = format!("Bearer {token}").parse().expect("ASCII");
        request.metadata_mut().insert("authorization", value);
        request
    };
    let mut games = world.any().games();
    games.play_action(bearer(&table.token(1), "a1")).await.expect("seat 1's token");
    games.play_action(bearer(&table.token(2), "a2")).await.expect("seat 2's token");
    let status = games.play_action(bearer("bqs_nonsense", "a3")).await.expect_err("no token");
    assert_eq!(reason(&status), "SEAT_TOKEN_WRONG");
}

#[rstest]
#[tokio::test]
async fn play_waits_for_every_seats_entropy_where_it_is_required(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Open, "")],
        entropy_required: true,
        ..Default::default()
    };
    let created = create(&world, request).await;
    assert!(created.game.entropy_required);
    assert_eq!(created.game.commitment.len(), 32, "there before anyone adds to the deal");
    let joined = join(&created.game, 0, "bert").send(world.any()).await.expect("joined");
    assert_eq!(joined.game.state(), v1::GameState::Waiting);
    let tokens = [created.tokens, joined.tokens].concat();
    let table = Table::of(Some(created.game), tokens);
    for seat in [1, 2] {
        let status = Write::Play(table.act(1, "a1")).send(world.any()).await.expect_err("waits");
        assert_eq!(reason(&status), "GAME_NOT_STARTED");
        let add = Write::AddEntropy(v1::AddEntropyRequest {
            game_id: table.id.clone(),
            seat_token: table.token(seat),
            entropy: vec![seat as u8; 64],
            ..Default::default()
        });
        let answer = add.send(&world.replicas[1]).await.expect("added");
        assert!(answer.game.seats[seat as usize - 1].entropy_added);
        let status = add.send(&world.replicas[0]).await.expect_err("once a seat");
        assert_eq!(reason(&status), "ENTROPY_ADDED");
    }
    let game = table.play(world.any(), "a1").await;
    assert_eq!(game.state(), v1::GameState::Active);
}

#[tokio::test]
async fn seats_that_make_no_sense_are_refused_all_at_once() {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::CreateGameRequest {
        game_id: "no id".to_owned(),
        seats: vec![
            seat(v1::SeatClaim::Open, "anna"),
            seat(v1::SeatClaim::Reserved, ""),
            seat(v1::SeatClaim::Unspecified, ""),
            v1::NewSeat { player_id: "\n".to_owned(), claim: 77 },
        ],
        seating: 5,
        labels: [(String::new(), "x".repeat(300))].into(),
        request_id: "x".repeat(200),
        ..Default::default()
    };
    let status = Write::Create(request).send(world.any()).await.expect_err("refused");
    assert_eq!(
        bad_fields(&status),
        [
            "request_id",
            "request_id",
            "game_id",
            "seats",
            "seats[0].player_id",
            "seats[1].player_id",
            "seats[2].claim",
            "seats[3].player_id",
            "seats[3].claim",
            "seating",
            "labels",
            "labels[]",
        ]
    );
}

#[tokio::test]
async fn what_a_given_deal_excludes_is_refused() {
    let world = World::start(Backing::Memory, 1).await;
    let import = |deal: Option<&str>| {
        Write::Import(v1::ImportGameRequest {
            start: deal.map(|deal| v1::import_game_request::Start::Deal(deal.to_owned())),
            ..Default::default()
        })
    };
    for deal in [None, Some(""), Some("K k"), Some("nonsense")] {
        let status = import(deal).send(world.any()).await.expect_err("no deal");
        assert_eq!(bad_fields(&status), ["deal"], "{deal:?}");
    }
}
