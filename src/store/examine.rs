//! Looking closely at a store, for whoever wonders what is wrong with a set-up.

use super::embedded::EmbeddedStore;
use super::redis::RedisStore;
use super::{Finding, Misconfiguration, Options, StoreError};

/// Looks at everything about the store at an address that could keep a service from working with
/// it: more than a start takes the time for. What cannot be looked at because of something else is
/// not found either; [`Aspect`](super::Aspect) lists what there is.
///
/// It leaves the store as it was. To see what it takes and allows it writes keys of its own to a
/// server, which begin with `banqi:{doctor-` after the namespace, expire after a minute, and are
/// removed at once; a file it only reads, and a missing one it makes beside its place and removes.
///
/// Must be called within a tokio runtime.
pub async fn examine(address: &str, options: &Options) -> Vec<Finding> {
    match address.split_once(':') {
        Some(("memory" | "file", _)) if options.durability.is_some() => {
            vec![failed(Misconfiguration::NoReplicas)]
        }
        Some(("memory", "")) => vec![Finding::InMemory],
        Some(("file", path)) if !path.is_empty() => {
            EmbeddedStore::examine(path.into(), options.shards).await
        }
        Some((scheme, _)) if scheme.starts_with("redis") => {
            RedisStore::examine(address, options).await
        }
        // What is refused without anything being opened.
        _ => super::open(address, options.clone()).await.err().into_iter().map(failed).collect(),
    }
}

fn failed(error: impl Into<StoreError>) -> Finding {
    Finding::Failed(error.into())
}
