//! Whether a history is one that some order of its calls allows.
//!
//! Every effective write makes one revision, so the order of the effects is the log's. The log is
//! replayed through the model first; each answer must say what the model says at the revision that
//! it shows. Then [`crate::order`] looks for moments at which the effects can have happened.

use std::collections::HashMap;
use std::fmt;

use banqi::api::proto::v1;
use banqi::rules::{BoardSize, Deal};

use crate::call::{Answer, Call, Credential};
use crate::coverage::Coverage;
use crate::history::{History, Operation};
use crate::model::{Event, Model, actions_of, differences, millis, view_of};
use crate::order;

/// What is wrong with a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    /// What was found and what would be right.
    pub(crate) what: String,
    /// The moments between which it shows.
    pub(crate) during: (u64, u64),
}

/// What kind of thing is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The log is none: a gap, times that go back, an entry that was not allowed.
    Log,
    /// A write was answered with a revision that the log does not have, or that something else
    /// made.
    Lost,
    /// An answer does not say what the model says at its revision.
    Answer,
    /// Two answers about the same thing differ.
    Differing,
    /// No order of the calls explains the outcome of this one.
    Unexplained,
    /// Entries of the log that no call made.
    Unasked,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}, between moments {} and {}:", self.kind, self.during.0, self.during.1)?;
        f.write_str(&self.what)
    }
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, during: (u64, u64), what: impl Into<String>) -> Self {
        Self { kind, what: what.into(), during }
    }

    fn at(kind: FaultKind, operation: &Operation, what: impl fmt::Display) -> Self {
        let during = (operation.invoked, operation.returned);
        Self::new(kind, during, format!("{operation}\n{what}"))
    }
}

/// The label by which a creation tells itself from others of the same id.
pub(crate) const CREATION: &str = "creation";

/// A history with what the checks need to know of it.
pub(crate) struct Course<'a> {
    pub(crate) history: &'a History,
    /// What made each revision, from the first one.
    pub(crate) events: Vec<Event>,
    /// The game at each revision, from the first one.
    pub(crate) models: Vec<Model>,
    /// Which seat each token is for.
    pub(crate) tokens: HashMap<String, u32>,
}

impl Course<'_> {
    /// The seat that a call means to act for; `None` for none, and for a token of no seat.
    pub(crate) fn caller(&self, call: &Call) -> Option<u32> {
        match call.credential()? {
            Credential::Nothing => None,
            Credential::Token(token) => self.tokens.get(token).copied(),
            Credential::Seat(seat) => Some(seat),
        }
    }
}

/// Checks a history, and tells what it had in it.
pub(crate) fn check(history: &History) -> Result<Coverage, Fault> {
    let (events, models) = replay(history)?;
    let mut course = Course { history, events, models, tokens: HashMap::new() };
    course.tokens = tokens(&course)?;
    check_answers(&course)?;
    order::check(&course)
}

/// Replays the log through the model.
fn replay(history: &History) -> Result<(Vec<Event>, Vec<Model>), Fault> {
    let end = history.operations.iter().map(|operation| operation.returned).max().unwrap_or(0);
    let fault = |what: String| Fault::new(FaultKind::Log, (0, end), what);
    let log = &history.log;
    for (revision, entry) in (1..).zip(log) {
        if entry.revision != revision {
            return Err(fault(format!("entry {revision} says that it is {}", entry.revision)));
        }
    }
    for pair in log.windows(2) {
        if millis(pair[0].time.as_ref()) > millis(pair[1].time.as_ref()) {
            return Err(fault(format!("time goes back: {pair:?}")));
        }
    }
    let events = Event::of_log(log, &history.proof).map_err(fault)?;
    let [Event::Created, later @ ..] = &events[..] else {
        return Err(fault(format!("the log does not begin with the creation: {events:?}")));
    };
    let (mut model, deal) = begin(history).map_err(fault)?;
    let mut models = vec![model.clone()];
    for (event, entry) in later.iter().zip(&log[1..]) {
        let at = millis(entry.time.as_ref());
        model.admit(event, at).map_err(|why| {
            fault(format!("revision {} cannot be: {event:?}: {why}", entry.revision))
        })?;
        model.apply(event, at, &deal);
        models.push(model.clone());
    }
    let (found, added) = (&history.proof.entropies, model.entropies());
    if *found != added {
        return Err(fault(format!("the proof has the entropies {found:?}, added were {added:?}")));
    }
    Ok((events, models))
}

