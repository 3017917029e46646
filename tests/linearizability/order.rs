//! Whether there are moments at which the effects can have happened, one after the other as the log
//! has them, such that every call got what the game had for it at some moment between its
//! invocation and its return.
//!
//! The history is walked through by its moments with all states in which the game can be then: which
//! revision it is at, which request made each, and which of the calls under way have not had a
//! moment yet that explains their outcome. A call that returns without one ends a state; where no
//! state is left, no order of the calls explains the history.

use std::collections::{BTreeSet, HashMap};

use crate::call::{Call, Credential};
use crate::checker::{Course, Fault, FaultKind};
use crate::coverage::Coverage;
use crate::history::{CUT, LEFT, Operation, Outcome};
use crate::model::{Event, Model};

/// How many requests of each seat, and of the platform, a game remembers beside those that created
/// it and joined it.
const REMEMBERED: usize = 8;

/// The calls that should have been answered. A connection that was cut before may still be at fault,
/// but not often.
pub(crate) const UNCUT: &str = "unknown outcome: nothing was cut";

/// A call with all its repetitions: those of the same caller with the same id and body.
type Request = usize;

/// What a call comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    /// It would do this.
    Effect(Event),
    /// It had its effect before, which made this revision.
    Repeated(u64),
    /// It is answered with the game as it stands.
    Read,
    /// It is answered with the rematch that there is.
    Rematch,
    Refused(String),
}

/// How the game can be at a moment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    /// Which request made each revision; `None` where time did.
    makers: Vec<Option<Request>>,
    /// Which calls without a request id have had their effect although nobody knows of it.
    used: BTreeSet<usize>,
    /// Which calls under way are not explained yet.
    open: BTreeSet<usize>,
}

impl State {
    fn revision(&self) -> usize {
        self.makers.len()
    }
}

struct Search<'a> {
    course: &'a Course<'a>,
    operations: &'a [Operation],
    /// Who calls, as far as a token tells.
    callers: Vec<Option<u32>>,
    /// The request of each call.
    requests: Vec<Request>,
    /// A call of each request.
    examples: Vec<usize>,
    /// The tokens that the answers to each request brought.
    tokens: Vec<HashMap<u32, &'a str>>,
    /// The calls that were invoked before the present moment and may still have an effect: those
    /// under way, and those of unknown outcome.
    invoked: BTreeSet<usize>,
}

/// Looks for an order; tells what the history had in it.
pub(crate) fn check(course: &Course<'_>) -> Result<Coverage, Fault> {
    let mut search = Search::new(course)?;
    let mut moments: Vec<(u64, bool, usize)> = Vec::new();
    for (index, operation) in search.operations.iter().enumerate() {
        moments.push((operation.invoked, true, index));
        moments.push((operation.returned, false, index));
    }
    moments.sort_unstable();
    let start = State { makers: Vec::new(), used: BTreeSet::new(), open: BTreeSet::new() };
    let mut states = BTreeSet::from([start]);
    for (_, begins, index) in moments {
        let operation = &search.operations[index];
        if begins {
            search.invoked.insert(index);
            let is_open = !operation.outcome.is_unknown();
            let add = |mut state: State| {
                if is_open {
                    state.open.insert(index);
                }
                state
            };
            states = search.close(states.into_iter().map(add).collect());
        } else if !operation.outcome.is_unknown() {
            search.invoked.remove(&index);
            let left: BTreeSet<State> =
                states.iter().filter(|state| !state.open.contains(&index)).cloned().collect();
            if left.is_empty() {
                return Err(search.unexplained(index, &states));
            }
            states = left;
        }
    }
    let last = states.iter().max_by_key(|state| state.revision());
    let last = last.expect("a state is left");
    if last.revision() < course.events.len() {
        let end = search.operations.iter().map(|operation| operation.returned).max().unwrap_or(0);
        let event = &course.events[last.revision()];
        let what = format!("nobody asked for revision {}: {event:?}", last.revision() + 1);
        return Err(Fault::new(FaultKind::Unasked, (0, end), what));
    }
    Ok(search.coverage(last))
}

