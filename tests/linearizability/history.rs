//! What happened to one game: every call with its times, and what came of it.

use std::collections::HashMap;
use std::fmt;

use banqi::api::proto::v1;
use tonic::Status;
use tonic_types::StatusExt as _;

use crate::call::{Answer, Call};

/// Why the outcome of a call is unknown, where the client itself or its way to the service sees to
/// that.
pub(crate) const CUT: &str = "the connection was cut";
pub(crate) const LEFT: &str = "the client went away";

/// How a call ended, as its caller saw it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Answered(Box<Answer>),
    Refused(Refused),
    /// The connection was cut, the caller went away, or the service could not say: it may or may
    /// not have had its effect, and may still have it.
    Unknown(String),
}

/// A refusal of the service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) reason: String,
    pub(crate) metadata: HashMap<String, String>,
}

/// The refusals after which nobody knows whether the call had its effect.
const UNKNOWN: [&str; 2] = ["STORE_UNAVAILABLE", "DEADLINE_EXCEEDED"];

impl Outcome {
    pub(crate) fn of(result: Result<Answer, Status>) -> Self {
        let status = match result {
            Ok(answer) => return Self::Answered(Box::new(answer)),
            Err(status) => status,
        };
        match status.get_error_details().error_info() {
            Some(info) if !UNKNOWN.contains(&info.reason.as_str()) => Self::Refused(Refused {
                reason: info.reason.clone(),
                metadata: info.metadata.clone(),
            }),
            Some(info) => Self::Unknown(info.reason.clone()),
            None => Self::Unknown(format!("{:?}: {}", status.code(), status.message())),
        }
    }

    pub(crate) fn answer(&self) -> Option<&Answer> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Refused(_) | Self::Unknown(_) => None,
        }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// One call and what came of it. Moments are numbers that only grow, over all clients.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) client: String,
    pub(crate) replica: usize,
    pub(crate) call: Call,
    pub(crate) invoked: u64,
    /// Where the outcome is unknown, the call may have its effect later.
    pub(crate) returned: u64,
    pub(crate) outcome: Outcome,
}

/// What happened to one game.
#[derive(Clone, Debug)]
pub(crate) struct History {
    pub(crate) operations: Vec<Operation>,
    /// The log when all was over.
    pub(crate) log: Vec<v1::LogEntry>,
    /// What the game told of its deal when it was over.
    pub(crate) proof: v1::GetFairnessProofResponse,
    /// The rematch with its log when all was over, if there is one.
    pub(crate) rematch: Option<v1::Game>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered(answer) => {
                f.write_str("done")?;
                if let Some(revision) = answer.revision {
                    write!(f, ", revision {revision}")?;
                }
                if let Some(record) = &answer.record {
                    write!(f, ", {}", record.text)?;
                }
                for v1::SeatToken { seat, token } in &answer.tokens {
                    write!(f, ", seat {seat}: {}", token.get(..10).unwrap_or(token))?;
                }
                let rematch = answer.rematch.as_ref();
                rematch
                    .map_or(Ok(()), |new| write!(f, ", rematch {} {}", new.game_id, new.revision))
            }
            Self::Refused(refused) => {
                f.write_str(&refused.reason)?;
                let revision = refused.metadata.get("revision");
                revision.map_or(Ok(()), |revision| write!(f, " at revision {revision}"))
            }
            Self::Unknown(why) => write!(f, "unknown ({why})"),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { client, replica, call, invoked, returned, outcome } = self;
        write!(f, "[{invoked:>4} {returned:>4}] {client} at {replica}: {call} -> {outcome}")
    }
}

impl History {
    /// The calls that were under way between two moments, in the order in which they began.
    pub(crate) fn excerpt(&self, from: u64, until: u64) -> String {
        let mut shown: Vec<&Operation> = self
            .operations
            .iter()
            .filter(|operation| operation.invoked <= until && operation.returned >= from)
            .collect();
        shown.sort_by_key(|operation| operation.invoked);
        shown.iter().map(|operation| format!("  {operation}\n")).collect()
    }
}
