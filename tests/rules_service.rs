//! `banqi.v1.RulesService` over real gRPC: what it answers, and how it refuses.

mod support;

use banqi::api::MAX_ACTIONS;
use banqi::api::proto::v1;
use banqi::api::proto::v1::analyze_position_request::Start as From;
use banqi::api::proto::v1::replay_game_request::Start;
use banqi::rules::{BoardSize, EndReason, Preset, full_set};
use rstest::rstest;
use support::{TestServer, bad_fields, board, cells, refusal};
use tonic::{Code, Status};

const START: &str = "XXXXXXXX/XXXXXXXX/XXXXXXXX/XXXXXXXX 1 -,- \
                     K1A2E2R2H2C2P5k1a2e2r2h2c2p5 0 1";

/// The unshuffled deal of the single board.
fn deal() -> String {
    let pieces: Vec<_> = full_set(BoardSize::Single).iter().map(ToString::to_string).collect();
    pieces.join(" ")
}

async fn check(preset: &str, rules: v1::RuleSet) -> Result<v1::RuleSet, Status> {
    let request = v1::CheckRuleSetRequest { preset: preset.to_owned(), rules: Some(rules) };
    let server = TestServer::start().await;
    let response = server.rules().await.check_rule_set(request).await?;
    Ok(response.into_inner().rules.expect("a rule set"))
}

async fn analyze(preset: &str, start: Option<From>) -> Result<v1::AnalyzePositionResponse, Status> {
    let request = v1::AnalyzePositionRequest { preset: preset.to_owned(), rules: None, start };
    let server = TestServer::start().await;
    Ok(server.rules().await.analyze_position(request).await?.into_inner())
}

async fn replay(request: v1::ReplayGameRequest) -> Result<v1::ReplayGameResponse, Status> {
    let server = TestServer::start().await;
    Ok(server.rules().await.replay_game(request).await?.into_inner())
}

fn game(preset: &str, start: Start, actions: &str) -> v1::ReplayGameRequest {
    v1::ReplayGameRequest {
        preset: preset.to_owned(),
        rules: None,
        start: Some(start),
        actions: actions.split_ascii_whitespace().map(str::to_owned).collect(),
    }
}

#[tokio::test]
async fn every_preset_is_listed_and_spelled_out() {
    let server = TestServer::start().await;
    let mut client = server.rules().await;
    let listed = client.list_presets(v1::ListPresetsRequest {}).await.expect("presets");
    let listed = listed.into_inner().presets;
    let names: Vec<_> = listed.iter().map(|preset| preset.name.as_str()).collect();
    assert_eq!(names, Preset::ALL.map(Preset::name));
    for preset in listed {
        let request = v1::CheckRuleSetRequest { preset: preset.name, rules: None };
        let checked = client.check_rule_set(request).await.expect("a rule set").into_inner();
        assert_eq!(checked.rules, preset.rules);
    }
}

#[tokio::test]
async fn a_rule_set_is_its_preset_with_the_given_fields_changed() {
    let changes = v1::RuleSet {
        quiet_limit: Some(7),
        cannon: Some(v1::CannonRule::JumpAny.into()),
        chain: Some(false),
        ..Default::default()
    };
    let expected = v1::RuleSet {
        ladder: Some("KAERHCP".to_owned()),
        cannon: Some(v1::CannonRule::JumpAny.into()),
        equals: Some(v1::EqualsRule::Take.into()),
        face_down: Some(v1::FaceDownRule::Probe.into()),
        chain: Some(false),
        chariot: Some(v1::ChariotRule::ChargeAny.into()),
        horse: Some(v1::HorseRule::Diagonal.into()),
        quiet_limit: Some(7),
        repetition: Some(v1::RepetitionRule::Draw.into()),
        repetition_count: Some(3),
        chase_limit: Some(0),
        board: Some(v1::BoardRule::Single.into()),
        seats: Some(2),
    };
    assert_eq!(check("TAIWANESE_DARK_CHAIN", changes).await.expect("a rule set"), expected);
}