/// The game at its first revision, as the creation asked that it names.
fn begin(history: &History) -> Result<(Model, Deal), String> {
    let shown = history.operations.iter().find_map(|operation| {
        // The rematch, which has the same labels, is not among these.
        let game = operation.outcome.answer()?.game.as_ref()?;
        Some((game.game_id.as_str(), game.labels.get(CREATION)?))
    });
    let (game_id, label) = shown.ok_or("no answer shows which creation made the game")?;
    let request = history.operations.iter().find_map(|operation| match &operation.call {
        Call::Create(request) if request.labels.get(CREATION) == Some(label) => Some(request),
        _ => None,
    });
    let request = request.ok_or_else(|| format!("nobody asked for the creation {label}"))?;
    let model = Model::create(game_id, request, millis(history.log[0].time.as_ref()));
    let board = if model.is_double() { BoardSize::Double } else { BoardSize::Single };
    let deal = Deal::parse(board, &history.proof.deal).map_err(|error| error.to_string())?;
    Ok((model, deal))
}

/// Compares each answer with the model at its revision, and with all others of that revision.
fn check_answers(course: &Course<'_>) -> Result<(), Fault> {
    let mut seen: HashMap<u64, &v1::Game> = HashMap::new();
    let history = course.history;
    let views: Vec<_> = course.models.iter().map(Model::view).collect();
    for operation in &history.operations {
        let Some(answer) = operation.outcome.answer() else { continue };
        if let Some(new) = &answer.rematch {
            check_rematch(course, operation, answer, new)?;
        }
        let Some(revision) = answer.revision else { continue };
        let index = revision.checked_sub(1).map(|index| index as usize);
        let Some(index) = index.filter(|index| *index < course.models.len()) else {
            let what = format!("the log ends at revision {}", course.models.len());
            return Err(Fault::at(FaultKind::Lost, operation, what));
        };
        let model = &course.models[index];
        let wrong = |what: String| Err(Fault::at(FaultKind::Answer, operation, what));
        if let Some(game) = &answer.game {
            let told = differences(&views[index], &view_of(game));
            if !told.is_empty() {
                return wrong(told);
            }
            if game.etag != history.log[index].etag {
                return wrong(format!("the log has the etag {}", history.log[index].etag));
            }
            if !game.log.is_empty() && game.log[..] != history.log[..=index] {
                return wrong("its log is not the beginning of the last one".to_owned());
            }
            let is_overdue = model.deadline().is_some_and(|deadline| deadline <= answer.time);
            if is_overdue && matches!(operation.call, Call::Get(_)) {
                return wrong("its time is that of a seat that had run out of time".to_owned());
            }
            let bare = seen.entry(revision).or_insert(game);
            if !same(bare, game) {
                let what = format!("another answer of that revision says {bare:?}");
                return Err(Fault::at(FaultKind::Differing, operation, what));
            }
        }
        if let Some(actions) = &answer.actions
            && actions_of(actions) != model.legal_actions()
        {
            return wrong(format!("the model has {}", model.legal_actions()));
        }
        if operation.call.is_write() {
            check_write(course, operation, answer, index)?;
        }
    }
    Ok(())
}

/// Whether two answers tell the same of a game, apart from the log, which only some have.
fn same(one: &v1::Game, other: &v1::Game) -> bool {
    let bare = |game: &v1::Game| v1::Game { log: Vec::new(), ..game.clone() };
    bare(one) == bare(other)
}

