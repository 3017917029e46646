//! The text forms of `docs/RULES.md` §9: whatever the text, reading it does not panic, and what is
//! read prints back as the same text.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use banqi::rules::{
    Action, BoardSize, Deal, Ladder, Layout, Piece, Preset, Record, Referee, Setup, Square,
};
use proptest::prelude::*;
use rstest::rstest;

fn prints_back<T: FromStr + Display>(text: &str) -> Result<(), TestCaseError> {
    if let Ok(value) = text.parse::<T>() {
        prop_assert_eq!(value.to_string(), text);
    }
    Ok(())
}

/// Texts of the alphabet that all forms are written in, so that many nearly parse.
fn near_text() -> impl Strategy<Value = String> {
    "[a-i][0-9][-x?#*(]?([a-h][1-8])?(\\(\\+?[KAERHCPkaerhcp]\\))?|[a-hKAEX1-8+/ ,*!-]{0,40}|\\PC{0,40}"
}

fn position_text() -> impl Strategy<Value = String> {
    let rank = "[KAERHCPkaerhcpX1-8]{1,8}|8|XXXXXXXX|3\\+KX3";
    let count = prop_oneof![3 => Just(4), 3 => Just(8), 1 => 1..10usize];
    let ranks = count.prop_flat_map(move |count| proptest::collection::vec(rank, count));
    let seat = "[1-4](\\*[a-h][1-8])?";
    let colours = "r,b|b,r|-,-|ru,bg|bg,ru|r,b!,u,g|-,-,-,-|[rbug!,-]{0,9}";
    let face_down = "-|k1|K1A2|\\+k1|([KAEkae][0-9]{1,3}){1,4}";
    let number = "[0-9]{1,3}|4294967295|65535|99999999999";
    (ranks, seat, colours, face_down, number, number).prop_map(
        |(ranks, seat, colours, face_down, quiet, turn)| {
            format!("{} {seat} {colours} {face_down} {quiet} {turn}", ranks.join("/"))
        },
    )
}

