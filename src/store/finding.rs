//! What a look at the store's set-up finds.

use std::fmt;
use std::num::NonZeroU32;

/// One thing found about how a store is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
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
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server { name } => write!(f, "the store is {name}"),
            Self::InMemory => f.write_str("games are kept in memory and end with the process"),
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
                write!(f, "writes wait for {wanted} replicas of the server; it has {connected}")
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
