//! What a look at the store's set-up finds.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use super::codec::CodecError;
use super::{Aspect, Misconfiguration, Severity, StoreError};
use crate::game::GameId;

/// From which round trip on a store is slow.
const SLOW: Duration = Duration::from_millis(5);

/// From how much on the clocks of this machine and of the store are apart.
const APART: Duration = Duration::from_secs(1);

/// One thing found about how a store is set up.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// What the store is.
    Server {
        /// Name and version.
        name: String,
    },
    /// Games are kept in memory only, as the operator asked, and are gone with the process.
    InMemory,
    /// The store keeps games in a file of this name, written through with every commit.
    InFile {
        /// Which file.
        path: String,
    },
    /// What the server does when its memory is full.
    Eviction {
        /// Redis' `maxmemory-policy`.
        policy: String,
        /// Redis' `maxmemory` in bytes; 0 for no limit.
        limit: u64,
    },
    /// How the server keeps its data over a restart.
    Persistence {
        /// Whether it appends each write to a file.
        append_only: bool,
        /// Redis' `save`, when the server tells: empty when it never saves a snapshot.
        snapshots: Option<String>,
    },
    /// How many replicas a server has, where writes are to wait for some.
    Replicas {
        /// How many there are.
        connected: u32,
        /// For how many each write waits.
        wanted: NonZeroU32,
    },
    /// The store answers, to this user.
    Answers,
    /// Something could not be looked at.
    Failed(StoreError),
    /// How much memory a server has taken.
    Memory {
        /// How much it has taken, in bytes.
        used: u64,
        /// Redis' `maxmemory` in bytes; 0 for no limit.
        limit: u64,
    },
    /// What the user lacks.
    Rights {
        /// Each command, key or channel that is refused.
        missing: Vec<String>,
    },
    /// What the sentinels say.
    Sentinels {
        /// How many there are.
        count: usize,
        /// Those that are away or contradict the others, with what they say.
        odd: Vec<String>,
    },
    /// Slots of a cluster.
    Slots {
        /// How many no server has.
        missing: usize,
    },
    /// The number of shards is that of the store, or will be.
    Shards {
        /// Whether the store has none yet.
        new: bool,
    },
    /// The newest records were read.
    Records {
        /// How many.
        count: usize,
        /// The first that cannot be read, and why.
        unreadable: Option<(GameId, CodecError)>,
    },
    /// A key was written and removed again.
    Writable,
    /// How long a round trip takes.
    RoundTrip {
        /// The median.
        median: Duration,
    },
    /// How far apart the clocks are.
    Clock {
        /// By how much.
        offset: Duration,
        /// Whether the store's is ahead of this machine's.
        ahead: bool,
    },
}

impl Finding {
    /// Whether a store that is set up like this would lose games.
    pub fn loses_games(&self) -> bool {
        match self {
            Self::Server { .. } | Self::InFile { .. } => false,
            Self::InMemory => true,
            // Also without a limit now: one that is set later would evict from then on.
            Self::Eviction { policy, .. } => policy != "noeviction",
            Self::Persistence { append_only, .. } => !append_only,
            // Nothing that was answered is said to be safer than it is, but it is not as safe as asked.
            Self::Replicas { connected, wanted } => *connected < wanted.get(),
            _ => false,
        }
    }

    /// What it is about.
    pub fn aspect(&self) -> Aspect {
        match self {
            Self::Server { .. } => Aspect::Version,
            Self::InMemory | Self::InFile { .. } | Self::Persistence { .. } => Aspect::Persistence,
            Self::Eviction { .. } => Aspect::Eviction,
            Self::Replicas { .. } => Aspect::Replicas,
            Self::Answers => Aspect::Reachable,
            Self::Memory { .. } => Aspect::Memory,
            Self::Rights { .. } => Aspect::Rights,
            Self::Sentinels { .. } | Self::Slots { .. } => Aspect::Topology,
            Self::Shards { .. } => Aspect::Shards,
            Self::Records { .. } => Aspect::Format,
            Self::Writable => Aspect::Writes,
            Self::RoundTrip { .. } => Aspect::Latency,
            Self::Clock { .. } => Aspect::Clock,
            Self::Failed(error) => match error {
                StoreError::Misconfigured(misconfiguration) => match misconfiguration {
                    Misconfiguration::UnknownScheme { .. }
                    | Misconfiguration::BadAddress { .. }
                    | Misconfiguration::NoReplicas => Aspect::Address,
                    Misconfiguration::ServerTooOld { .. } => Aspect::Version,
                    Misconfiguration::ShardCountMismatch { .. } => Aspect::Shards,
                    Misconfiguration::AccessDenied { .. } => Aspect::Credentials,
                    Misconfiguration::RightsMissing { .. } => Aspect::Rights,
                    Misconfiguration::NotWritable { .. } => Aspect::Writes,
                    Misconfiguration::UnusableFile { .. } => Aspect::Reachable,
                },
                StoreError::Corrupt(_) => Aspect::Format,
                StoreError::Unavailable { .. } | StoreError::Unintelligible(_) => Aspect::Reachable,
            },
        }
    }