#[tokio::test]
async fn no_preset_means_the_taiwanese_one() {
    let unnamed = check("", v1::RuleSet::default()).await.expect("a rule set");
    let named = check("TAIWANESE", v1::RuleSet::default()).await.expect("a rule set");
    assert_eq!(unnamed, named);
}

#[tokio::test]
async fn all_faults_of_a_rule_set_are_told_at_once() {
    let changes = v1::RuleSet {
        ladder: Some("KAERHC".to_owned()),
        cannon: Some(99),
        horse: Some(v1::HorseRule::Unspecified.into()),
        quiet_limit: Some(0),
        repetition_count: Some(11),
        chase_limit: Some(101),
        seats: Some(3),
        ..Default::default()
    };
    let status = check("CHESS", changes).await.expect_err("faults");
    let mut named = bad_fields(&status);
    named.sort();
    let expected = [
        "preset",
        "rules.cannon",
        "rules.chase_limit",
        "rules.horse",
        "rules.ladder",
        "rules.quiet_limit",
        "rules.repetition_count",
        "rules.seats",
    ];
    assert_eq!(named, expected);
}

#[tokio::test]
async fn four_seats_need_the_double_board() {
    let changes = v1::RuleSet { seats: Some(4), ..Default::default() };
    let status = check("TAIWANESE", changes).await.expect_err("a fault");
    assert_eq!(bad_fields(&status), ["rules.seats"]);
}

#[tokio::test]
async fn the_start_may_only_be_flipped() {
    let answer = analyze("", Some(From::Position(START.to_owned()))).await.expect("an answer");
    let position = answer.position.expect("a position");
    assert_eq!(position.text, START);
    assert_eq!(position.cells, [i32::from(v1::Cell::FaceDown); 32]);
    assert_eq!((position.to_move, position.turn_number, position.quiet_turns), (1, 1, 0));
    assert_eq!(position.face_down.iter().map(|count| count.count).sum::<u32>(), 32);
    assert_eq!(position.captured, []);
    assert_eq!(position.chain_from(), v1::Square::Unspecified);
    let seat = |number| v1::SeatState { number, colours: Vec::new(), out: false };
    assert_eq!(position.seats, [seat(1), seat(2)]);
    assert_eq!(answer.legal_actions.len(), 32);
    let first = &answer.legal_actions[0];
    let structured = (first.kind(), first.from(), first.to());
    assert_eq!(first.text, "a1");
    assert_eq!(structured, (v1::ActionKind::Flip, v1::Square::A1, v1::Square::Unspecified));
    assert_eq!((answer.result, answer.departures), (None, Vec::new()));
}

