//! Ends that are not on the board, and seats that leave (`docs/RULES.md` §7 and §8).

use banqi::rules::{EndReason, Preset, Referee, RuleSet, Seat};
use rstest::rstest;

use crate::illegal_actions::game;

fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a seat")
}

fn places(referee: &Referee) -> Vec<u8> {
    referee.outcome().expect("the game is over").places.to_vec()
}

/// Four seats, each with two pieces far from the others'.
fn four() -> Referee {
    let pieces = "a1=R a2=A h1=r h2=a a8=+R a7=+A h8=+r h7=+a d4=?P d5=?p";
    game(&Preset::DoubleFour.rules(), pieces).0
}

fn play(referee: &mut Referee, action: &str) {
    let action = action.parse().expect("an action");
    referee.play(action, |_| None).expect("a legal action");
}

#[rstest]
#[case(EndReason::Resignation)]
#[case(EndReason::Timeout)]
#[case(EndReason::Abandoned)]
fn of_two_seats_the_one_that_leaves_loses(#[case] reason: EndReason) {
    for leaver in [1, 2] {
        let (mut referee, _) = game(&RuleSet::TAIWANESE, "a1=R h1=r");
        referee.leave(seat(leaver), reason);
        let outcome = referee.outcome().expect("the game is over");
        assert_eq!(outcome.reason, reason);
        assert_eq!(outcome.winner(), Some(seat(3 - leaver)));
        assert!(referee.legal_actions().is_empty());
    }
}

#[test]
fn an_agreement_is_a_draw() {
    let (mut referee, _) = game(&RuleSet::TAIWANESE, "a1=R h1=r");
    referee.end(EndReason::Agreement);
    assert_eq!(places(&referee), [1, 1]);
    assert_eq!(referee.outcome().and_then(|outcome| outcome.winner()), None);
}

#[test]
fn an_aborted_game_has_no_places() {
    let mut referee = Referee::new(&RuleSet::TAIWANESE);
    referee.end(EndReason::Aborted);
    let outcome = referee.outcome().expect("the game is over");
    assert_eq!((outcome.reason, outcome.places.len()), (EndReason::Aborted, 0));
    assert_eq!(outcome.winner(), None);
}

#[test]
fn who_leaves_on_its_own_turn_ends_that_turn() {
    let mut referee = four();
    play(&mut referee, "a1-b1");
    assert_eq!(referee.position().turn_number(), 2);
    referee.leave(seat(2), EndReason::Timeout);
    let position = referee.position();
    assert!(position.is_out(seat(2)));
    assert_eq!((position.to_move(), position.turn_number()), (seat(3), 3));
    assert_eq!(referee.outcome(), None);
}

#[test]
fn who_leaves_off_its_turn_changes_neither_turn_nor_quiet_count() {
    let mut referee = four();
    play(&mut referee, "a1-b1");
    referee.leave(seat(4), EndReason::Resignation);
    let position = referee.position();
    assert_eq!((position.to_move(), position.turn_number()), (seat(2), 2));
    assert_eq!(position.quiet_turns(), 1);
    play(&mut referee, "h1-g1");
    play(&mut referee, "a8-b8");
    assert_eq!(referee.position().to_move(), seat(1), "the turn of the seat that left is skipped");
    assert_eq!(referee.position().turn_number(), 4, "a skip takes no turn number");
}

#[test]
fn who_leaves_first_is_last_and_the_last_one_standing_wins() {
    let mut referee = four();
    referee.leave(seat(3), EndReason::Resignation);
    referee.leave(seat(1), EndReason::Timeout);
    assert_eq!(referee.outcome(), None);
    referee.leave(seat(4), EndReason::Resignation);
    let outcome = referee.outcome().expect("the game is over");
    assert_eq!(outcome.reason, EndReason::LastStanding);
    assert_eq!(outcome.winner(), Some(seat(2)));
    assert_eq!(places(&referee), [3, 1, 4, 2]);
    let departures: Vec<_> =
        referee.departures().iter().map(|d| (d.seat.number(), d.reason)).collect();
    let resigned = EndReason::Resignation;
    assert_eq!(departures, [(3, resigned), (1, EndReason::Timeout), (4, resigned)]);
}

#[test]
fn an_agreement_among_four_is_shared_by_those_still_in() {
    let mut referee = four();
    referee.leave(seat(2), EndReason::Resignation);
    referee.end(EndReason::Agreement);
    assert_eq!(places(&referee), [1, 4, 1, 1]);
}

#[test]
fn the_pieces_of_a_seat_that_left_can_be_taken() {
    let rules = Preset::DoubleFour.rules();
    let (mut referee, _) = game(&rules, "a1=R b1=h h1=a a8=+R h8=+r");
    referee.leave(seat(2), EndReason::Resignation);
    play(&mut referee, "a1-b1");
    assert_eq!(referee.position().to_move(), seat(3));
}

#[test]
fn a_position_without_the_seat_that_left_stands_for_the_first_time() {
    let mut referee = four();
    let round = ["a1-b1", "h1-g1", "a8-b8", "h8-g8", "b1-a1", "g1-h1", "b8-a8", "g8-h8"];
    // The start stands for the first time, after the round for the second; then a seat leaves.
    round.iter().for_each(|action| play(&mut referee, action));
    referee.leave(seat(4), EndReason::Resignation);
    let shorter = ["a1-b1", "h1-g1", "a8-b8", "b1-a1", "g1-h1", "b8-a8"];
    shorter.iter().for_each(|action| play(&mut referee, action));
    assert_eq!(referee.outcome(), None, "the second standing without the seat");
    shorter.iter().for_each(|action| play(&mut referee, action));
    let outcome = referee.outcome().expect("the third standing without the seat");
    assert_eq!(outcome.reason, EndReason::ThreefoldRepetition);
    assert_eq!(places(&referee), [1, 1, 1, 4]);
}
