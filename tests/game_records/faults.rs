//! Records that are none, and records that the rules contradict.

use banqi::rules::{Deal, GameRecord, HeaderError, Preset, Scribe, Seat};
use rstest::rstest;

const HEAD: &str = "[RuleSet \"TAIWANESE\"]\n";

#[rstest]
#[case("", "the header `RuleSet` is missing: expected a preset")]
#[case("[RuleSet \"CHESS\"]\n", "line 1, RuleSet `CHESS`: expected a preset and the fields that")]
#[case("[RuleSet \"TCGA\"\n", "line 1, header `[RuleSet \"TCGA\"`: expected `[Name \"value\"]`")]
#[case("[Rule Set \"TCGA\"]\n", "line 1, header ")]
#[case("[RuleSet \"TCGA\\\"]\n", "line 1, header ")]
#[case("[RuleSet \"TCGA\"]\n[RuleSet \"TCGA\"]\n", "line 2, RuleSet `TCGA`: expected each header")]
#[case("[RuleSet \"TCGA\"]\n1. b3(k)\n", "line 2, line `1. b3(k)`: expected a blank line")]
#[case("HEAD[Notation \"CDC\"]\n", "line 2, Notation `CDC`: expected no such header in a game")]
#[case("HEAD[Seat3 \"ana\"]\n", "line 2, Seat3 `ana`: expected a seat from 1 to 2")]
#[case("HEAD[Seat0 \"ana\"]\n", "line 2, Seat0 `ana`: expected a seat from 1 to 2")]
#[case("HEAD[Created \"yesterday\"]\n", "line 2, Created `yesterday`: expected a time in UTC")]
#[case("HEAD[Created \"2024-13-01T00:00:00Z\"]\n", "line 2, Created ")]
#[case("HEAD[Result \"1,2\"]\n", "line 2, Result `1,2`: expected a header `Reason` as well")]
#[case("HEAD[Reason \"TIMEOUT\"]\n", "line 2, Reason `TIMEOUT`: expected a header `Result`")]
#[case("HEAD[Result \"1,3\"]\n[Reason \"TIMEOUT\"]\n", "line 2, Result `1,3`: expected the places")]
#[case("HEAD[Result \"01,2\"]\n[Reason \"TIMEOUT\"]\n", "line 2, Result `01,2`: ")]
#[case(
    "HEAD[Result \"1\"]\n[Reason \"TIMEOUT\"]\n",
    "line 2, Result `1`: expected the places of 2"
)]
#[case("HEAD[Result \"-\"]\n[Reason \"TIMEOUT\"]\n", "line 2, Result `-`: expected the places")]
#[case("HEAD[Result \"1,2\"]\n[Reason \"ABORTED\"]\n", "line 2, Result `1,2`: expected `-`")]
#[case("HEAD[Result \"1,2\"]\n[Reason \"LUCK\"]\n", "line 3, Reason `LUCK`: expected one of ALL_")]
#[case("HEAD[Deal \"K\"]\n", "line 2, Deal `K`: expected no deal of a game that goes on")]
#[case(
    "HEAD[Result \"1,2\"]\n[Reason \"TIMEOUT\"]\n[Deal \"K\"]\n",
    "line 4, Deal `K`: expected a deal of the start, but a deal on this board has 32 pieces"
)]
#[case("HEAD[Position \"8/8/8/8\"]\n", "line 2, Position `8/8/8/8`: expected a position of this")]
#[case(
    "HEAD[Position \"8/8/8/Kk6 1 r,b - 0 0\"]\n",
    "line 2, Position `8/8/8/Kk6 1 r,b - 0 0`: expected a position of this rule set, but turn_number"
)]
#[case(
    "HEAD[Position \"XXXXXXXX/XXXXXXXX/XXXXXXXX/XXXXXXXX 1 -,- K1A2E2R2H2C2P5k1a2e2r2h2c2p5 0 1\"]\n",
    "line 2, Position "
)]
#[case("HEAD\nb3(k)\n", "line 3, word `b3(k)`: expected the number of the turn, `1.`")]
#[case("HEAD\n2. b3(k)\n", "line 3, turn number `2.`: expected `1.`")]
#[case("HEAD\n1. b3(k) 3. b4(k)\n", "line 3, turn number `3.`: expected `2.`")]
#[case("HEAD\n01. b3(k)\n", "line 3, turn number `01.`: expected `1.`")]
#[case("HEAD\n1. 2. b3(k)\n", "line 3, word `2.`: expected what happened in turn 1")]
#[case("HEAD\n1. b3(k)\n2.\n", "line 4, turn number `2.`: expected what happened in turn 2")]
#[case("HEAD\n1. b3\n", "line 3, record `b3`: expected a record of an action, like `b3(k)`")]
#[case(
    "HEAD\n1. 3!TIMEOUT\n",
    "line 3, leaving `3!TIMEOUT`: expected a seat from 1 to 2, `!`, and"
)]
#[case("HEAD\n1. 1!AGREEMENT\n", "line 3, leaving `1!AGREEMENT`: expected a seat from 1 to 2")]
fn a_text_that_is_no_record_is_refused(#[case] text: &str, #[case] told: &str) {
    let text = text.replace("HEAD", HEAD);
    let fault = text.parse::<GameRecord>().expect_err(&text).to_string();
    assert!(fault.starts_with(told), "{fault}");
}