#[tokio::test]
async fn legal_actions_tell_moves_captures_and_aims_apart() {
    let cells = cells(&[("a1", "R"), ("b1", "p"), ("a2", "?k")]);
    let start = From::Board(board(&cells, 1, &["r", "b"]));
    let answer = analyze("TAIWANESE_DARK_CHAIN", Some(start)).await.expect("an answer");
    let mut kinds: Vec<_> =
        answer.legal_actions.iter().map(|action| (action.text.as_str(), action.kind())).collect();
    kinds.sort_by_key(|(text, _)| *text);
    let expected = [
        ("a1-a2", v1::ActionKind::Aim),
        ("a1-b1", v1::ActionKind::Capture),
        ("a2", v1::ActionKind::Flip),
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test]
async fn seats_without_colours_are_left_empty() {
    let cells = cells(&[("a1", "?K"), ("b1", "?k")]);
    let mut positions = Vec::new();
    for colours in [&[][..], &["", ""], &["-", "-"]] {
        let start = From::Board(board(&cells, 1, colours));
        let answer = analyze("", Some(start)).await.expect("an answer");
        positions.push(answer.position.expect("a position"));
    }
    assert_eq!(positions[0].text, "8/8/8/XX6 1 -,- K1k1 0 1");
    assert!(positions.iter().all(|position| *position == positions[0]));
}

#[tokio::test]
async fn a_position_that_ends_the_game_says_how() {
    let cells = cells(&[("a1", "R")]);
    let start = From::Board(board(&cells, 1, &["r", "b"]));
    let answer = analyze("", Some(start)).await.expect("an answer");
    let result = answer.result.expect("a result");
    assert_eq!(result.winners, [1]);
    assert_eq!(result.reason(), v1::EndReason::AllCaptured);
    let place = |seat, place| v1::Placement { seat, place };
    assert_eq!(result.placements, [place(1, 1), place(2, 2)]);
    assert_eq!(answer.legal_actions, []);
    let reason = v1::EndReason::from(EndReason::AllCaptured).into();
    assert_eq!(answer.departures, [v1::Departure { seat: 2, reason }]);
}

#[rstest]
#[case::no_start(None, "position")]
#[case::text(Some(From::Position("nonsense".to_owned())), "position")]
#[case::count(Some(From::Position(START.replace("K1", "K2"))), "position")]
#[case::cells(Some(From::Board(board("K", 1, &["r", "b"]))), "board.cells")]
#[case::letter(Some(From::Board(board(&cells(&[("a1", "Q")]), 1, &["r", "b"]))), "board.cells")]
#[case::too_many(
    Some(From::Board(board(&cells(&[("a1", "K"), ("a2", "?K")]), 1, &["r", "b"]))),
    "board.cells"
)]
#[case::seat(Some(From::Board(board(&cells(&[("a1", "K")]), 3, &["r", "b"]))), "board.to_move")]
#[case::no_seat(Some(From::Board(board(&cells(&[("a1", "K")]), 0, &["r", "b"]))), "board.to_move")]
#[case::letters(
    Some(From::Board(board(&cells(&[("a1", "K")]), 1, &["r", "x"]))),
    "board.colours[1]"
)]
#[case::twice(Some(From::Board(board(&cells(&[("a1", "K")]), 1, &["r", "r"]))), "board.colours")]
#[case::nobody(Some(From::Board(board(&cells(&[("a1", "K")]), 1, &[]))), "board.colours")]
#[case::quiet(
    Some(From::Board(v1::Board { quiet_turns: 70_000, ..board(&cells(&[("a1", "K")]), 1, &["r", "b"]) })),
    "board.quiet_turns"
)]
#[tokio::test]
async fn a_malformed_start_is_named(#[case] start: Option<From>, #[case] field: &str) {
    let status = analyze("", start).await.expect_err("a fault");
    let named = bad_fields(&status);
    assert!(named.iter().all(|named| named == field), "{named:?}");
}

