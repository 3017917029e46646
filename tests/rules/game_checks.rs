//! What must hold in every game, after every action and at the end.

use std::collections::HashSet;

use banqi::rules::{
    Action, Deal, Outcome, Played, Position, Record, Referee, RuleSet, Seat, Setup, Square,
};

/// Quiet turns are limited, and only so many pieces can be turned up or removed.
pub(crate) fn most_turns(rules: &RuleSet) -> u32 {
    let squares = rules.board_size().squares() as u32;
    (u32::from(rules.quiet_limit()) + 1) * (2 * squares + 1)
}

pub(crate) fn is_capture(referee: &Referee, action: Action) -> bool {
    match action {
        Action::Move { to, .. } => {
            referee.position().piece_at(to).is_some() || referee.position().is_face_down(to)
        }
        _ => false,
    }
}

/// Plays an action that is legal; the hidden piece asked for is the one announced.
pub(crate) fn perform(referee: &mut Referee, deal: &Deal, action: Action) -> Played {
    let announced = referee.turns_up(action);
    let mut asked = None;
    let played = referee
        .play(action, |square| {
            asked = Some(square);
            deal.at(square)
        })
        .unwrap_or_else(|e| panic!("{action} is listed and refused: {e:?}"));
    let record = played.record;
    assert_eq!(asked, announced, "{action}: the square asked for and the one announced");
    assert_eq!(record.turned_up().map(|(square, _)| square), announced, "{action}: {record}");
    assert_eq!(record.action(), action);
    assert_eq!(action.to_string().parse(), Ok(action));
    assert_eq!(record.to_string().parse(), Ok(record));
    played
}

/// What one action may do to whose turn it is, the turn number and the quiet count.
pub(crate) fn check_turn(before: &Position, record: Record, after: &Referee) {
    let position = after.position();
    let told = || format!("{before} {record} {position}");
    let turn_passed = position.turn_number() != before.turn_number();
    if let Some(square) = position.chain() {
        assert_eq!(position.to_move(), before.to_move(), "a chain stays: {}", told());
        assert!(!turn_passed, "a chain is one turn: {}", told());
        let Record::Capture { to, .. } = record else {
            panic!("a chain without a capture: {}", told());
        };
        assert_eq!(to, square, "{}", told());
        let own = position.piece_at(square).map(|piece| piece.colour);
        assert!(own.is_some_and(|c| position.colours(position.to_move()).contains(c)));
        assert!(after.rules().chain(), "{}", told());
    } else if turn_passed {
        assert_eq!(position.turn_number(), before.turn_number() + 1, "{}", told());
    } else {
        let reason = after.outcome().unwrap_or_else(|| panic!("no turn passed: {}", told())).reason;
        let at_once = ["ALL_CAPTURED", "NO_PIECES_LEFT", "LAST_STANDING"];
        assert!(at_once.contains(&reason.name()), "{reason}: {}", told());
    }
    if let Some(chain) = before.chain() {
        let goes_on = match record.action() {
            Action::EndChain => true,
            Action::Move { from, .. } => from == chain,
            Action::Flip(_) => false,
        };
        assert!(goes_on && !matches!(record, Record::Move { .. }), "{}", told());
    }
    let quiet = match record {
        Record::Move { .. } => before.quiet_turns() + 1,
        _ => 0,
    };
    assert_eq!(position.quiet_turns(), quiet, "{}", told());
    for seat in Seat::first(position.seats()) {
        assert!(!before.is_out(seat) || position.is_out(seat), "nobody comes back: {}", told());
    }
    if after.outcome().is_none() {
        assert!(!position.is_out(position.to_move()), "{}", told());
    }
}

/// Every action there is: the listed ones succeed, the others are refused and change nothing.
pub(crate) fn check_every_action(referee: &Referee, deal: &Deal) {
    let listed = referee.legal_actions();
    let legal: HashSet<Action> = listed.iter().copied().collect();
    assert_eq!(legal.len(), listed.len(), "an action is listed twice: {:?}", &listed[..]);
    for &action in &legal {
        assert_eq!(referee.check(action), Ok(()), "{action}");
        perform(&mut referee.clone(), deal, action);
    }
    check_refusals(referee, deal, &legal);
}

