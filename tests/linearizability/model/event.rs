//! What can happen to a game.

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event as Told;
use banqi::rules::Record;

/// What made a revision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Created,
    Joined {
        seat: u32,
        player: String,
        entropy: Vec<u8>,
    },
    EntropyAdded {
        seat: u32,
        entropy: Vec<u8>,
    },
    Played {
        seat: u32,
        action: String,
    },
    Resigned {
        seat: u32,
    },
    /// By a seat; 0 for the platform.
    Aborted {
        seat: u32,
    },
    TimedOut {
        seat: u32,
    },
    DrawOffered {
        seat: u32,
    },
    DrawAnswered {
        seat: u32,
        accepted: bool,
    },
    TakebackRequested {
        seat: u32,
    },
    TakebackAnswered {
        seat: u32,
        accepted: bool,
    },
    TokenReissued {
        seat: u32,
    },
    /// A rematch was made, under an id that nobody chose.
    RematchMade,
}

impl Event {
    /// The events of a log. What seats added to the deal is not in the log, but in the proof.
    pub(crate) fn of_log(
        log: &[v1::LogEntry],
        proof: &v1::GetFairnessProofResponse,
    ) -> Result<Vec<Self>, String> {
        let added_later = |seat: u32| {
            log.iter().any(|entry| {
                matches!(&entry.event, Some(Told::EntropyAdded(added)) if added.seat == seat)
            })
        };
        let entropy = |seat: u32| {
            let index = (seat as usize).checked_sub(1)?;
            proof.entropies.get(index).cloned()
        };
        let event = |entry: &v1::LogEntry| {
            Some(match entry.event.as_ref()? {
                Told::Created(_) => Self::Created,
                Told::Joined(joined) => Self::Joined {
                    seat: joined.seat,
                    player: joined.player_id.clone(),
                    entropy: if added_later(joined.seat) {
                        Vec::new()
                    } else {
                        entropy(joined.seat)?
                    },
                },
                Told::EntropyAdded(added) => {
                    Self::EntropyAdded { seat: added.seat, entropy: entropy(added.seat)? }
                }
                Told::Played(record) => {
                    let action = record.text.parse::<Record>().ok()?.action().to_string();
                    Self::Played { seat: record.seat, action }
                }
                Told::Resigned(resigned) => Self::Resigned { seat: resigned.seat },
                Told::Aborted(aborted) => Self::Aborted { seat: aborted.seat },
                Told::TimedOut(timed_out) => Self::TimedOut { seat: timed_out.seat },
                Told::DrawOffered(offered) => Self::DrawOffered { seat: offered.seat },
                Told::DrawAnswered(answered) => {
                    Self::DrawAnswered { seat: answered.seat, accepted: answered.accepted }
                }
                Told::TakebackRequested(asked) => Self::TakebackRequested { seat: asked.seat },
                Told::TakebackAnswered(answered) => {
                    Self::TakebackAnswered { seat: answered.seat, accepted: answered.accepted }
                }
                Told::SeatTokenReissued(reissued) => Self::TokenReissued { seat: reissued.seat },
                Told::RematchMade(_) => Self::RematchMade,
                // No game of these tests is imported.
                Told::Agreed(_) => return None,
                // No call of the model does that.
                Told::Adjudicated(_) | Told::PlayerErased(_) => return None,
            })
        };
        let told = |entry| event(entry).ok_or_else(|| format!("an entry that is none: {entry:?}"));
        log.iter().map(told).collect()
    }

    /// Whether it comes with time and not by a call.
    pub(crate) fn is_by_time(&self) -> bool {
        matches!(self, Self::TimedOut { .. })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Joined { .. } => "joined",
            Self::EntropyAdded { .. } => "entropy added",
            Self::Played { .. } => "played",
            Self::Resigned { .. } => "resigned",
            Self::Aborted { .. } => "aborted",
            Self::TimedOut { .. } => "timed out",
            Self::DrawOffered { .. } => "draw offered",
            Self::DrawAnswered { .. } => "draw answered",
            Self::TakebackRequested { .. } => "takeback requested",
            Self::TakebackAnswered { .. } => "takeback answered",
            Self::TokenReissued { .. } => "token reissued",
            Self::RematchMade => "rematch made",
        }
    }
}

/// A point in time in milliseconds since the Unix epoch.
pub(crate) fn millis(time: Option<&prost_types::Timestamp>) -> i64 {
    time.map_or(0, |time| time.seconds * 1000 + i64::from(time.nanos) / 1_000_000)
}
