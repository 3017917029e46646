//! What cannot be imported, and by which field that is told.

use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::rules::{GameRecord, LeaveReason, Seat};
use rstest::rstest;

use crate::imports::{begun, ended_by, import, of_board, of_record, written};
use crate::support::{bad_fields, board, cells};
use crate::table::seat;
use crate::world::{Backing, World};

/// A request about a record that is right, before it is spoilt.
fn right() -> v1::ImportGameRequest {
    of_record(&written(&["a1", "a3", "b1"]).0)
}

fn over() -> GameRecord {
    ended_by(|scribe| scribe.leave(Seat::FIRST, LeaveReason::Resignation).expect("it is in"))
}

fn seats(first: &str, second: &str) -> Vec<v1::NewSeat> {
    [first, second].map(|player| seat(v1::SeatClaim::Assigned, player)).into()
}

fn labelled(key: &str, value: &str) -> v1::ImportGameRequest {
    let mut record = written(&["a1"]).0;
    record.set_header("Event", "a cup").expect("a header");
    let labels = [(key.to_owned(), value.to_owned())].into();
    v1::ImportGameRequest { labels, ..of_record(&record) }
}

const THREE_LEFT: &str = "A A E E R R H H C C P P P P P";

#[rstest]
#[case::no_record(of_record("hello"), "record")]
#[case::nothing(of_record(""), "record")]
#[case::illegal(of_record("[RuleSet \"TAIWANESE\"]\n\n1. a1(K) 2. a1-a2\n"), "record")]
#[case::third_general(of_record("[RuleSet \"TAIWANESE\"]\n\n1. a1(K) 2. b1(K)\n"), "record")]
#[case::on_after_the_end(
    of_record(over().to_string() + "3. b1(A)\n"),
    "record"
)]
#[case::another_winner(of_record(over().to_string().replace("\"2,1\"", "\"1,2\"")), "record")]
#[case::another_reason(
    of_record(over().to_string().replace("[Reason \"RESIGNATION\"]", "[Reason \"ALL_CAPTURED\"]")),
    "record"
)]
#[case::another_deal(
    of_record(over().to_string().replace("[Deal \"K A", "[Deal \"A K")),
    "record"
)]
#[case::deal_before_the_end(
    of_record(right_text().replace("\n\n", "\n[Deal \"K\"]\n\n")),
    "record"
)]
#[case::no_such_rules(of_record(right_text().replace("TAIWANESE", "CHESS")), "record")]
#[case::name_that_is_no_id(of_record(right_text().replace("anna", &"a".repeat(300))), "record")]
#[case::too_long(of_record(too_long()), "record")]
#[case::other_preset(v1::ImportGameRequest { preset: "HONG_KONG".to_owned(), ..right() }, "preset")]
#[case::other_rules(
    v1::ImportGameRequest {
        rules: Some(v1::RuleSet { quiet_limit: Some(60), ..Default::default() }),
        ..right()
    },
    "preset"
)]
#[case::other_player(
    v1::ImportGameRequest { seats: seats("bert", ""), ..right() },
    "seats[0].player_id"
)]
#[case::too_many_seats(
    v1::ImportGameRequest { seats: [seats("", ""), seats("", "")].concat(), ..right() },
    "seats"
)]
#[case::other_label(labelled("Event", "another"), "labels[Event]")]
#[case::hidden_besides_a_deal(
    v1::ImportGameRequest { hidden: "K".to_owned(), ..of_record(over()) },
    "hidden"
)]
#[case::too_few_hidden(v1::ImportGameRequest { hidden: "P P".to_owned(), ..right() }, "hidden")]
#[case::hidden_that_was_turned_up(
    v1::ImportGameRequest {
        hidden: format!("K {} k {}", &THREE_LEFT[4..], THREE_LEFT[4..].to_lowercase()),
        ..right()
    },
    "hidden"
)]
#[case::no_piece(v1::ImportGameRequest { hidden: "Q".to_owned(), ..right() }, "hidden")]
#[tokio::test]
async fn a_record_that_contradicts_itself_or_the_request_is_refused_by_its_field(
    #[case] request: v1::ImportGameRequest,
    #[case] field: &str,
) {
    let world = World::start(Backing::Memory, 1).await;
    let status = import(world.any(), request).await.expect_err("contradictory");
    assert_eq!(bad_fields(&status), [field], "{status:?}");
}

