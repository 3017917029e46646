//! Whole games as tournament records.

use banqi::rules::{CdcRecord, GameRecord, Preset, RuleSet};

use crate::vector_games::games;

#[test]
fn every_game_that_has_the_form_is_read_as_it_was_written() {
    let (mut written, mut refused) = (0, 0);
    for game in games() {
        if CdcRecord::check_rules(game.record.rules()).is_err() {
            assert!(game.record.to_cdc().is_err(), "{}", game.name);
            refused += 1;
            continue;
        }
        let text = game.record.to_cdc().unwrap_or_else(|fault| panic!("{}: {fault}", game.name));
        let read = GameRecord::from_cdc(&text, &RuleSet::TAIWANESE)
            .unwrap_or_else(|fault| panic!("{}: {fault}", game.name));
        assert_eq!(read, game.record, "{}", game.name);
        // Tournament programs write captures as moves; the rules tell them apart.
        let (headers, actions) = text.split_once("\n\n").expect("a blank line");
        let dashes = format!("{headers}\n\n{}", actions.replace(['x', '*'], "-"));
        let read = GameRecord::from_cdc(&dashes, &RuleSet::TAIWANESE).expect("the same game");
        assert_eq!(read, game.record, "{}", game.name);
        written += 1;
    }
    assert!(written > 40 && refused > 40, "{written} written, {refused} refused");
}

#[test]
fn a_game_is_mirrored_on_the_diagonal() {
    let text = "[RuleSet \"TAIWANESE\"]\n\n1. c2(h) 2. h4(A) 3. h1(e)\n";
    let record: GameRecord = text.parse().expect("a record");
    let cdc = "[Notation \"CDC\"]\n[RuleSet \"TAIWANESE\"]\n\n1. b3(n) 2. d8(G) 3. a8(m)\n";
    assert_eq!(record.to_cdc().expect("a tournament record"), cdc);
    assert_eq!(GameRecord::read(cdc, &RuleSet::TAIWANESE), Ok(record.clone()));
    assert_eq!(GameRecord::read(text, &RuleSet::TAIWANESE), Ok(record.clone()));
    // As other programs write it: no headers, a number for a pair of turns.
    let bare = "1. b3(n) d8(G)\r\n2. a8(m)\r\n";
    assert_eq!(GameRecord::read(bare, &RuleSet::TAIWANESE), Ok(record));
    let tcga = GameRecord::read(bare, &Preset::Tcga.rules()).expect("a game");
    assert_eq!(*tcga.rules(), Preset::Tcga.rules());
}

#[test]
fn what_the_rules_contradict_is_refused_with_its_line() {
    for (text, told) in [
        ("1. a1(k)\n2. a1-a2", "line 2, record `a1-a2`: expected a legal action: the piece on"),
        ("1. a1(k) a2(K) 2. a1xb1", "line 1, record `a1xb1`: expected a legal action: "),
        ("1. a1(k) 2. a2(k)", "line 1, record `a2(k)`: expected a legal action: "),
        ("1. a1(h)", "line 1, record `a1(h)`: expected another word: `a1(h)` is no tournament"),
        ("[Notation \"PGN\"]\n\na1(k)", "line 1, Notation `PGN`: expected `CDC`"),
        ("a1(k) 1!LATE", "line 1, leaving `1!LATE`: expected a seat from 1 to 2, `!`, and one of"),
        (
            "[Notation \"CDC\"]\n[RuleSet \"DOUBLE\"]\n\na1(k)",
            "the game has no tournament record: `board` is DOUBLE, but must be SINGLE",
        ),
        (
            "[Result \"1,1\"]\n[Reason \"QUIET_LIMIT\"]\n\na1(k)",
            "the headers `Result` and `Reason` say that it ended `1,1` by QUIET_LIMIT, but by the \
             rules that the game goes on",
        ),
    ] {
        let fault = GameRecord::read(text, &RuleSet::TAIWANESE).expect_err(text).to_string();
        assert!(fault.starts_with(told), "{fault}");
    }
}

#[test]
fn a_cross_without_a_capture_is_refused() {
    let quiet = "a1(k) a2(P) b1(C) a2-a3";
    assert!(GameRecord::read(quiet, &RuleSet::TAIWANESE).is_err());
    let game = "a1(p) b2(P) a2(K) c2(P) a1xa2";
    assert!(GameRecord::read(game, &RuleSet::TAIWANESE).is_ok());
    let fault = GameRecord::read(&game.replace('x', "*"), &RuleSet::TAIWANESE).expect_err("no");
    assert_eq!(fault.to_string(), "line 1, record `a1*a2`: expected what was done, `a1xa2`");
}