#[rstest]
#[case("\n1. b3(k) 2. b3-b4", "turn 2, `b3-b4`: the piece on b3 is not the seat's own")]
#[case("\n1. b3(k) 2. b4(k)", "turn 2, `b4(k)`: the deal has k on b4, but none of it is face down")]
#[case("\n1. b3(p) 2. b4(K) 3. b3-b4", "turn 3, `b3-b4`: by the rules it was `b3xb4`")]
#[case("\n1. b3(p) 2. b4(K) 3. b3xb4(K)", "turn 3, `b3xb4(K)`: by the rules it was `b3xb4`")]
#[case("\n1. b3(k) b4(K)", "turn 1, `b4(K)`: by the rules it belongs to turn 2")]
#[case(
    "\n1. 1!TIMEOUT",
    "the headers `Result` and `Reason` say that the game goes on, but by the "
)]
#[case(
    "[Result \"1,2\"]\n[Reason \"TIMEOUT\"]\n\n1. 1!TIMEOUT",
    "the headers `Result` and `Reason` say that it ended `1,2` by TIMEOUT, but by the rules that \
     it ended `2,1` by TIMEOUT"
)]
#[case(
    "[Result \"2,1\"]\n[Reason \"TIMEOUT\"]\n\n1. 1!TIMEOUT 2. b3(k)",
    "turn 2, `b3(k)`: the game is over"
)]
#[case(
    "[Result \"2,1\"]\n[Reason \"TIMEOUT\"]\n\n1. 1!TIMEOUT 2!TIMEOUT",
    "turn 1, `2!TIMEOUT`: the seat is not in the game, or the game is over"
)]
#[case(
    "[Result \"1,1\"]\n[Reason \"AGREEMENT\"]\n[Deal \"K A A E E R R H H C C P P P P P k a a e e r r h h c c p p p p p\"]\n\n1. b1(k)",
    "turn 1, `b1(k)`: the header `Deal` has A on b1"
)]
fn a_record_that_the_rules_contradict_is_refused(#[case] text: &str, #[case] told: &str) {
    let record: GameRecord = format!("{HEAD}{text}").parse().expect("a record by its form");
    let fault = record.replay().expect_err(text).to_string();
    assert!(fault.starts_with(told), "{fault}");
}

#[test]
fn what_was_turned_up_by_an_aim_must_be_said() {
    let text = "[RuleSet \"TAIWANESE face_down=PROBE\"]\n\n1. b3(k) 2. h1(P) 3. b3xb4\n";
    let fault = text.parse::<GameRecord>().expect("a record").replay().expect_err("unsaid");
    assert_eq!(fault.to_string(), "turn 3, `b3xb4`: expected in brackets what was turned up on b4");
}

#[test]
fn unknown_headers_are_kept_and_written_after_the_others() {
    let text = "[Event \"a \\\"b\\\" \\\\c\"]\n[RuleSet \"TCGA\"]\n[Seat01 \"x\"]\n\n1. b3(k)\n";
    let record: GameRecord = text.parse().expect("a record");
    let headers: Vec<_> = record.other_headers().collect();
    assert_eq!(headers, [("Event", "a \"b\" \\c"), ("Seat01", "x")]);
    assert_eq!(
        record.to_string(),
        "[RuleSet \"TCGA\"]\n[Event \"a \\\"b\\\" \\\\c\"]\n[Seat01 \"x\"]\n\n1. b3(k)\n"
    );
}

#[test]
fn headers_that_could_not_be_read_again_are_refused() {
    let scribe = Scribe::new(&Preset::Taiwanese.rules(), None);
    let mut record = scribe.clone().into_record();
    let seat3 = Seat::new(3).expect("seat 3");
    assert!(matches!(record.name_seat(seat3, "ana"), Err(HeaderError::NoSuchSeat { .. })));
    assert!(matches!(record.name_seat(Seat::FIRST, "a\nb"), Err(HeaderError::Value { .. })));
    assert!(matches!(record.set_header("Seat1", "ana"), Err(HeaderError::Known(_))));
    assert!(matches!(record.set_header("A B", "ana"), Err(HeaderError::Name(_))));
    assert!(matches!(record.set_created("now"), Err(HeaderError::Created(_))));
    let text = "K A A E E R R H H C C P P P P P k a a e e r r h h c c p p p p p";
    let deal = Deal::parse(record.rules().board_size(), text).expect("a deal");
    assert_eq!(record.reveal(deal.clone()), Err(HeaderError::DealBeforeTheEnd));
    let mut ended = scribe;
    ended.agree();
    assert_eq!(ended.into_record().reveal(deal), Ok(()));
}

#[test]
fn a_deal_that_the_start_cannot_have_is_refused() {
    let head = "[RuleSet \"TAIWANESE\"]\n[Position \"8/8/8/KXk5 1 r,b p1 0 1\"]\n\
                [Result \"1,1\"]\n[Reason \"AGREEMENT\"]\n";
    let rest = " .".repeat(29);
    let read = |deal: &str| format!("{head}[Deal \"{deal}{rest}\"]\n").parse::<GameRecord>();
    assert!(read(". p .").is_ok());
    for (deal, told) in [
        (". P .", "the deal has 1 of P, but 0 of it lie face down"),
        (". . .", "the deal has nothing on b1, but a piece lies face down there"),
        ("K p .", "the deal has K on a1, but nothing lies face down there"),
        (". z .", "piece 2 of the deal: `z` is no piece"),
        (".  p .", "pieces and `.` split by single blanks"),
    ] {
        let fault = read(deal).expect_err(deal).to_string();
        assert!(fault.contains(told), "{fault}");
    }
}
