//! Time controls, clocks and spans of time.

use prost_types::Duration;

use crate::api::error::FieldFaults;
use crate::api::proto::v1;
use crate::api::proto::v1::time_control as message;
use crate::api::proto::v1::time_control::Clock as Told;
use crate::game::{Clock, Game, Reading, Span, TimeControl};
use crate::rules::Seat;

/// A time control as it is told.
pub fn time_control(control: &TimeControl) -> v1::TimeControl {
    let some = |span| Some(duration(span));
    let clock = match control.clock() {
        Clock::Unlimited { inactivity } => {
            let limit = inactivity.unwrap_or_default();
            Told::Unlimited(message::Unlimited { inactivity_limit: some(limit) })
        }
        Clock::SuddenDeath { main } => {
            Told::SuddenDeath(message::SuddenDeath { main_time: some(main) })
        }
        Clock::Increment { main, increment } => Told::Increment(message::Increment {
            main_time: some(main),
            increment: some(increment),
        }),
        Clock::PerTurn { limit } => Told::PerTurn(message::PerTurn { limit: some(limit) }),
        Clock::ByoYomi { main, periods, period } => Told::ByoYomi(message::ByoYomi {
            main_time: some(main),
            periods: periods.into(),
            period: some(period),
        }),
        Clock::Correspondence { days } => {
            Told::Correspondence(message::Correspondence { days_per_turn: days.into() })
        }
    };
    let first_turn_limit = control.first_turn().map(duration);
    v1::TimeControl { clock: Some(clock), first_turn_limit }
}

/// Reads a time control; the default one where none is sent.
pub fn read(message: Option<v1::TimeControl>, faults: &mut FieldFaults) -> TimeControl {
    let Some(message) = message else { return TimeControl::default() };
    let before = faults.count();
    let mut span = |field: &str, sent: Option<Duration>| {
        sent.and_then(|sent| faults.check(&format!("time_control.{field}"), self::span(&sent)))
    };
    let clock = match message.clock {
        None => TimeControl::default().clock(),
        Some(Told::Unlimited(unlimited)) => {
            match span("unlimited.inactivity_limit", unlimited.inactivity_limit) {
                None => TimeControl::default().clock(),
                Some(Span::ZERO) => Clock::Unlimited { inactivity: None },
                inactivity => Clock::Unlimited { inactivity },
            }
        }
        Some(Told::SuddenDeath(control)) => Clock::SuddenDeath {
            main: span("sudden_death.main_time", control.main_time).unwrap_or_default(),
        },
        Some(Told::Increment(control)) => Clock::Increment {
            main: span("increment.main_time", control.main_time).unwrap_or_default(),
            increment: span("increment.increment", control.increment).unwrap_or_default(),
        },
        Some(Told::PerTurn(control)) => {
            Clock::PerTurn { limit: span("per_turn.limit", control.limit).unwrap_or_default() }
        }
        Some(Told::ByoYomi(control)) => Clock::ByoYomi {
            main: span("byo_yomi.main_time", control.main_time).unwrap_or_default(),
            // A number that is too large is as much out of range as the largest one.
            periods: u8::try_from(control.periods).unwrap_or(u8::MAX),
            period: span("byo_yomi.period", control.period).unwrap_or_default(),
        },
        Some(Told::Correspondence(control)) => {
            Clock::Correspondence { days: u16::try_from(control.days_per_turn).unwrap_or(u16::MAX) }
        }
    };
    let first_turn = span("first_turn_limit", message.first_turn_limit);
    if faults.count() > before {
        return TimeControl::default();
    }
    TimeControl::new(clock, first_turn).unwrap_or_else(|found| {
        for fault in found {
            let (value, expected) = (fault.value, fault.expected);
            let field = format!("time_control.{}", fault.field);
            faults.add(field, format!("is {value}, but must be {expected}"));
        }
        TimeControl::default()
    })
}

/// The clocks of a game; none where it has none.
pub fn clocks(game: &Game) -> Vec<v1::SeatClock> {
    let control = game.time_control();
    if matches!(control.clock(), Clock::Unlimited { .. }) && control.first_turn().is_none() {
        return Vec::new();
    }
    let clock = |seat: Seat| {
        let Reading { left, periods, running } = game.clock(seat);
        v1::SeatClock {
            seat: seat.number().into(),
            remaining: left.map(duration),
            periods_left: periods.into(),
            running,
        }
    };
    game.seats().map(clock).collect()
}

/// A span of time.
pub fn duration(Span(millis): Span) -> Duration {
    Duration { seconds: (millis / 1000) as i64, nanos: (millis % 1000) as i32 * 1_000_000 }
}

/// Reads a span of time.
///
/// # Errors
/// Where it is negative, or not in whole milliseconds.
pub fn span(sent: &Duration) -> Result<Span, String> {
    let fault = || {
        format!(
            "is {} s and {} ns, but must be a span in whole milliseconds that is not negative",
            sent.seconds, sent.nanos
        )
    };
    let seconds = u64::try_from(sent.seconds).map_err(|_| fault())?;
    let nanos = u64::try_from(sent.nanos).ok().filter(|nanos| *nanos < 1_000_000_000);
    let millis = nanos.filter(|nanos| nanos % 1_000_000 == 0).ok_or_else(fault)? / 1_000_000;
    seconds.checked_mul(1000).and_then(|all| all.checked_add(millis)).map(Span).ok_or_else(fault)
}