pub(crate) fn check_refusals(referee: &Referee, deal: &Deal, legal: &HashSet<Action>) {
    let squares = || (0..64).filter_map(Square::new);
    let flips = squares().map(Action::Flip);
    let moves = squares().flat_map(|from| squares().map(move |to| Action::Move { from, to }));
    let text = referee.position().to_string();
    let mut probed = referee.clone();
    for action in flips.chain(moves).chain([Action::EndChain]) {
        if legal.contains(&action) {
            continue;
        }
        let reason = referee.check(action).expect_err("an action that is not listed");
        assert!(!reason.name().is_empty() && !reason.to_string().is_empty());
        let refused = probed.play(action, |square| deal.at(square));
        assert!(refused.is_err(), "{action} is checked as illegal and played");
    }
    assert_eq!(probed.position().to_string(), text, "a refusal changed the position");
    assert_eq!(probed.legal_actions()[..], referee.legal_actions()[..]);
    assert_eq!(probed.outcome(), referee.outcome());
}

/// A position reads back from its text, and allows the same.
pub(crate) fn check_text(referee: &Referee) {
    let text = referee.position().to_string();
    let setup: Setup = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    let position = setup
        .into_position(referee.rules())
        .unwrap_or_else(|faults| panic!("{text} is refused: {faults:?}"));
    assert_eq!(position.to_string(), text);
    // Runs of chases are no part of the text.
    if referee.rules().chase_limit() == 0 {
        let read = Referee::from_position(referee.rules(), position);
        assert_eq!(read.legal_actions()[..], referee.legal_actions()[..], "{text}");
        assert_eq!(read.outcome(), None, "{text}");
    }
}

pub(crate) fn check_outcome(referee: &Referee) {
    let outcome: &Outcome = referee.outcome().expect("the game is over");
    let seats = referee.position().seats();
    let places = &outcome.places;
    assert_eq!(places.len(), usize::from(seats), "{outcome:?}");
    for &place in places {
        let better = places.iter().filter(|other| **other < place).count();
        assert_eq!(usize::from(place), better + 1, "no proper ranking: {places:?}");
    }
    let departed: Vec<Seat> = referee.departures().iter().map(|d| d.seat).collect();
    let unique: HashSet<Seat> = departed.iter().copied().collect();
    assert_eq!(unique.len(), departed.len(), "a seat went out twice: {departed:?}");
    let place = |seat: Seat| places[seat.index()];
    for pair in departed.windows(2) {
        assert!(place(pair[0]) >= place(pair[1]), "{departed:?}: {places:?}");
    }
    for seat in Seat::first(seats).filter(|seat| !unique.contains(seat)) {
        assert_eq!(place(seat), 1, "{seat} stayed to the end: {places:?}");
    }
    let reasons = match seats {
        2 => vec![
            "ALL_CAPTURED",
            "NO_PIECES_LEFT",
            "NO_LEGAL_TURN",
            "THREEFOLD_REPETITION",
            "QUIET_LIMIT",
            "PERPETUAL_ATTACK",
        ],
        _ => vec!["LAST_STANDING", "NO_PIECES_LEFT", "THREEFOLD_REPETITION", "QUIET_LIMIT"],
    };
    assert!(reasons.contains(&outcome.reason.name()), "{outcome:?}");
}

/// The records alone, without the deal, give the same game.
pub(crate) fn check_replay(referee: &Referee, start: Referee, records: &[Record]) {
    let mut replayed = start;
    for record in records {
        let turned_up = record.turned_up();
        let piece_at = |square| turned_up.filter(|(at, _)| *at == square).map(|(_, piece)| piece);
        assert_eq!(replayed.play(record.action(), piece_at).map(|p| p.record), Ok(*record));
    }
    assert_eq!(replayed.position().to_string(), referee.position().to_string());
    assert_eq!(replayed.outcome(), referee.outcome());
    assert_eq!(replayed.departures(), referee.departures());
}

/// What a seat that leaves changes (`docs/RULES.md` §7).
pub(crate) fn check_departure(before: &Position, leaver: Seat, after: &Referee) {
    let position = after.position();
    let told = || format!("{before}, {leaver} leaves: {position}");
    assert!(after.departures().iter().any(|d| d.seat == leaver), "{}", told());
    if after.outcome().is_some() {
        return;
    }
    assert!(position.is_out(leaver), "{}", told());
    let on_its_turn = leaver == before.to_move();
    let turn = before.turn_number() + u32::from(on_its_turn);
    assert_eq!(position.turn_number(), turn, "{}", told());
    if on_its_turn {
        assert_eq!(position.chain(), None, "{}", told());
    } else {
        assert_eq!(position.to_move(), before.to_move(), "{}", told());
        assert_eq!(position.chain(), before.chain(), "{}", told());
        assert_eq!(position.quiet_turns(), before.quiet_turns(), "{}", told());
    }
}