/// Whether the answer to a write is about what the write asked for.
fn check_write(
    course: &Course<'_>,
    operation: &Operation,
    answer: &Answer,
    index: usize,
) -> Result<(), Fault> {
    let wrong = |what: String| Err(Fault::at(FaultKind::Answer, operation, what));
    let model = &course.models[index];
    let record = answer.record.as_ref().map(|record| record.text.clone());
    let expected = match operation.call {
        Call::Play(_) => model.last_record(),
        _ => None,
    };
    if record != expected {
        return wrong(format!("the record is {record:?}; the model says {expected:?}"));
    }
    let seats: Vec<u32> = answer.tokens.iter().map(|token| token.seat).collect();
    let expected = match (&operation.call, &course.events[index]) {
        (Call::Create(_), _) => model.assigned_seats(),
        (Call::Join(_), Event::Joined { seat, .. }) => vec![*seat],
        _ => Vec::new(),
    };
    if seats != expected {
        return wrong(format!("tokens of the seats {seats:?}; the model says {expected:?}"));
    }
    Ok(())
}

/// Whether the answer of a rematch is about the one rematch that there is, and brings the tokens of
/// whoever asked. What happens in it then is the history of another game.
fn check_rematch(
    course: &Course<'_>,
    operation: &Operation,
    answer: &Answer,
    new: &v1::Game,
) -> Result<(), Fault> {
    let wrong = |what: String| Err(Fault::at(FaultKind::Answer, operation, what));
    let Some(last) = &course.history.rematch else {
        return Err(Fault::at(FaultKind::Lost, operation, "the game has no rematch"));
    };
    if new.game_id != last.game_id {
        return wrong(format!("the rematch is {}", last.game_id));
    }
    let entry = new.revision.checked_sub(1).and_then(|index| last.log.get(index as usize));
    if entry.is_none_or(|entry| entry.etag != new.etag) {
        let what = format!("the rematch was never at {}", new.etag);
        return Err(Fault::at(FaultKind::Lost, operation, what));
    }
    let series = new.series.clone().unwrap_or_default();
    let asked_by = match operation.call.credential() {
        Some(Credential::Seat(seat)) => vec![seat],
        Some(Credential::Token(token)) => course.tokens.get(token).copied().into_iter().collect(),
        Some(Credential::Nothing) | None => series.scores.iter().map(|s| s.previous_seat).collect(),
    };
    let theirs = series.scores.iter().filter(|score| asked_by.contains(&score.previous_seat));
    let expected: Vec<u32> = theirs.map(|score| score.seat).collect();
    let seats: Vec<u32> = answer.tokens.iter().map(|token| token.seat).collect();
    if seats != expected {
        return wrong(format!("tokens of the seats {seats:?}; asked for were {expected:?}"));
    }
    let is_there =
        |number: &u32| new.seats.iter().any(|seat| seat.number == *number && seat.joined);
    if !expected.iter().all(is_there) {
        return wrong(format!("not all of the seats {expected:?} are taken"));
    }
    Ok(())
}

/// Which seat each token of the game is for; and whether every answer brings the same token of a seat of
/// the rematch, which has no other.
fn tokens(course: &Course<'_>) -> Result<HashMap<String, u32>, Fault> {
    let mut tokens = HashMap::new();
    let mut of_rematch: HashMap<u32, &str> = HashMap::new();
    for operation in &course.history.operations {
        let Some(answer) = operation.outcome.answer() else { continue };
        for v1::SeatToken { seat, token } in &answer.tokens {
            let is_right = if answer.rematch.is_some() {
                of_rematch.entry(*seat).or_insert(token) == token
            } else {
                *tokens.entry(token.clone()).or_insert(*seat) == *seat
            };
            if !is_right {
                let what = format!("seat {seat} was told another token, or another seat this one");
                return Err(Fault::at(FaultKind::Differing, operation, what));
            }
        }
    }
    Ok(tokens)
}
