//! Time controls: how much time the seats have (`RULES.md` §8).

use super::create::NewGameFault;
use super::time::Span;

/// How time is counted. Increments and limits count turns, not actions: a chain is one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clock {
    /// No clock. A seat that does not complete its turn within `inactivity` has abandoned the game.
    Unlimited {
        /// How long a turn may take; `None` for ever.
        inactivity: Option<Span>,
    },
    /// So much for the whole game.
    SuddenDeath {
        /// How much.
        main: Span,
    },
    /// So much for the whole game, and more after every turn.
    Increment {
        /// How much at the start.
        main: Span,
        /// How much after each turn of the seat.
        increment: Span,
    },
    /// So much for each turn.
    PerTurn {
        /// How much.
        limit: Span,
    },
    /// So much for the whole game, then periods: a turn within a period gives it back whole, and
    /// each one that passes is gone.
    ByoYomi {
        /// How much at the start. May be zero.
        main: Span,
        /// How many periods.
        periods: u8,
        /// How long each is.
        period: Span,
    },
    /// So many days for each turn.
    Correspondence {
        /// How many.
        days: u16,
    },
}

/// The time that the seats of a game have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimeControl {
    clock: Clock,
    first_turn: Option<Span>,
}

impl TimeControl {
    /// The shortest and the longest time that can be given.
    pub const SHORTEST: Span = Span(100);
    /// The longest time that can be given.
    pub const LONGEST: Span = Span::days(365);
    /// The most periods and the most days a turn.
    pub const MOST_PERIODS: u8 = 100;
    /// How long a turn may take without a clock, unless something else is asked for.
    pub const INACTIVITY: Span = Span::days(30);

    /// A time control. With `first_turn`, each seat has that long for its first turn, during which
    /// its clock does not run.
    ///
    /// # Errors
    /// Every value that is out of range.
    pub fn new(clock: Clock, first_turn: Option<Span>) -> Result<Self, Vec<NewGameFault>> {
        let mut faults = Faults(Vec::new());
        match clock {
            Clock::Unlimited { inactivity } => {
                if let Some(limit) = inactivity {
                    faults.span("unlimited.inactivity_limit", limit);
                }
            }
            Clock::SuddenDeath { main } => faults.span("sudden_death.main_time", main),
            Clock::Increment { main, increment } => {
                faults.span("increment.main_time", main);
                faults.span("increment.increment", increment);
            }
            Clock::PerTurn { limit } => faults.span("per_turn.limit", limit),
            Clock::ByoYomi { main, periods, period } => {
                if main != Span::ZERO {
                    faults.span("byo_yomi.main_time", main);
                }
                faults.count("byo_yomi.periods", periods.into(), Self::MOST_PERIODS.into());
                faults.span("byo_yomi.period", period);
            }
            Clock::Correspondence { days } => {
                let most = Self::LONGEST.0 / Span::days(1).0;
                faults.count("correspondence.days_per_turn", days.into(), most);
            }
        }
        if let Some(limit) = first_turn {
            faults.span("first_turn_limit", limit);
        }
        if faults.0.is_empty() { Ok(Self { clock, first_turn }) } else { Err(faults.0) }
    }

    /// How time is counted.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// How long each seat has for its first turn instead; `None` where the clock runs from then on.
    pub fn first_turn(&self) -> Option<Span> {
        self.first_turn
    }

    /// Whether nothing but inactivity ends a game.
    pub(super) fn is_unlimited(&self) -> bool {
        matches!(self.clock, Clock::Unlimited { .. })
    }
}

impl Default for TimeControl {
    fn default() -> Self {
        Self { clock: Clock::Unlimited { inactivity: Some(Self::INACTIVITY) }, first_turn: None }
    }
}

/// What is wrong with a time control.
struct Faults(Vec<NewGameFault>);

impl Faults {
    fn span(&mut self, field: &'static str, span: Span) {
        if !(TimeControl::SHORTEST..=TimeControl::LONGEST).contains(&span) {
            self.add(field, format!("{} ms", span.0), "0.1 seconds to 365 days".to_owned());
        }
    }

    fn count(&mut self, field: &'static str, count: u64, most: u64) {
        if !(1..=most).contains(&count) {
            self.add(field, count.to_string(), format!("1 to {most}"));
        }
    }

    fn add(&mut self, field: &'static str, value: String, expected: String) {
        self.0.push(NewGameFault { field, value, expected });
    }
}
