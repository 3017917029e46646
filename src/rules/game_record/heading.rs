//! What the headers of a game record say.

use super::error::{GameRecordError, HeaderError};
use super::frame::Header;
use super::time::UtcTime;
use crate::rules::deal::Deal;
use crate::rules::outcome::{EndReason, Outcome};
use crate::rules::position::Position;
use crate::rules::referee::Referee;
use crate::rules::rule_set::RuleSet;
use crate::rules::seat::Seat;
use crate::rules::setup::{Setup, SetupFault};

/// The value of `Result` for an aborted game, which has no places.
const NO_PLACES: &str = "-";

/// What the headers say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Heading {
    pub(super) rules: RuleSet,
    pub(super) start: Option<Position>,
    /// As many as the rule set has seats.
    pub(super) seats: Vec<Option<String>>,
    pub(super) outcome: Option<Outcome>,
    pub(super) created: Option<UtcTime>,
    pub(super) deal: Option<Deal>,
    pub(super) others: Vec<(String, String)>,
}

/// Which form of record the headers stand before.
#[derive(Clone, Copy)]
pub(super) enum Form<'a> {
    /// A game record, which names its rule set.
    GameRecord,
    /// A tournament record; the rule set is for those that name none.
    Cdc(&'a RuleSet),
}

impl Heading {
    pub(super) fn new(rules: RuleSet, start: Option<Position>) -> Self {
        let seats = vec![None; rules.seats().into()];
        let (outcome, created, deal, others) = (None, None, None, Vec::new());
        Self { rules, start, seats, outcome, created, deal, others }
    }

    pub(super) fn start_position(&self) -> Position {
        self.start.clone().unwrap_or_else(|| Position::start(&self.rules))
    }

    pub(super) fn referee(&self) -> Referee {
        match &self.start {
            None => Referee::new(&self.rules),
            Some(position) => Referee::from_position(&self.rules, position.clone()),
        }
    }

    pub(super) fn set_other(&mut self, name: String, value: String) -> Result<(), HeaderError> {
        if !is_name(&name) {
            return Err(HeaderError::Name(name));
        }
        if is_known(&name) {
            return Err(HeaderError::Known(name));
        }
        let value = checked_value(&name, value)?;
        match self.others.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.others.push((name, value)),
        }
        Ok(())
    }

    pub(super) fn read(headers: Vec<Header<'_>>, form: Form<'_>) -> Result<Self, GameRecordError> {
        let find = |name: &str| headers.iter().find(|header| header.name == name);
        check_notation(find("Notation"), form)?;
        let rules = read_rules(find("RuleSet"), form)?;
        let start = find("Position").map(|header| read_position(header, &rules)).transpose()?;
        let mut heading = Self::new(rules, start);
        heading.outcome = read_outcome(find("Result"), find("Reason"), heading.rules.seats())?;
        for header in headers {
            match header.name {
                "Notation" | "RuleSet" | "Position" | "Result" | "Reason" => {}
                "Created" => {
                    let time = header.value.parse();
                    heading.created =
                        Some(time.map_err(|_| {
                            header.fault("a time in UTC like `2024-05-01T12:30:00Z`")
                        })?);
                }
                "Deal" => heading.deal = Some(heading.read_deal(&header)?),
                name => match seat_of(name) {
                    None => heading.others.push((name.to_owned(), header.value)),
                    Some(number) => {
                        let seats = heading.seats.len();
                        if !(1..=seats).contains(&number) {
                            return Err(header.fault(format!("a seat from 1 to {seats}")));
                        }
                        heading.seats[number - 1] = Some(header.value);
                    }
                },
            }
        }
        Ok(heading)
    }

    fn read_deal(&self, header: &Header<'_>) -> Result<Deal, GameRecordError> {
        if self.outcome.is_none() {
            return Err(header.fault(
                "no deal of a game that goes on, or the headers `Result` and `Reason` as well",
            ));
        }
        let deal = Deal::parse_hidden(&self.start_position(), &header.value)
            .map_err(|fault| header.fault(format!("a deal of the start, but {fault}")))?;
        if deal.to_string() == header.value {
            Ok(deal)
        } else {
            Err(header.fault("pieces and `.` split by single blanks"))
        }
    }
}

