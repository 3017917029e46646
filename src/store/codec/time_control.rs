//! The stored form of time controls.

use super::{CodecError, proto};
use crate::game::{Clock, Span, TimeControl};

/// The time control as a message; `None` for the default one, which most games have.
pub(super) fn write_time_control(control: &TimeControl) -> Option<proto::TimeControl> {
    use proto::time_control::Clock as Stored;
    if *control == TimeControl::default() {
        return None;
    }
    let clock = match control.clock() {
        Clock::Unlimited { inactivity } => Stored::Inactivity(inactivity.unwrap_or_default().0),
        Clock::SuddenDeath { main } => Stored::Bank(proto::Bank { main: main.0, increment: None }),
        Clock::Increment { main, increment } => {
            Stored::Bank(proto::Bank { main: main.0, increment: Some(increment.0) })
        }
        Clock::PerTurn { limit } => Stored::PerTurn(limit.0),
        Clock::ByoYomi { main, periods, period } => Stored::ByoYomi(proto::ByoYomi {
            main: main.0,
            periods: periods.into(),
            period: period.0,
        }),
        Clock::Correspondence { days } => Stored::Correspondence(days.into()),
    };
    let first_turn = control.first_turn().unwrap_or_default().0;
    Some(proto::TimeControl { clock: Some(clock), first_turn })
}

/// The time control that [`write_time_control`] wrote.
pub(super) fn read_time_control(
    stored: Option<proto::TimeControl>,
) -> Result<TimeControl, CodecError> {
    use proto::time_control::Clock as Stored;
    let Some(proto::TimeControl { clock, first_turn }) = stored else {
        return Ok(TimeControl::default());
    };
    let some = |millis: u64| Some(Span(millis)).filter(|span| *span != Span::ZERO);
    // A count that is too large is as much out of range as the largest one.
    let clock = match clock.ok_or(CodecError::Missing { field: "clock" })? {
        Stored::Inactivity(limit) => Clock::Unlimited { inactivity: some(limit) },
        Stored::Bank(proto::Bank { main, increment: None }) => {
            Clock::SuddenDeath { main: Span(main) }
        }
        Stored::Bank(proto::Bank { main, increment: Some(increment) }) => {
            Clock::Increment { main: Span(main), increment: Span(increment) }
        }
        Stored::PerTurn(limit) => Clock::PerTurn { limit: Span(limit) },
        Stored::ByoYomi(stored) => Clock::ByoYomi {
            main: Span(stored.main),
            periods: u8::try_from(stored.periods).unwrap_or(u8::MAX),
            period: Span(stored.period),
        },
        Stored::Correspondence(days) => {
            Clock::Correspondence { days: u16::try_from(days).unwrap_or(u16::MAX) }
        }
    };
    TimeControl::new(clock, some(first_turn)).map_err(CodecError::TimeControl)
}
