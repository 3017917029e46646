//! The clocks of a game: when the seat to move runs out of time.

use banqi::api::proto::v1::TimeControl;
use banqi::api::proto::v1::time_control::Clock;
use banqi::rules::EndReason;

/// What a seat has used.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    /// Of its time for the whole game, and what increments gave back.
    main: i64,
    periods: i64,
    turns: u32,
}

/// The clocks of all seats, in milliseconds.
#[derive(Clone, Debug)]
pub(super) struct Clocks {
    control: TimeControl,
    used: Vec<Used>,
    /// When the present turn began.
    began: Option<i64>,
}

fn millis(span: Option<&prost_types::Duration>) -> i64 {
    span.map_or(0, |span| span.seconds * 1000 + i64::from(span.nanos) / 1_000_000)
}

/// Without a limit of its own: thirty days.
const INACTIVITY: i64 = 30 * 24 * 3_600_000;

impl Clocks {
    pub(super) fn new(control: TimeControl, seats: usize) -> Self {
        Self { control, used: vec![Used::default(); seats], began: None }
    }

    pub(super) fn begin(&mut self, at: i64) {
        self.began = Some(at);
    }

    /// The time of a first turn, while a seat has not completed one.
    fn first_turn(&self, seat: u32) -> Option<i64> {
        let limit = self.control.first_turn_limit.as_ref()?;
        (self.used[seat as usize - 1].turns == 0).then(|| millis(Some(limit)))
    }

    /// Ends the present turn of a seat.
    pub(super) fn end(&mut self, seat: u32, at: i64, completed: bool) {
        let Some(began) = self.began.take() else { return };
        let first = self.first_turn(seat).is_some();
        let used = &mut self.used[seat as usize - 1];
        if completed {
            used.turns += 1;
        }
        if first {
            return;
        }
        match &self.control.clock {
            Some(Clock::SuddenDeath(_)) => used.main += at - began,
            Some(Clock::Increment(clock)) => {
                used.main += at - began;
                if completed {
                    used.main -= millis(clock.increment.as_ref());
                }
            }
            Some(Clock::ByoYomi(clock)) => {
                let left = millis(clock.main_time.as_ref()) - used.main;
                used.main += (at - began).min(left);
                let beyond = (at - began - left).max(0);
                used.periods += beyond / millis(clock.period.as_ref());
            }
            _ => {}
        }
    }

    /// When the seat to move runs out of time.
    pub(super) fn deadline(&self, to_move: u32) -> Option<i64> {
        let began = self.began?;
        if let Some(limit) = self.first_turn(to_move) {
            return Some(began + limit);
        }
        let used = self.used[to_move as usize - 1];
        let left = match &self.control.clock {
            None => INACTIVITY,
            Some(Clock::Unlimited(clock)) => match clock.inactivity_limit.as_ref() {
                None => INACTIVITY,
                limit if millis(limit) == 0 => return None,
                limit => millis(limit),
            },
            Some(Clock::SuddenDeath(clock)) => millis(clock.main_time.as_ref()) - used.main,
            Some(Clock::Increment(clock)) => millis(clock.main_time.as_ref()) - used.main,
            Some(Clock::PerTurn(clock)) => millis(clock.limit.as_ref()),
            Some(Clock::ByoYomi(clock)) => {
                let periods = i64::from(clock.periods) - used.periods;
                millis(clock.main_time.as_ref()) - used.main
                    + periods * millis(clock.period.as_ref())
            }
            Some(Clock::Correspondence(clock)) => i64::from(clock.days_per_turn) * 86_400_000,
        };
        Some(began + left)
    }

    /// What running out of time is called.
    pub(super) fn reason(&self, to_move: u32) -> EndReason {
        match self.control.clock {
            None | Some(Clock::Unlimited(_)) if self.first_turn(to_move).is_none() => {
                EndReason::Abandoned
            }
            _ => EndReason::Timeout,
        }
    }
}