impl<'a> Search<'a> {
    fn new(course: &'a Course<'a>) -> Result<Self, Fault> {
        let operations = &course.history.operations[..];
        let callers: Vec<_> = operations.iter().map(|one| course.caller(&one.call)).collect();
        let mut known = HashMap::new();
        let (mut requests, mut examples) = (Vec::new(), Vec::new());
        for (index, Operation { call, .. }) in operations.iter().enumerate() {
            // Without an id every call is one of its own.
            let key = match call.request_id() {
                Some(id) => (id.to_owned(), call.body(), callers[index], 0),
                None => (String::new(), ("", Vec::new()), None, index),
            };
            let request = *known.entry(key).or_insert(examples.len());
            if request == examples.len() {
                examples.push(index);
            }
            requests.push(request);
        }
        let tokens = tokens(operations, &requests, examples.len())?;
        let invoked = BTreeSet::new();
        Ok(Self { course, operations, callers, requests, examples, tokens, invoked })
    }

    /// All states that can be reached from these at the present moment, with every call explained
    /// that can be.
    fn close(&self, from: BTreeSet<State>) -> BTreeSet<State> {
        let mut reached = BTreeSet::new();
        let mut new: Vec<State> = from.into_iter().collect();
        while let Some(mut state) = new.pop() {
            let open = std::mem::take(&mut state.open);
            // To be explained early never harms: it changes nothing else.
            let explained = |index: &usize| {
                let operation = &self.operations[*index];
                self.explains(&self.verdict(&state, *index), &state, operation)
            };
            state.open = open.into_iter().filter(|index| !explained(index)).collect();
            if !reached.contains(&state) {
                new.extend(self.next(&state));
                reached.insert(state);
            }
        }
        reached
    }

    /// The states after the next effect, if it can happen now.
    fn next(&self, state: &State) -> Vec<State> {
        let Some(event) = self.course.events.get(state.revision()) else { return Vec::new() };
        let after = |maker: Option<Request>| {
            let mut next = state.clone();
            next.makers.push(maker);
            next
        };
        if event.is_by_time() {
            return vec![after(None)];
        }
        let mut next: Vec<State> = Vec::new();
        let effect = Verdict::Effect(event.clone());
        for &index in &self.invoked {
            let operation = &self.operations[index];
            let may_have_made = match &operation.outcome {
                Outcome::Answered(answer) => {
                    let revision = state.revision() as u64 + 1;
                    state.open.contains(&index)
                        && answer.revision.is_none_or(|told| told == revision)
                }
                Outcome::Unknown(_) => !state.used.contains(&index),
                Outcome::Refused(_) => false,
            };
            if !may_have_made || !operation.call.is_write() || self.verdict(state, index) != effect
            {
                continue;
            }
            let mut after = after(Some(self.requests[index]));
            after.open.remove(&index);
            if operation.outcome.is_unknown() && operation.call.request_id().is_none() {
                after.used.insert(index);
            }
            next.push(after);
        }
        next
    }

