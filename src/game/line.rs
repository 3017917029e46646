//! The line of play that counts: what was taken back is not in it.

use super::refusal::Refusal;
use crate::rules::{Action, Deal, Growing, LeaveReason, Played, Referee, Scribe, Seat};

/// One step of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// A seat acted.
    Acted {
        action: Action,
        seat: Seat,
        turn: u32,
        /// Whether it turned something up, which nobody can forget.
        revealed: bool,
        /// Whether it put a seat out, which stays out.
        put_out: bool,
    },
    /// A seat left by resigning or by running out of time.
    Left(Seat, LeaveReason),
}

/// The steps that led from the start to the position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line(Growing<Step>);

impl Line {
    /// A seat acted.
    pub(super) fn acted(&mut self, played: &Played, put_out: bool) {
        self.0.push(Step::Acted {
            action: played.record.action(),
            seat: played.seat,
            turn: played.turn_number,
            revealed: played.record.turned_up().is_some(),
            put_out,
        });
    }

    /// A seat left.
    pub(super) fn left(&mut self, seat: Seat, reason: LeaveReason) {
        self.0.push(Step::Left(seat, reason));
    }

    /// How many steps stand before the last turn of a seat.
    ///
    /// # Errors
    /// Where there is no such turn, or something since then cannot be taken back.
    pub(super) fn before_last_turn_of(&self, asking: Seat) -> Result<usize, Refusal> {
        let mut last_turn = None;
        let mut keep = self.0.len();
        // Whether a seat left just before what is kept: it stays out, so nothing before that can go.
        let mut left_before = false;
        for step in self.0.iter().rev() {
            let Step::Acted { seat, turn, revealed, put_out, .. } = *step else {
                left_before = true;
                continue;
            };
            if last_turn.is_some_and(|last| last != turn) {
                break;
            }
            if left_before || put_out {
                return Err(Refusal::TakebackSeatOut);
            }
            if revealed {
                return Err(Refusal::TakebackRevealed);
            }
            if seat == asking {
                last_turn = Some(turn);
            }
            keep -= 1;
        }
        if last_turn.is_some() { Ok(keep) } else { Err(Refusal::NothingToTakeBack) }
    }

    /// Writes the steps down.
    pub(super) fn write(&self, scribe: &mut Scribe, deal: &Deal) {
        for step in self.0.iter() {
            let written = match *step {
                Step::Acted { action, .. } => {
                    scribe.play(action, |square| deal.at(square)).map(|_| ()).ok()
                }
                Step::Left(seat, reason) => scribe.leave(seat, reason).ok(),
            };
            written.expect("the line was played from this start, on this deal");
        }
    }

    /// Takes back all steps but the first `keep`, on a referee at the start. Answers the referee as after those, what the last
    /// of them did, and how many were taken back. `None` where the deal does not fit, which a line
    /// that was played before cannot come to.
    pub(super) fn rewind(
        &mut self,
        keep: usize,
        mut referee: Referee,
        deal: &Deal,
    ) -> Option<(Referee, Option<Played>, u32)> {
        let undone = u32::try_from(self.0.len().saturating_sub(keep)).ok()?;
        self.0.truncate(keep);
        let mut last = None;
        for step in self.0.iter() {
            match *step {
                Step::Acted { action, .. } => {
                    last = Some(referee.play(action, |square| deal.at(square)).ok()?);
                }
                Step::Left(seat, reason) => referee.leave(seat, reason.into()),
            }
        }
        Some((referee, last, undone))
    }
}