fn check_notation(header: Option<&Header<'_>>, form: Form<'_>) -> Result<(), GameRecordError> {
    match (header, form) {
        (None, _) => Ok(()),
        (Some(header), Form::Cdc(_)) if header.value == "CDC" => Ok(()),
        (Some(header), Form::Cdc(_)) => Err(header.fault("`CDC`")),
        (Some(header), Form::GameRecord) => {
            Err(header.fault("no such header in a game record: it is for tournament records"))
        }
    }
}

fn read_rules(header: Option<&Header<'_>>, form: Form<'_>) -> Result<RuleSet, GameRecordError> {
    match (header, form) {
        (Some(header), _) => header.value.parse().map_err(|fault| {
            header.fault(format!("a preset and the fields that differ, but {fault}"))
        }),
        (None, Form::Cdc(rules)) => Ok(rules.clone()),
        (None, Form::GameRecord) => Err(GameRecordError::Missing {
            name: "RuleSet",
            expected: "a preset and the fields that differ from it, like `TAIWANESE quiet_limit=60`",
        }),
    }
}

fn read_position(header: &Header<'_>, rules: &RuleSet) -> Result<Position, GameRecordError> {
    let fault = |faults: &[SetupFault]| {
        let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
        header.fault(format!("a position of this rule set, but {}", told.join("; ")))
    };
    let setup: Setup = header.value.parse().map_err(|one| fault(&[one]))?;
    let position = setup.into_position(rules).map_err(|faults| fault(&faults))?;
    if position == Position::start(rules) {
        return Err(header.fault("no such header where the game starts with all face down"));
    }
    Ok(position)
}

fn read_outcome(
    result: Option<&Header<'_>>,
    reason: Option<&Header<'_>>,
    seats: u8,
) -> Result<Option<Outcome>, GameRecordError> {
    let (result, reason) = match (result, reason) {
        (None, None) => return Ok(None),
        (Some(result), Some(reason)) => (result, reason),
        (Some(header), None) => return Err(header.fault("a header `Reason` as well")),
        (None, Some(header)) => return Err(header.fault("a header `Result` as well")),
    };
    let reason =
        EndReason::ALL.into_iter().find(|known| known.name() == reason.value).ok_or_else(|| {
            let names = EndReason::ALL.map(EndReason::name).join(", ");
            reason.fault(format!("one of {names}"))
        })?;
    let expected = || match reason {
        EndReason::Aborted => result.fault(format!("`{NO_PLACES}`, since the game was aborted")),
        _ => result.fault(format!("the places of {seats} seats, split by commas, like `1,2`")),
    };
    let outcome = if result.value == NO_PLACES {
        Outcome { reason, places: Default::default() }
    } else {
        let places: Vec<u8> = result.value.split(',').map_while(|text| text.parse().ok()).collect();
        let in_range = places.iter().all(|place| (1..=seats).contains(place));
        if places.len() != usize::from(seats) || !in_range {
            return Err(expected());
        }
        Outcome { reason, places: places.into_iter().collect() }
    };
    let aborted = reason == EndReason::Aborted;
    // Compared as text too, so that `01,2` is not taken for `1,2`.
    if outcome.places.is_empty() == aborted && places_text(&outcome) == result.value {
        Ok(Some(outcome))
    } else {
        Err(expected())
    }
}

/// The value of `Result`.
pub(super) fn places_text(outcome: &Outcome) -> String {
    if outcome.places.is_empty() {
        return NO_PLACES.to_owned();
    }
    outcome.places.iter().map(u8::to_string).collect::<Vec<_>>().join(",")
}

/// Whether this can be a header's name.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether this header has a meaning of its own.
fn is_known(name: &str) -> bool {
    matches!(name, "Notation" | "RuleSet" | "Position" | "Result" | "Reason" | "Created" | "Deal")
        || seat_of(name).is_some()
}

/// The number of the seat whose header this is: `Seat1` …
fn seat_of(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("Seat")?;
    let number = digits.parse().ok()?;
    // `Seat01` is another header, not another spelling.
    (digits == usize::to_string(&number)).then_some(number)
}

/// A value that can be written on one line.
pub(super) fn checked_value(name: &str, value: String) -> Result<String, HeaderError> {
    if value.contains(char::is_control) {
        return Err(HeaderError::Value { name: name.to_owned(), value });
    }
    Ok(value)
}

/// Who the seats are, for headers.
pub(super) fn seat_headers(seats: &[Option<String>]) -> impl Iterator<Item = (String, &str)> {
    Seat::first(seats.len() as u8)
        .zip(seats)
        .filter_map(|(seat, name)| Some((format!("Seat{seat}"), name.as_deref()?)))
}