    /// What a call comes to in a state, checked in the documented order: existence, seat, request
    /// id, etag, state of the game.
    fn verdict(&self, state: &State, index: usize) -> Verdict {
        let call = &self.operations[index].call;
        let refused = |reason: &str| Verdict::Refused(reason.to_owned());
        let Some(at) = state.revision().checked_sub(1) else {
            return match call {
                Call::Create(_) => Verdict::Effect(Event::Created),
                _ => refused("GAME_NOT_FOUND"),
            };
        };
        let model = &self.course.models[at];
        match call.credential() {
            None => {}
            Some(Credential::Nothing) if call.is_the_platforms_without_credential() => {}
            Some(Credential::Nothing) => return refused("SEAT_TOKEN_MISSING"),
            Some(Credential::Token(token)) if !self.is_present(state, model, token) => {
                return refused("SEAT_TOKEN_WRONG");
            }
            Some(Credential::Token(_)) => {}
            Some(Credential::Seat(seat)) if !model.has_seat(seat) => {
                return refused("NO_SUCH_SEAT");
            }
            Some(Credential::Seat(_)) => {}
        }
        match self.recall(state, index) {
            // The rematch remembers who asked for it, not the game before.
            Some(_) if matches!(call, Call::Rematch(_)) => return refused("REQUEST_ID_REUSED"),
            Some(Ok(revision)) => return Verdict::Repeated(revision),
            Some(Err(())) => return refused("REQUEST_ID_REUSED"),
            None => {}
        }
        if model.has_rematch() && matches!(call, Call::Rematch(_)) {
            return Verdict::Rematch;
        }
        let log = &self.course.history.log;
        match call.etag() {
            Some(etag) if etag == log[at].etag => {}
            Some(etag) if log[..at].iter().any(|entry| entry.etag == etag) => {
                return refused("ETAG_MISMATCH");
            }
            Some(_) => return refused("HISTORY_LOST"),
            None => {}
        }
        match call {
            Call::Create(_) => refused("GAME_ID_TAKEN"),
            Call::Get(_) | Call::ListActions(_) => Verdict::Read,
            call => match model.judge(call, self.callers[index]) {
                Ok(_) if call.only_validates() => Verdict::Read,
                Ok(event) => Verdict::Effect(event),
                Err(reason) => Verdict::Refused(reason),
            },
        }
    }

    /// Whether a token is the present one of its seat. One that nobody was told is nobody's to show.
    fn is_present(&self, state: &State, model: &Model, token: &str) -> bool {
        let Some(&seat) = self.course.tokens.get(token) else { return false };
        let Some(since) = model.token_since(seat) else { return false };
        let maker = state.makers[since as usize - 1];
        maker.is_some_and(|request| self.tokens[request].get(&seat) == Some(&token))
    }

    /// The revision that the call's request made before, or that its id was used for something
    /// else.
    fn recall(&self, state: &State, call: usize) -> Option<Result<u64, ()>> {
        let id = self.operations[call].call.request_id()?;
        let mut later: HashMap<Option<u32>, usize> = HashMap::new();
        for (index, maker) in state.makers.iter().enumerate().rev() {
            let &Some(request) = maker else { continue };
            let example = self.examples[request];
            let (made_by, made) = (self.callers[example], &self.operations[example].call);
            let Some(used) = made.request_id() else { continue };
            if matches!(made, Call::Rematch(_)) {
                continue;
            }
            if !matches!(made, Call::Create(_) | Call::Join(_)) {
                let count = later.entry(made_by).or_default();
                *count += 1;
                if *count > REMEMBERED {
                    continue;
                }
            }
            if used == id && made_by == self.callers[call] {
                let is_same = request == self.requests[call];
                return Some(if is_same { Ok(index as u64 + 1) } else { Err(()) });
            }
        }
        None
    }

    /// Whether a call that comes to this has the outcome that it had. Effects are not explained
    /// here: they make a revision.
    fn explains(&self, verdict: &Verdict, state: &State, operation: &Operation) -> bool {
        let revision = state.revision() as u64;
        match (verdict, &operation.outcome) {
            (Verdict::Read, Outcome::Answered(answer)) => answer.revision == Some(revision),
            (Verdict::Repeated(made), Outcome::Answered(answer)) => {
                answer.revision.is_none_or(|told| told == *made)
            }
            (Verdict::Rematch, Outcome::Answered(answer)) => answer.rematch.is_some(),
            (verdict, Outcome::Refused(refused)) => {
                let at = refused.metadata.get("revision");
                let tells_this = at.is_none_or(|told| *told == revision.to_string())
                    && refused.metadata.get("etag").is_none_or(|told| {
                        let log = &self.course.history.log;
                        state.revision().checked_sub(1).is_some_and(|at| log[at].etag == *told)
                    });
                let is_refused = *verdict == Verdict::Refused(refused.reason.clone());
                // Whoever lost every race is told so; that needs others to have won.
                let lost = refused.reason == "CONTENTION" && operation.call.is_write();
                // Where the store was too slow to create anything, there is no game to tell of.
                let is_creation = matches!(operation.call, Call::Create(_));
                // Whether the seat has asked before, or used the id for another rematch, only the
                // rematch knows.
                let of_rematch = *verdict == Verdict::Rematch
                    && match refused.reason.as_str() {
                        "ETAG_MISMATCH" | "HISTORY_LOST" => operation.call.etag().is_some(),
                        "REQUEST_ID_REUSED" => self.is_id_of_another_rematch(operation),
                        _ => false,
                    };
                tells_this && (is_refused || of_rematch || lost && (at.is_some() || is_creation))
            }
            _ => false,
        }
    }