fn cells() -> impl Strategy<Value = String> {
    let cell = prop_oneof![6 => "\\.", 2 => "[KAERHCPkaerhcp]", 1 => "\\?[KAERHCPkaerhcp]"];
    let count = prop_oneof![8 => Just(32), 1 => 0..70usize];
    count
        .prop_flat_map(move |count| proptest::collection::vec(cell.clone(), count))
        .prop_map(|cells| cells.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn short_forms(text in near_text()) {
        prints_back::<Square>(&text)?;
        prints_back::<Piece>(&text)?;
        prints_back::<Action>(&text)?;
        prints_back::<Record>(&text)?;
        prints_back::<Setup>(&text)?;
        let _ = Deal::parse(BoardSize::Single, &text);
        let _ = Layout::parse(BoardSize::Double, &text);
        if let Ok(ladder) = text.parse::<Ladder>() {
            prop_assert_eq!(ladder.to_string(), text.replace(' ', ""));
        }
    }

    /// What is read and found legal is played on, as far as it goes.
    #[test]
    fn positions(text in position_text(), preset in 0..Preset::ALL.len()) {
        prints_back::<Setup>(&text)?;
        let rules = Preset::ALL[preset].rules();
        if let Ok(setup) = text.parse::<Setup>()
            && let Ok(position) = setup.into_position(&rules)
        {
            prop_assert_eq!(position.to_string(), text);
            play_each_action(&Referee::from_position(&rules, position));
        }
    }

    #[test]
    fn boards(text in cells(), preset in 0..8usize, to_move in 1..=2u8, quiet in 0..200u16) {
        use banqi::rules::{Colour, ColourSet, Seat};
        let rules = Preset::ALL[preset].rules();
        if let Ok(layout) = Layout::parse(BoardSize::Single, &text) {
            let colours = [Colour::Red, Colour::Black].map(ColourSet::of);
            let setup = layout.setup(Seat::new(to_move).expect("a seat"), &colours, quiet);
            prints_back::<Setup>(&setup.to_string())?;
            if let Ok(position) = setup.into_position(&rules) {
                play_each_action(&Referee::from_position(&rules, position));
            }
        }
    }
}

/// Plays each legal action with the first piece that may lie there.
fn play_each_action(referee: &Referee) {
    let hidden = referee.position().face_down().iter().next().map(|(piece, _)| piece);
    for &action in referee.legal_actions().iter() {
        let mut next = referee.clone();
        let record = next.play(action, |_| hidden);
        assert!(record.is_ok(), "{action} in {}: {record:?}", referee.position());
    }
}

fn refuses<T: FromStr<Err: Display> + Debug>(text: &str) {
    let fault = text.parse::<T>().expect_err("must be refused").to_string();
    assert!(fault.contains(text), "the message does not show `{text}`: {fault}");
}

#[rstest]
#[case("")]
#[case("a")]
#[case("a9")]
#[case("a0")]
#[case("i1")]
#[case("A1")]
#[case(" a1")]
#[case("a1 ")]
#[case("a1-")]
#[case("a1-a1")]
#[case("a1-b")]
#[case("a1a2")]
#[case("a1xa2")]
#[case("End")]
fn texts_that_are_no_action(#[case] text: &str) {
    refuses::<Action>(text);
}

#[rstest]
#[case("a1")]
#[case("a1()")]
#[case("a1(x)")]
#[case("a1(K")]
#[case("a1(K))")]
#[case("a1-a2(K)")]
#[case("a1?a2")]
#[case("a1#a2")]
#[case("a1xa1")]
#[case("a1+a2")]
#[case("a1éa2")]
#[case("end(K)")]
fn texts_that_are_no_record(#[case] text: &str) {
    refuses::<Record>(text);
}

const START: &str = "XXXXXXXX/XXXXXXXX/XXXXXXXX/XXXXXXXX 1 -,- K1A2E2R2H2C2P5k1a2e2r2h2c2p5 0 1";

#[test]
fn the_start_reads_as_in_the_rules() {
    let rules = Preset::Taiwanese.rules();
    assert_eq!(Referee::new(&rules).position().to_string(), START);
    let position = START.parse::<Setup>().expect("it reads").into_position(&rules);
    assert_eq!(position.expect("it is legal").to_string(), START);
}

#[rstest]
#[case::two_blanks("8/8/8/K6r  1 r,b - 0 1")]
#[case::nine_files("8/8/8/K7r 1 r,b - 0 1")]
#[case::digits_that_could_be_one("8/8/8/K33r 1 r,b - 0 1")]
#[case::five_ranks("8/8/8/8/K6r 1 r,b - 0 1")]
#[case::no_such_seat("8/8/8/K6r 5 r,b - 0 1")]
#[case::a_leading_zero("8/8/8/K6r 1 r,b - 00 1")]
#[case::a_plus("8/8/8/K6r 1 r,b - 0 +1")]
#[case::three_seats("8/8/8/K6r 1 r,b,u - 0 1")]
#[case::counts_out_of_order("8/8/8/K5Xr 1 r,b k1A1 0 1")]
#[case::a_count_of_none("8/8/8/K6r 1 r,b k0 0 1")]
#[case::an_alliance_turned_round("8/8/8/8/8/8/8/K6r 1 ur,bg - 0 1")]
#[case::a_number_too_large("8/8/8/K6r 1 r,b - 65536 1")]
fn texts_that_are_no_position(#[case] text: &str) {
    assert!(text.parse::<Setup>().is_err(), "{text}");
}

/// Well-formed, but no legal position (`docs/RULES.md` §9, "Refused").
#[rstest]
#[case::fewer_face_down_than_counted("8/8/8/K5Xr 1 r,b - 0 1", "face_down")]
#[case::more_face_down_than_counted("8/8/8/K6r 1 r,b p1 0 1", "face_down")]
#[case::two_generals("8/8/8/KK5r 1 r,b - 0 1", "ranks")]
#[case::two_generals_one_face_down("8/8/8/K5Xr 1 r,b K1 0 1", "ranks")]
#[case::a_piece_of_the_other_set("8/8/8/+K6r 1 r,b - 0 1", "ranks")]
#[case::a_colour_held_twice("8/8/8/K6r 1 r,r - 0 1", "colours")]
#[case::face_up_without_colours("8/8/8/K6r 1 -,- - 0 1", "colours")]
#[case::one_colour_alone("8/8/8/K6r 1 r,- - 0 1", "colours")]
#[case::two_seats_one_out("8/8/8/K6r 1 r,b! - 0 1", "colours")]
#[case::a_seat_too_many("8/8/8/K6r 3 r,b - 0 1", "to_move")]
#[case::a_chain_under_other_rules("8/8/8/Kr6 1*a1 r,b - 0 1", "chain")]
#[case::turn_zero("8/8/8/K6r 1 r,b - 0 0", "turn_number")]
fn positions_that_are_not_legal(#[case] text: &str, #[case] part: &str) {
    let setup: Setup = text.parse().expect("well-formed");
    let faults = setup.into_position(&Preset::Taiwanese.rules()).expect_err("must be refused");
    assert!(faults.iter().any(|fault| fault.part == part), "{faults:?}");
}

#[rstest]
#[case::further_capture("8/8/8/Rr6 1*a1 r,b - 0 1", true)]
#[case::no_further_capture("8/8/8/R1r5 1*a1 r,b - 0 1", false)]
#[case::anothers_piece("8/8/8/Rr6 1*b1 r,b - 0 1", false)]
#[case::an_empty_square("8/8/8/Rr6 1*c1 r,b - 0 1", false)]
fn a_chain_needs_a_further_capture(#[case] text: &str, #[case] legal: bool) {
    let setup: Setup = text.parse().expect("well-formed");
    assert_eq!(setup.into_position(&Preset::TaiwaneseChain.rules()).is_ok(), legal);
}

/// The greatest numbers that a text can have are played on from like any others.
#[test]
fn the_last_turn_number_does_not_overflow() {
    let rules = Preset::Taiwanese.rules();
    let setup: Setup = "8/8/8/K6r 1 r,b - 0 4294967295".parse().expect("well-formed");
    if let Ok(position) = setup.into_position(&rules) {
        play_each_action(&Referee::from_position(&rules, position));
    }
}

#[rstest]
#[case::too_short("K k", "2")]
#[case::no_piece("K x", "piece 2")]
fn deals_that_are_none(#[case] text: &str, #[case] told: &str) {
    let fault = Deal::parse(BoardSize::Single, text).expect_err("must be refused").to_string();
    assert!(fault.contains(told), "{fault}");
}

#[test]
fn a_deal_prints_back_and_does_not_show_itself_in_debug_output() {
    let pieces = banqi::rules::full_set(BoardSize::Double);
    let deal = Deal::from_pieces(BoardSize::Double, &pieces).expect("a full deal");
    let text = deal.to_string();
    assert_eq!(Deal::parse(BoardSize::Double, &text), Ok(deal.clone()));
    let shown = format!("{deal:?} {deal:#?}");
    assert!(!shown.contains("+K") && !shown.contains("K A"), "{shown}");
    let swapped = text.replacen('K', "A", 1);
    assert!(Deal::parse(BoardSize::Double, &swapped).is_err(), "a general short");
}
