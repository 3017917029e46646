//! Any bytes as a rule set, a deal and what is done: the rules hold, and the game ends.

use arbitrary::{Result, Unstructured};
use banqi::rules::{
    Action, Deal, GameRecord, LeaveReason, PieceCounts, Referee, Scribe, Seat, Setup, Square,
};

/// Plays a game as the bytes say, legal actions and others, and then on to its end.
pub fn games(data: &[u8]) {
    // Bytes that run out are read as zeros, so this fails only where nothing was to be read.
    let _ = play(&mut Unstructured::new(data));
}

fn play(bytes: &mut Unstructured<'_>) -> Result<()> {
    let Some(rules) = crate::random::rule_set(bytes)? else { return Ok(()) };
    let deal = crate::random::deal(bytes, rules.board_size())?;
    let mut scribe = Scribe::new(&rules, None);
    for step in 0.. {
        if scribe.referee().outcome().is_some() {
            break;
        }
        if bytes.is_empty() {
            // On to the end, by legal actions alone, which are bounded.
            play_legal_action(&mut scribe, &deal, step * 7919);
        } else {
            let choice: u16 = bytes.arbitrary()?;
            match choice % 64 {
                0 => leave(&mut scribe, choice),
                1..8 => try_any_action(&mut scribe, &deal, bytes.arbitrary()?),
                _ => play_legal_action(&mut scribe, &deal, usize::from(choice / 64)),
            }
        }
        check(scribe.referee());
    }
    let position = scribe.referee().position().clone();
    let record = scribe.into_record();
    let text = record.to_string();
    let read: GameRecord = text.parse().expect("what was written is read");
    assert_eq!(read, record);
    assert_eq!(*read.replay().expect("what was played is replayed").position(), position);
    Ok(())
}

fn leave(scribe: &mut Scribe, choice: u16) {
    let choice = usize::from(choice / 64);
    let seat = Seat::from_index(choice % Seat::MAX).expect("below the most seats");
    let reason = LeaveReason::ALL[choice / Seat::MAX % LeaveReason::ALL.len()];
    let position = scribe.referee().position();
    let is_in = seat.number() <= position.seats() && !position.is_out(seat);
    assert_eq!(scribe.leave(seat, reason).is_ok(), is_in);
}

/// Any action, legal or not: it is played exactly if it is listed, and changes nothing otherwise.
fn try_any_action(scribe: &mut Scribe, deal: &Deal, [kind, from, to]: [u8; 3]) {
    let square = |byte: u8| Square::new(byte % 64).expect("below 64");
    let action = match kind % 8 {
        0..3 => Action::Flip(square(from)),
        3 => Action::EndChain,
        _ if square(from) == square(to) => return,
        _ => Action::Move { from: square(from), to: square(to) },
    };
    let listed = scribe.referee().legal_actions().contains(&action);
    let before = scribe.referee().position().clone();
    let played = scribe.play(action, |square| deal.at(square));
    assert_eq!(played.is_ok(), listed, "{before} {action}");
    match played {
        Ok(played) => assert_eq!(played.record.action(), action),
        Err(_) => assert_eq!(*scribe.referee().position(), before),
    }
}

fn play_legal_action(scribe: &mut Scribe, deal: &Deal, choice: usize) {
    let actions = scribe.referee().legal_actions();
    let action = actions[choice % actions.len()];
    scribe.play(action, |square| deal.at(square)).expect("a listed action is legal");
}

/// What holds in every position of every game.
fn check(referee: &Referee) {
    let (rules, position) = (referee.rules(), referee.position());
    let text = position.to_string();
    let actions = referee.legal_actions();
    assert_eq!(actions.is_empty(), referee.outcome().is_some(), "{text}");
    for (index, action) in actions.iter().enumerate() {
        assert_eq!(referee.check(*action), Ok(()), "{text} {action}");
        assert!(!actions[index + 1..].contains(action), "{text} {action}");
        let face_down = referee.turns_up(*action);
        assert!(face_down.is_none_or(|square| position.is_face_down(square)), "{text} {action}");
    }
    let face_down = position.face_down_squares().len();
    assert_eq!(face_down, position.face_down().total() as usize, "{text}");
    let face_up = position.board_size().all().into_iter();
    let face_up = face_up.filter(|square| position.piece_at(*square).is_some()).count();
    let gone = position.captured().total() as usize;
    assert_eq!(face_down + face_up + gone, position.board_size().squares(), "{text}");
    assert_eq!(
        PieceCounts::full(position.board_size()).total() as usize,
        position.board_size().squares()
    );
    // Each piece is turned up once and removed once, and between two of these there are at most
    // `quiet_limit` quiet turns; seats that leave take a turn each.
    let most = (2 * position.board_size().squares() + 1) * usize::from(rules.quiet_limit() + 1)
        + Seat::MAX;
    assert!(position.turn_number() as usize <= most, "{text}");
    let setup: Setup = text.parse().expect("the text of a position is read");
    assert_eq!(setup, position.to_setup(), "{text}");
    if referee.outcome().is_none() {
        assert_eq!(setup.into_position(rules).as_ref(), Ok(position), "{text}");
    }
}