    /// How bad it is.
    pub fn severity(&self) -> Severity {
        let warns_if = |bad| if bad { Severity::Warning } else { Severity::Fine };
        let fails_if = |bad| if bad { Severity::Fault } else { Severity::Fine };
        match self {
            Self::Failed(_) => Severity::Fault,
            Self::Rights { missing } => fails_if(!missing.is_empty()),
            Self::Slots { missing } => fails_if(*missing > 0),
            Self::Records { unreadable, .. } => fails_if(unreadable.is_some()),
            Self::Sentinels { odd, .. } => warns_if(!odd.is_empty()),
            // A tenth is gone soon, and copies while the server rewrites its file need some.
            Self::Memory { used, limit } => warns_if(*limit > 0 && *used > limit / 10 * 9),
            Self::RoundTrip { median } => warns_if(*median > SLOW),
            Self::Clock { offset, .. } => warns_if(*offset > APART),
            finding => warns_if(finding.loses_games()),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { name } => write!(f, "the store is {name}"),
            Self::InMemory => f.write_str(
                "games are kept in memory and end with the process; --store names a place that keeps \
                 them",
            ),
            Self::InFile { path } => write!(f, "games are kept in {path}"),
            Self::Eviction { policy, .. } if policy == "noeviction" => {
                f.write_str("the server evicts nothing when its memory is full")
            }
            Self::Eviction { policy, limit: 0 } => write!(
                f,
                "the server's maxmemory-policy is {policy}, which evicts games as soon as a limit \
                 is set: set it to noeviction"
            ),
            Self::Eviction { policy, limit } => write!(
                f,
                "the server evicts games when it reaches {limit} bytes (maxmemory-policy \
                 {policy}): set the policy to noeviction"
            ),
            Self::Replicas { connected, wanted } => {
                write!(f, "writes wait for {wanted} replicas of the server; it has {connected}")?;
                if !self.loses_games() {
                    return Ok(());
                }
                f.write_str(": add replicas, or lower --durability")
            }
            Self::Persistence { append_only: true, .. } => {
                f.write_str("the server appends each write to a file")
            }
            Self::Persistence { append_only: false, snapshots: Some(save) } if save.is_empty() => f
                .write_str(
                    "the server keeps nothing over a restart, which loses all games: set \
                     appendonly to yes",
                ),
            Self::Persistence { append_only: false, .. } => f.write_str(
                "the server keeps snapshots at most, and a restart loses what was written since: \
                 set appendonly to yes",
            ),
            Self::Answers => f.write_str("the store answers"),
            Self::Failed(error) => error.fmt(f),
            Self::Memory { used, limit: 0 } => {
                write!(f, "the server has taken {used} bytes, and may take all that there are")
            }
            Self::Memory { used, limit } => {
                write!(f, "the server has taken {used} of {limit} bytes")?;
                if self.severity() == Severity::Fine {
                    return Ok(());
                }
                f.write_str(": raise maxmemory, or keep ended games for fewer days (--ended-days)")
            }
            Self::Rights { missing } if missing.is_empty() => {
                f.write_str("the user may do all that the service does")
            }
            Self::Rights { missing } => write!(
                f,
                "the user may not use {}: give it the rights that docs/operations.md lists \
                 (Rights in Redis)",
                missing.join(", ")
            ),
            Self::Sentinels { count, odd } if odd.is_empty() => {
                write!(f, "{count} sentinels name the same primary")
            }
            Self::Sentinels { count, odd } => write!(
                f,
                "of {count} sentinels {} do not name the primary that the others do: {}; start \
                 those, or take them out of the address",
                odd.len(),
                odd.join("; ")
            ),
            Self::Slots { missing: 0 } => f.write_str("all slots of the cluster have a server"),
            Self::Slots { missing } => write!(
                f,
                "{missing} slots of the cluster have no server: `redis-cli --cluster fix` gives \
                 them one"
            ),
            Self::Shards { new: true } => f.write_str("the store is new, and takes any number"),
            Self::Shards { new: false } => f.write_str("the number of shards is the store's"),
            Self::Records { unreadable: Some((game, error)), .. } => write!(
                f,
                "game {game} cannot be read: {error}; run the release that wrote it, or give this \
                 one its keys (--seal-keys)"
            ),
            Self::Records { count, .. } => write!(f, "the newest {count} records can be read"),
            Self::Writable => f.write_str("a key was written and removed again"),
            Self::RoundTrip { median } => {
                write!(f, "a round trip takes {:.2} ms", median.as_secs_f64() * 1e3)?;
                if self.severity() == Severity::Fine {
                    return Ok(());
                }
                f.write_str(
                    ", and each call takes one or two: keep the store near, and look at its load",
                )
            }
            Self::Clock { offset, ahead } => {
                let side = if *ahead { "ahead of" } else { "behind" };
                let seconds = offset.as_secs_f64();
                write!(f, "the store's clock is {seconds:.3} s {side} this machine's")?;
                if self.severity() == Severity::Fine {
                    return Ok(());
                }
                f.write_str(": keep both on NTP; docs/clocks.md says what depends on them")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_loses_games_is_said_to() {
        let eviction = |policy: &str, limit| Finding::Eviction { policy: policy.into(), limit };
        assert!(!eviction("noeviction", 1).loses_games());
        assert!(eviction("volatile-lru", 0).loses_games());
        assert!(eviction("allkeys-lfu", 1).loses_games());
        let kept = Finding::Persistence { append_only: true, snapshots: None };
        assert!(!kept.loses_games());
        let lost = Finding::Persistence { append_only: false, snapshots: Some(String::new()) };
        assert!(lost.loses_games());
        assert!(lost.to_string().contains("appendonly"));
    }
}