#[tokio::test]
async fn a_game_is_played_and_told() {
    let cells = cells(&[
        ("a1", "R"),
        ("b1", "p"),
        ("d1", "?h"),
        ("a4", "k"),
        ("h4", "C"),
        ("h3", "?P"),
        ("h2", "?a"),
    ]);
    let start = Start::Board(board(&cells, 1, &["r", "b"]));
    let actions = "a1-b1 b1-d1 a4-b4 h4-h2 b4-a4 h3 a4-b4 d1-d2 end";
    let answer = replay(game("TAIWANESE_DARK_CHAIN", start, actions)).await.expect("an answer");

    let texts: Vec<_> = answer.records.iter().map(|record| record.text.as_str()).collect();
    let expected = ["a1xb1", "b1xd1(h)", "a4-b4", "h4xh2(a)", "b4-a4", "h3(P)", "a4-b4", "d1-d2"];
    assert_eq!(texts, expected);
    assert_eq!(answer.legal_counts.len(), expected.len());

    let piece = |colour: v1::Colour, kind: v1::Kind| {
        Some(v1::Piece { colour: colour.into(), kind: kind.into() })
    };
    let chain = &answer.records[1];
    assert_eq!((chain.seat, chain.turn_number), (1, 1), "the chain is one turn");
    assert_eq!(chain.kind(), v1::RecordKind::Capture);
    assert_eq!((chain.from(), chain.to()), (v1::Square::B1, v1::Square::D1));
    assert_eq!(chain.piece, piece(v1::Colour::Red, v1::Kind::Chariot));
    assert_eq!(chain.turned_up, piece(v1::Colour::Black, v1::Kind::Horse));
    assert_eq!(chain.captured, chain.turned_up);

    let flip = &answer.records[5];
    assert_eq!(flip.kind(), v1::RecordKind::Flip);
    assert_eq!((flip.from(), flip.to()), (v1::Square::H3, v1::Square::Unspecified));
    assert_eq!((flip.piece, flip.captured), (None, None));
    assert_eq!(flip.turned_up, piece(v1::Colour::Red, v1::Kind::Soldier));

    let illegal = answer.illegal.expect("the ninth action is illegal");
    assert_eq!((illegal.index, illegal.reason.as_str()), (8, "NO_CHAIN"));
    assert_eq!(answer.result, None);
    assert_eq!(answer.final_position, "1k6/7P/3R3C/8 2 r,b - 2 8");
    let texts: Vec<_> = answer.legal_actions.iter().map(|action| action.text.as_str()).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
}

#[tokio::test]
async fn a_game_that_ends_says_how_and_refuses_more() {
    let cells = cells(&[("a1", "R"), ("b1", "p")]);
    let start = Start::Board(board(&cells, 1, &["r", "b"]));
    let answer = replay(game("", start, "a1-b1 b1-b2")).await.expect("an answer");
    assert_eq!(answer.records.len(), 1);
    let result = answer.result.expect("a result");
    assert_eq!(
        (result.winners.as_slice(), result.reason()),
        (&[1][..], v1::EndReason::AllCaptured)
    );
    let illegal = answer.illegal.expect("nothing may follow");
    assert_eq!((illegal.index, illegal.reason.as_str()), (1, "GAME_OVER"));
    assert_eq!(answer.legal_actions, []);
}

/// Red pieces, black ones and a face-down one, as the illegal actions below want them.
const PIECES: [(&str, &str); 7] =
    [("a1", "P"), ("b1", "r"), ("a2", "E"), ("d1", "?c"), ("c1", "C"), ("h4", "H"), ("g4", "?p")];

#[rstest]
#[case("", "a5", "OFF_BOARD")]
#[case("", "b1", "NOT_FACE_DOWN")]
#[case("", "e4", "EMPTY_SQUARE")]
#[case("", "e4-e3", "EMPTY_SQUARE")]
#[case("", "d1-d2", "FACE_DOWN_PIECE")]
#[case("", "b1-b2", "NOT_YOUR_PIECE")]
#[case("", "a1-a2", "OWN_PIECE")]
#[case("", "h4-f4", "OUT_OF_REACH")]
#[case("", "a1-b1", "RANK_TOO_LOW")]
#[case("", "h4-g4", "FACE_DOWN_TARGET")]
#[case("", "end", "NO_CHAIN")]
#[tokio::test]
async fn each_kind_of_illegal_action_has_its_reason(
    #[case] preset: &str,
    #[case] action: &str,
    #[case] reason: &str,
) {
    let start = Start::Board(board(&cells(&PIECES), 1, &["r", "b"]));
    let answer = replay(game(preset, start, action)).await.expect("an answer");
    let illegal = answer.illegal.expect("an illegal action");
    assert_eq!((illegal.index, illegal.reason.as_str()), (0, reason), "{}", illegal.message);
    assert!(!illegal.message.is_empty());
    assert_eq!(answer.records, []);
    assert!(!answer.legal_actions.is_empty());
}

