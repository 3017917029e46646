//! What can go wrong with a store.

use std::fmt;
use std::time::Duration;

use super::{CorruptRecord, ShardCount};

/// Why a store did not answer as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store is away, overloaded, starting, or did not answer in time: trying again later may
    /// well help.
    #[error("the store is unavailable ({effect}): {reason}")]
    Unavailable {
        /// What is known about the effect of the call.
        effect: Effect,
        /// What happened, for the log; it contains no credentials.
        reason: String,
    },
    /// A stored record is damaged.
    #[error(transparent)]
    Corrupt(#[from] CorruptRecord),
    /// The store answered, but with something it should never say.
    #[error("the store gave an answer that makes no sense: {0}")]
    Unintelligible(String),
    /// The store, or the way to it, is not set up as it must be: only an operator can help.
    #[error(transparent)]
    Misconfigured(#[from] Misconfiguration),
}

impl StoreError {
    /// Whether the same call may succeed later without anybody's intervention.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// Whether the call may have had its effect although it failed. Before such a write is tried
    /// again, the record must be read and looked through for the request.
    pub fn may_have_applied(&self) -> bool {
        match self {
            Self::Unavailable { effect, .. } => *effect == Effect::Unknown,
            Self::Unintelligible(_) => true,
            Self::Corrupt(_) | Self::Misconfigured(_) => false,
        }
    }

    /// The same, with the server or servers that it is about.
    pub(super) fn about(mut self, servers: &str) -> Self {
        if let Self::Unavailable { reason, .. }
        | Self::Unintelligible(reason)
        | Self::Misconfigured(
            Misconfiguration::AccessDenied { reason }
            | Misconfiguration::RightsMissing { reason }
            | Misconfiguration::ServerTooOld { found: reason },
        ) = &mut self
            && !reason.contains(servers)
        {
            *reason = format!("{servers}: {reason}");
        }
        self
    }

    pub(super) fn not_applied(reason: impl fmt::Display) -> Self {
        Self::Unavailable { effect: Effect::None, reason: reason.to_string() }
    }

    pub(super) fn unknown(reason: impl fmt::Display) -> Self {
        Self::Unavailable { effect: Effect::Unknown, reason: reason.to_string() }
    }

    pub(super) fn no_connection(deadline: Duration) -> Self {
        Self::not_applied(format_args!("no connection within {deadline:?}"))
    }

    pub(super) fn no_answer(deadline: Duration) -> Self {
        Self::unknown(format_args!("no answer within {deadline:?}"))
    }
}

/// What is known about the effect of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It had none.
    None,
    /// It may have had its effect, or may still have it.
    Unknown,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "nothing was written",
            Self::Unknown => "what was written is not known",
        })
    }
}

/// What an operator has to put right.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misconfiguration {
    /// The address names a kind of store that there is not.
    #[error(
        "`{scheme}` is no kind of store: use `memory:`, `file:PATH`, `redis://HOST:PORT`, \
         `redis+sentinel://…` or `redis+cluster://…`"
    )]
    UnknownScheme {
        /// What stands before the first colon.
        scheme: String,
    },
    /// The address is malformed. It is not repeated, since it may contain a password.
    #[error("the store's address is not valid: {reason}")]
    BadAddress {
        /// What is wrong with it.
        reason: String,
    },
    /// The server is too old.
    #[error("the store is too old: {found}; use Redis 7.0 or newer, or Valkey")]
    ServerTooOld {
        /// What the server says it is.
        found: String,
    },
    /// The games in the store are spread over another number of shards.
    #[error(
        "the store was set up with {stored} shards and the service with {configured}: a game is \
         found only with the number it was stored with, so configure {stored}"
    )]
    ShardCountMismatch {
        /// The number recorded in the store.
        stored: String,
        /// The number configured.
        configured: ShardCount,
    },
    /// The server refuses the credentials, or what they may do is too little.
    #[error("the store refuses access: {reason}")]
    AccessDenied {
        /// What the server says.
        reason: String,
    },
    /// The user may not do what the service does.
    #[error("the store does not allow it: {reason}")]
    RightsMissing {
        /// What the server says.
        reason: String,
    },
    /// The server takes no writes.
    #[error("the store takes no writes: {reason}")]
    NotWritable {
        /// What it says.
        reason: String,
    },
    /// Writes are to wait for replicas of a store that has none.
    #[error(
        "an embedded store has no replicas for writes to wait for: leave --durability out, or keep \
         games on Redis"
    )]
    NoReplicas,
    /// The store's file cannot be used.
    #[error("the store's file {path} cannot be used: {reason}")]
    UnusableFile {
        /// Which file.
        path: String,
        /// Why not.
        reason: String,
    },
}
