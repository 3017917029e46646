//! Opening a store by its address.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use super::codec::RecordCodec;
use super::embedded::EmbeddedStore;
use super::redis::RedisStore;
use super::{Misconfiguration, ShardCount, Store, StoreError, SystemTimeSource, TimeSource};

/// How a store is to be opened.
#[derive(Clone, Debug)]
pub struct Options {
    /// Into how many shards the games are spread. It is recorded when a store is opened for the
    /// first time, and every other number is refused from then on.
    pub shards: ShardCount,
    /// A prefix of all keys, so that several services can share one server. A store embedded in
    /// this process is shared with nobody and ignores it.
    pub namespace: Option<Namespace>,
    /// How long one call waits for the server before it fails.
    pub call_deadline: Duration,
    /// How many replicas of the server each write waits for; none at all unless given. Only a store
    /// on Redis has any.
    pub durability: Option<NonZeroU32>,
    /// How records are written, and which can be read. A store does neither itself; it tells
    /// whoever uses it.
    pub records: RecordCodec,
    /// Where an embedded store takes the time from. A server has a clock of its own.
    pub time: Arc<dyn TimeSource>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            shards: ShardCount::default(),
            namespace: None,
            call_deadline: Duration::from_secs(2),
            durability: None,
            records: RecordCodec::default(),
            time: Arc::new(SystemTimeSource),
        }
    }
}

/// Opens the store at an address:
///
/// - `memory:` – in the memory of this process;
/// - `file:PATH` – in a file that one process at a time uses; it is made when it is missing;
/// - `redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE]` – on a Redis server, 7.0 or newer;
/// - `redis+sentinel://[USER:PASSWORD@]HOST[:PORT],…/SERVICE[/DATABASE]` – on the primary that
///   sentinels name;
/// - `redis+cluster://[USER:PASSWORD@]HOST[:PORT],…` – on a Redis Cluster.
///
/// The last three begin with `rediss` for TLS; `docs/operations.md` tells their options.
///
/// Must be called within a tokio runtime, which then also drives the store's connections.
///
/// # Errors
/// [`StoreError::Misconfigured`] when the address or what it leads to cannot be used, and
/// [`StoreError::Unavailable`] when the server does not answer.
pub async fn open(address: &str, options: Options) -> Result<Arc<dyn Store>, StoreError> {
    let (scheme, rest) = address.split_once(':').unwrap_or((address, ""));
    if options.durability.is_some() && matches!(scheme, "memory" | "file") {
        return Err(Misconfiguration::NoReplicas.into());
    }
    Ok(match scheme {
        "memory" if rest.is_empty() => Arc::new(EmbeddedStore::in_memory(&options)?),
        "memory" => return Err(bad_address("nothing comes after `memory:`").into()),
        "file" if rest.is_empty() => {
            return Err(bad_address("the path is missing: write `file:PATH`").into());
        }
        "file" => Arc::new(EmbeddedStore::in_file(rest.into(), &options).await?),
        "redis" | "rediss" | "redis+sentinel" | "rediss+sentinel" | "redis+cluster"
        | "rediss+cluster" => Arc::new(RedisStore::connect(address, &options).await?),
        _ => {
            let scheme = scheme.chars().take(32).collect();
            return Err(Misconfiguration::UnknownScheme { scheme }.into());
        }
    })
}

pub(super) fn bad_address(reason: impl fmt::Display) -> Misconfiguration {
    Misconfiguration::BadAddress { reason: reason.to_string() }
}

/// A prefix of all keys: 1 to 32 characters of `A–Z a–z 0–9 _ - .`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace(String);

impl Namespace {
    /// The longest namespace, in characters.
    pub const MAX_LENGTH: usize = 32;

    /// The namespace as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A text that is no namespace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no namespace: one is 1 to 32 characters of A–Z, a–z, 0–9, `_`, `-` and `.`")]
pub struct NamespaceError(pub String);

impl FromStr for Namespace {
    type Err = NamespaceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Without colons and braces, since both mean something in the name of a key.
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if (1..=Self::MAX_LENGTH).contains(&text.len()) && text.bytes().all(allowed) {
            Ok(Self(text.into()))
        } else {
            Err(NamespaceError(text.chars().take(80).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_cannot_be_mistaken_for_another_part_of_a_key() {
        assert_eq!("blue.1".parse::<Namespace>().expect("valid").as_str(), "blue.1");
        let long = "n".repeat(33);
        for text in ["", "a:b", "{a}", "a b", "ü", &long] {
            assert!(text.parse::<Namespace>().is_err(), "{text}");
        }
    }

    async fn refusal(address: &str) -> String {
        open(address, Options::default()).await.expect_err("must be refused").to_string()
    }

    #[tokio::test]
    async fn an_unknown_kind_of_store_is_refused_with_those_there_are() {
        let refusal = refusal("postgres://user:secret@host/db").await;
        assert!(refusal.contains("`postgres`") && refusal.contains("redis://"), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    }

    #[tokio::test]
    async fn a_malformed_address_is_refused_without_repeating_it() {
        for address in
            ["memory:x", "file:", "redis:", "redis://:secret@host:notaport", "redis://host/secret"]
        {
            let refusal = refusal(address).await;
            assert!(refusal.contains("address is not valid"), "{refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    }
}