#[tokio::test]
async fn before_colours_are_set_only_flips_are_legal() {
    let answer = replay(game("", Start::Deal(deal()), "a1-a2")).await.expect("an answer");
    assert_eq!(answer.illegal.expect("an illegal action").reason, "COLOURS_NOT_SET");
    assert_eq!(answer.final_position, START);
}

#[rstest]
#[case("a1-b1 h4-h3", "CHAIN_PIECE")]
#[case("a1-b1 b1-b2", "CHAIN_NEEDS_CAPTURE")]
#[tokio::test]
async fn a_chain_goes_on_with_its_piece_alone(#[case] actions: &str, #[case] reason: &str) {
    let cells = cells(&[("a1", "R"), ("b1", "p"), ("c1", "p"), ("h4", "H"), ("h1", "k")]);
    let start = Start::Board(board(&cells, 1, &["r", "b"]));
    let answer = replay(game("TAIWANESE_CHAIN", start, actions)).await.expect("an answer");
    let illegal = answer.illegal.expect("an illegal action");
    assert_eq!((illegal.index, illegal.reason.as_str()), (1, reason), "{}", illegal.message);
    assert_eq!(answer.legal_actions.len(), 2, "capture again, or end the chain");
}

#[tokio::test]
async fn a_chase_over_the_limit_has_its_own_reason() {
    let cells = cells(&[("a1", "R"), ("c2", "h"), ("h4", "k")]);
    let start = Start::Board(board(&cells, 2, &["r", "b"]));
    let rules = Some(v1::RuleSet { chase_limit: Some(1), ..Default::default() });
    let actions = "c2-c1 a1-b1 c1-d1 b1-c1";
    let request = v1::ReplayGameRequest { rules, ..game("", start, actions) };
    let illegal = replay(request).await.expect("an answer").illegal.expect("an illegal action");
    assert_eq!((illegal.index, illegal.reason.as_str()), (3, "CHASE_LIMIT"));
}

#[rstest]
#[case::too_many(format!("{} K", deal()))]
#[case::too_few(deal().replacen("K ", "", 1))]
#[case::twice(deal().replacen('A', "K", 1))]
#[case::no_piece(deal().replacen('A', "Q", 1))]
#[case::second_set(deal().replacen('A', "+A", 1))]
#[case::empty(String::new())]
#[tokio::test]
async fn a_deal_that_is_none_is_refused(#[case] deal: String) {
    let status = replay(game("", Start::Deal(deal), "a1")).await.expect_err("a fault");
    assert_eq!(bad_fields(&status), ["deal"]);
}

#[tokio::test]
async fn every_malformed_field_of_a_game_is_named_at_once() {
    let request = v1::ReplayGameRequest {
        preset: "CHESS".to_owned(),
        rules: Some(v1::RuleSet { board: Some(7), ..Default::default() }),
        start: None,
        actions: ["a1", "z9", "b3-b3", "", "END"].map(str::to_owned).to_vec(),
    };
    let status = replay(request).await.expect_err("faults");
    let expected =
        ["preset", "rules.board", "deal", "actions[1]", "actions[2]", "actions[3]", "actions[4]"];
    assert_eq!(bad_fields(&status), expected);
}

#[tokio::test]
async fn too_many_actions_are_refused() {
    let actions = vec!["a1".to_owned(); MAX_ACTIONS + 1];
    let request = v1::ReplayGameRequest { actions, ..game("", Start::Deal(deal()), "") };
    let status = replay(request).await.expect_err("too many");
    assert_eq!(bad_fields(&status), ["actions"]);
}

#[tokio::test]
async fn a_message_over_the_limit_is_told_as_such() {
    let actions = vec!["a1-a2".repeat(100); 2200];
    let request = v1::ReplayGameRequest { actions, ..game("", Start::Deal(deal()), "") };
    let status = replay(request).await.expect_err("too large");
    let (code, reason, _) = refusal(&status);
    assert_eq!((code, reason.as_str()), (Code::ResourceExhausted, "MESSAGE_TOO_LARGE"));
}
