//! Time controls: which make sense, and that every fault is told at once.

use banqi::game::{Clock, Span, TimeControl};

fn fields(clock: Clock, first_turn: Option<Span>) -> Vec<&'static str> {
    match TimeControl::new(clock, first_turn) {
        Ok(control) => {
            assert_eq!((control.clock(), control.first_turn()), (clock, first_turn));
            Vec::new()
        }
        Err(faults) => {
            for fault in &faults {
                let told = fault.to_string();
                assert!(told.contains(fault.field) && told.contains(&fault.expected), "{told}");
            }
            faults.into_iter().map(|fault| fault.field).collect()
        }
    }
}

const TOO_LITTLE: Span = Span(99);
const TOO_MUCH: Span = Span(365 * 86_400_000 + 1);
const LEAST: Span = Span(100);
const MOST: Span = Span(365 * 86_400_000);

#[test]
fn every_span_has_its_range() {
    type OfSpan = fn(Span) -> Clock;
    let clocks: [(OfSpan, &str); 7] = [
        (|span| Clock::Unlimited { inactivity: Some(span) }, "unlimited.inactivity_limit"),
        (|main| Clock::SuddenDeath { main }, "sudden_death.main_time"),
        (|main| Clock::Increment { main, increment: LEAST }, "increment.main_time"),
        (|increment| Clock::Increment { main: LEAST, increment }, "increment.increment"),
        (|limit| Clock::PerTurn { limit }, "per_turn.limit"),
        (|main| Clock::ByoYomi { main, periods: 1, period: LEAST }, "byo_yomi.main_time"),
        (|period| Clock::ByoYomi { main: LEAST, periods: 1, period }, "byo_yomi.period"),
    ];
    for (clock, field) in clocks {
        for span in [TOO_LITTLE, TOO_MUCH, Span(u64::MAX), Span(1)] {
            assert_eq!(fields(clock(span), None), [field], "{span:?}");
        }
        for span in [LEAST, MOST] {
            assert_eq!(fields(clock(span), None), [""; 0], "{field}: {span:?}");
            assert_eq!(fields(clock(LEAST), Some(span)), [""; 0]);
        }
        for span in [Span::ZERO, TOO_LITTLE, TOO_MUCH] {
            assert_eq!(fields(clock(LEAST), Some(span)), ["first_turn_limit"], "{field}");
        }
        let nothing = if field == "byo_yomi.main_time" { vec![] } else { vec![field] };
        assert_eq!(fields(clock(Span::ZERO), None), nothing, "{field} of no time");
    }
}

#[test]
fn every_count_has_its_range() {
    let periods = |periods| Clock::ByoYomi { main: Span::ZERO, periods, period: LEAST };
    let days = |days| Clock::Correspondence { days };
    for count in [0, 101, u8::MAX] {
        assert_eq!(fields(periods(count), None), ["byo_yomi.periods"]);
    }
    for count in [0, 366, u16::MAX] {
        assert_eq!(fields(days(count), None), ["correspondence.days_per_turn"]);
    }
    for clock in
        [periods(1), periods(100), days(1), days(365), Clock::Unlimited { inactivity: None }]
    {
        assert_eq!(fields(clock, None), [""; 0], "{clock:?}");
    }
}

#[test]
fn every_fault_is_told_at_once() {
    let clock = Clock::ByoYomi { main: TOO_LITTLE, periods: 0, period: TOO_MUCH };
    let expected =
        ["byo_yomi.main_time", "byo_yomi.periods", "byo_yomi.period", "first_turn_limit"];
    assert_eq!(fields(clock, Some(TOO_LITTLE)), expected);
    let clock = Clock::Increment { main: Span::ZERO, increment: Span::ZERO };
    let expected = ["increment.main_time", "increment.increment", "first_turn_limit"];
    assert_eq!(fields(clock, Some(TOO_MUCH)), expected);
}

#[test]
fn a_game_has_thirty_days_a_turn_unless_something_else_is_asked_for() {
    let default = TimeControl::default();
    assert_eq!(default.clock(), Clock::Unlimited { inactivity: Some(Span::days(30)) });
    assert_eq!(default.first_turn(), None);
}
