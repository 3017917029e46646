//! The seats' clocks as replaying the log finds them.

use super::time::{Millis, Span};
use super::time_control::{Clock, TimeControl};
use crate::rules::{LeaveReason, Seat};

/// What a seat's clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// What is left: of the main time, of the present period once that is gone, or of the turn;
    /// `None` without a limit.
    pub left: Option<Span>,
    /// How many periods are left, the present one included; 0 for clocks without them.
    pub periods: u8,
    /// Whether it runs.
    pub running: bool,
}

/// What a seat has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Account {
    main: Span,
    periods: u8,
    /// Whether its first turn is over.
    under_way: bool,
}

/// The clocks of a game's seats. One of them runs, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clocks {
    control: TimeControl,
    accounts: [Account; Seat::MAX],
    /// Since when the turn in progress lasts; `None` while no clock runs.
    turn_began: Option<Millis>,
}

impl Clocks {
    pub(super) fn new(control: TimeControl) -> Self {
        let (main, periods) = match control.clock() {
            Clock::SuddenDeath { main } | Clock::Increment { main, .. } => (main, 0),
            Clock::ByoYomi { main, periods, .. } => (main, periods),
            Clock::Unlimited { .. } | Clock::PerTurn { .. } | Clock::Correspondence { .. } => {
                (Span::ZERO, 0)
            }
        };
        let account = Account { main, periods, under_way: false };
        Self { control, accounts: [account; Seat::MAX], turn_began: None }
    }

    /// Begins a turn.
    pub(super) fn begin_turn(&mut self, at: Millis) {
        self.turn_began = Some(at);
    }

    /// Ends a seat's turn that it has completed.
    pub(super) fn complete_turn(&mut self, seat: Seat, at: Millis) {
        let on_first = self.first_turn_limit(seat).is_some();
        self.stop(seat, at);
        let account = &mut self.accounts[seat.index()];
        account.under_way = true;
        if let Clock::Increment { increment, .. } = self.control.clock()
            && !on_first
        {
            account.main = account.main + increment;
        }
    }

    /// Ends a seat's turn that it has not completed; what it took is spent.
    pub(super) fn stop(&mut self, seat: Seat, at: Millis) {
        let Some(began) = self.turn_began.take() else { return };
        if self.first_turn_limit(seat).is_none() {
            self.spend(seat, at.since(began));
        }
    }

    fn spend(&mut self, seat: Seat, spent: Span) {
        let account = &mut self.accounts[seat.index()];
        let beyond = spent - account.main;
        account.main = account.main - spent;
        if let Clock::ByoYomi { period, .. } = self.control.clock()
            && period > Span::ZERO
        {
            let gone = u8::try_from(beyond.0 / period.0).unwrap_or(u8::MAX);
            account.periods = account.periods.saturating_sub(gone);
        }
    }

    /// The limit of a seat's first turn, while that is to be made or being made.
    fn first_turn_limit(&self, seat: Seat) -> Option<Span> {
        self.control.first_turn().filter(|_| !self.accounts[seat.index()].under_way)
    }

    /// How long a turn of the seat that begins now may take at most.
    fn budget(&self, seat: Seat) -> Option<Span> {
        if let Some(limit) = self.first_turn_limit(seat) {
            return Some(limit);
        }
        let account = self.accounts[seat.index()];
        match self.control.clock() {
            Clock::Unlimited { inactivity } => inactivity,
            Clock::SuddenDeath { .. } | Clock::Increment { .. } => Some(account.main),
            Clock::PerTurn { limit } => Some(limit),
            Clock::ByoYomi { period, .. } => {
                Some(account.main + Span(period.0.saturating_mul(account.periods.into())))
            }
            Clock::Correspondence { days } => Some(Span::days(days.into())),
        }
    }

    /// When the time of the seat to move runs out; `None` where no clock runs or it never does.
    pub(super) fn deadline(&self, to_move: Seat) -> Option<Millis> {
        Some(self.turn_began? + self.budget(to_move)?)
    }

    /// What running out of time is for the seat to move: without a clock it has abandoned the game.
    pub(super) fn lapse(&self, to_move: Seat) -> LeaveReason {
        if self.control.is_unlimited() && self.first_turn_limit(to_move).is_none() {
            LeaveReason::Abandoned
        } else {
            LeaveReason::Timeout
        }
    }

    /// What the clock of a seat shows at a time.
    pub(super) fn reading(&self, seat: Seat, to_move: Seat, at: Millis) -> Reading {
        let running = self.turn_began.is_some() && seat == to_move;
        let mut then = *self;
        if running && self.control.clock().counts_turns_apart() {
            let spent = self.turn_began.map_or(Span::ZERO, |began| at.since(began));
            let left = self.budget(seat).map(|budget| budget - spent);
            return Reading { left, periods: 0, running };
        }
        if running {
            then.stop(seat, at);
        }
        let account = then.accounts[seat.index()];
        let left = match self.control.clock() {
            Clock::Unlimited { inactivity } => inactivity,
            Clock::PerTurn { limit } => Some(limit),
            Clock::Correspondence { days } => Some(Span::days(days.into())),
            Clock::SuddenDeath { .. } | Clock::Increment { .. } => Some(account.main),
            Clock::ByoYomi { .. } if account.main > Span::ZERO || account.periods == 0 => {
                Some(account.main)
            }
            Clock::ByoYomi { period, .. } => Some(self.left_of_period(seat, running, period, at)),
        };
        Reading { left, periods: account.periods, running }
    }

    /// What is left of the present period of a seat whose main time is gone.
    fn left_of_period(&self, seat: Seat, running: bool, period: Span, at: Millis) -> Span {
        let Some(began) = self.turn_began.filter(|_| running) else { return period };
        if self.first_turn_limit(seat).is_some() {
            return period;
        }
        let beyond = at.since(began) - self.accounts[seat.index()].main;
        Span(period.0 - beyond.0 % period.0.max(1))
    }
}

impl Clock {
    /// Whether every turn has its own time and nothing is left over from one to the next.
    const fn counts_turns_apart(self) -> bool {
        matches!(self, Self::Unlimited { .. } | Self::PerTurn { .. } | Self::Correspondence { .. })
    }
}
