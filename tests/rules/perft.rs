//! Numbers of action sequences, against those in `tests/vectors/README.md`.

use banqi::rules::{Action, BoardSize, Deal, Kind, Preset, Referee};

/// A deal in the letters `K G M R N C P` of the published counts, the top rank first.
const PUBLISHED_DEAL: &str = "pCmCpRNrKPNPnnrPcpRkcgPMgGGpPMpm";

/// That deal in our letters and order.
fn deal() -> Deal {
    let cells: Vec<char> = PUBLISHED_DEAL.chars().collect();
    let ours = |letter: char| {
        let place = "KGMRNCP".find(letter.to_ascii_uppercase()).expect("a letter of the seven");
        let kind = Kind::ALL[place].letter();
        if letter.is_ascii_uppercase() { kind } else { kind.to_ascii_lowercase() }
    };
    let from_the_bottom: Vec<String> =
        cells.chunks(8).rev().flatten().map(|&letter| ours(letter).to_string()).collect();
    Deal::parse(BoardSize::Single, &from_the_bottom.join(" ")).expect("a full deal")
}

/// How many sequences of `depth` actions there are. The last action is counted, not played.
fn with_deal(referee: &Referee, deal: &Deal, depth: u32) -> u64 {
    let actions = referee.legal_actions();
    if depth <= 1 {
        return actions.len() as u64;
    }
    let after = |&action: &Action| {
        let mut next = referee.clone();
        next.play(action, |square| deal.at(square)).expect("a legal action");
        with_deal(&next, deal, depth - 1)
    };
    actions.iter().map(after).sum()
}

/// The same with every flip counted once for each different piece still face down.
fn with_chance(referee: &Referee, depth: u32) -> u64 {
    let hidden: Vec<_> = referee.position().face_down().iter().map(|(piece, _)| piece).collect();
    let actions = referee.legal_actions();
    if depth <= 1 {
        let flips = actions.iter().filter(|action| matches!(action, Action::Flip(_))).count();
        return (actions.len() - flips + flips * hidden.len()) as u64;
    }
    let mut count = 0;
    for &action in actions.iter() {
        let mut after = |piece| {
            let mut next = referee.clone();
            next.play(action, |_| piece).expect("a legal action");
            count += with_chance(&next, depth - 1);
        };
        match action {
            Action::Flip(_) => hidden.iter().for_each(|&piece| after(Some(piece))),
            _ => after(None),
        }
    }
    count
}

fn start() -> Referee {
    Referee::new(&Preset::Taiwanese.rules())
}

#[test]
fn a_fixed_deal_to_depth_5() {
    let counts: Vec<_> = (1..=5).map(|depth| with_deal(&start(), &deal(), depth)).collect();
    assert_eq!(counts, [32, 992, 29_796, 867_360, 24_479_589]);
}

#[test]
fn every_piece_that_a_flip_may_show_to_depth_3() {
    let counts: Vec<_> = (1..=3).map(|depth| with_chance(&start(), depth)).collect();
    assert_eq!(counts, [448, 192_448, 78_989_568]);
}

#[test]
#[ignore = "a minute: cargo test --release --test rules perft -- --ignored"]
fn a_fixed_deal_to_depth_6() {
    assert_eq!(with_deal(&start(), &deal(), 6), 670_161_258);
}

#[test]
#[ignore = "minutes: cargo test --release --test rules perft -- --ignored"]
fn every_piece_that_a_flip_may_show_to_depth_4() {
    assert_eq!(with_chance(&start(), 4), 30_871_352_640);
}