    /// Whether another call for a rematch had the same id.
    fn is_id_of_another_rematch(&self, operation: &Operation) -> bool {
        self.operations.iter().any(|other| {
            matches!(other.call, Call::Rematch(_))
                && other.call.request_id() == operation.call.request_id()
                && other.call.body() != operation.call.body()
        })
    }

    fn unexplained(&self, index: usize, states: &BTreeSet<State>) -> Fault {
        let operation = &self.operations[index];
        let verdicts: BTreeSet<String> = states
            .iter()
            .map(|state| {
                let verdict = self.verdict(state, index);
                format!("  at revision {}: {verdict:?}\n", state.revision())
            })
            .collect();
        let verdicts: String = verdicts.into_iter().collect();
        let what = format!("{operation}\nWhat the model allows while it returns:\n{verdicts}");
        Fault::new(FaultKind::Unexplained, (operation.invoked, operation.returned), what)
    }

    fn coverage(&self, last: &State) -> Coverage {
        let mut coverage = Coverage::default();
        let mut answers: HashMap<Request, usize> = HashMap::new();
        for (index, operation) in self.operations.iter().enumerate() {
            let name = operation.call.name();
            match &operation.outcome {
                Outcome::Answered(_) if operation.call.is_write() => {
                    *answers.entry(self.requests[index]).or_default() += 1;
                }
                Outcome::Answered(_) => coverage.count(format!("{name}: answered")),
                Outcome::Refused(refused) => coverage.count(format!("refused: {}", refused.reason)),
                Outcome::Unknown(why) => {
                    if why != CUT && why != LEFT {
                        coverage.count(UNCUT.to_owned());
                    }
                    coverage.count(if last.makers.contains(&Some(self.requests[index])) {
                        "unknown outcome: had its effect".to_owned()
                    } else {
                        "unknown outcome: had none".to_owned()
                    });
                }
            }
        }
        for event in &self.course.events {
            coverage.count(format!("event: {}", event.name()));
        }
        for count in answers.into_values().filter(|count| *count > 1) {
            coverage.add("repeated: answered again".to_owned(), count - 1);
        }
        coverage
    }
}

/// The tokens that the answers to each request brought; the same each time, and never those of another
/// request.
fn tokens<'a>(
    operations: &'a [Operation],
    requests: &[Request],
    count: usize,
) -> Result<Vec<HashMap<u32, &'a str>>, Fault> {
    let mut tokens: Vec<HashMap<u32, &str>> = vec![HashMap::new(); count];
    let mut owners: HashMap<&str, Request> = HashMap::new();
    for (operation, &request) in operations.iter().zip(requests) {
        let Some(answer) = operation.outcome.answer() else { continue };
        if answer.rematch.is_some() {
            continue;
        }
        for token in &answer.tokens {
            let (seat, token) = (token.seat, token.token.as_str());
            let first = *tokens[request].entry(seat).or_insert(token);
            if first != token || *owners.entry(token).or_insert(request) != request {
                let during = (operation.invoked, operation.returned);
                let what = format!("{operation}\nanother token than this call brought before");
                return Err(Fault::new(FaultKind::Differing, during, what));
            }
        }
    }
    Ok(tokens)
}