fn right_text() -> String {
    written(&["a1", "a3", "b1"]).0.to_string()
}

/// More entries than a record may have: two pieces that go to and fro, without any limit.
fn too_long() -> String {
    let rules = "TAIWANESE repetition=OFF quiet_limit=0";
    let mut text = format!("[RuleSet \"{rules}\"]\n[Position \"7k/8/8/K7 1 r,b - 0 1\"]\n\n");
    for (turn, action) in (1..=20_001).zip(["a1-a2", "h4-h3", "a2-a1", "h3-h4"].iter().cycle()) {
        text.push_str(&format!("{turn}. {action}\n"));
    }
    text
}

#[rstest]
#[case::too_few_hidden(&[("a1", "P"), ("b1", "?"), ("c1", "?")], "k", &["hidden"])]
#[case::hidden_for_nothing(&[("a1", "P"), ("b1", "?k")], "k", &["hidden"])]
#[case::no_piece(&[("a1", "P"), ("b1", "?")], "q", &["hidden"])]
#[case::two_generals(&[("a1", "K"), ("b1", "k"), ("c1", "K")], "", &["board.cells"])]
#[case::hidden_second_general(&[("a1", "K"), ("b1", "k"), ("c1", "?")], "K", &["board.cells"])]
#[case::no_such_cell(&[("a1", "K"), ("b1", "?X")], "", &["board.cells"])]
#[case::colour_that_is_not_there(&[("a1", "K"), ("b1", "+k")], "", &["board.cells"])]
#[tokio::test]
async fn a_board_that_cannot_be_is_refused_by_its_field(
    #[case] pieces: &[(&str, &str)],
    #[case] hidden: &str,
    #[case] fields: &[&str],
) {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::ImportGameRequest {
        hidden: hidden.to_owned(),
        ..of_board(board(&cells(pieces), 1, &["r", "b"]))
    };
    let status = import(world.any(), request).await.expect_err("no such board");
    assert_eq!(bad_fields(&status), fields, "{status:?}");
}

#[rstest]
#[case::no_start(v1::ImportGameRequest::default(), &["deal"])]
#[case::no_cells(of_board(v1::Board::default()), &["board.cells", "board.to_move"])]
#[case::seat_that_is_not_there(
    of_board(board(&cells(&[("a1", "K"), ("b1", "k")]), 3, &["r", "b"])),
    &["board.to_move"]
)]
#[case::no_colours(of_board(board(&cells(&[("a1", "K"), ("b1", "k")]), 1, &[])), &["board.colours"])]
#[case::one_colour_twice(
    of_board(board(&cells(&[("a1", "K"), ("b1", "k")]), 1, &["r", "r"])),
    &["board.colours"]
)]
#[case::no_colour(
    of_board(board(&cells(&[("a1", "K"), ("b1", "k")]), 1, &["r", "x"])),
    &["board.colours[1]"]
)]
#[case::quiet_too_long(
    of_board(v1::Board {
        quiet_turns: 70_000,
        ..board(&cells(&[("a1", "K"), ("b1", "k")]), 1, &["r", "b"])
    }),
    &["board.quiet_turns"]
)]
#[case::hidden_besides_a_deal(
    v1::ImportGameRequest {
        hidden: "K".to_owned(),
        start: Some(Start::Deal(begun(&[]).1.to_string())),
        ..Default::default()
    },
    &["hidden"]
)]
#[tokio::test]
async fn a_start_that_cannot_be_is_refused_by_its_field(
    #[case] request: v1::ImportGameRequest,
    #[case] fields: &[&str],
) {
    let world = World::start(Backing::Memory, 1).await;
    let status = import(world.any(), request).await.expect_err("no such start");
    assert_eq!(bad_fields(&status), fields, "{status:?}");
}
