//! Reading the values of options.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use crate::store::ShardCount;

/// More than any machine has cores.
const MOST_THREADS: usize = 1024;

/// Reads an address to listen on. A name could stand for several.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        let example = match text.strip_prefix("localhost:").map(str::parse::<u16>) {
            Some(Ok(port)) => format!("127.0.0.1:{port}"),
            _ => "127.0.0.1:50051, 0.0.0.0:50051 or [::]:50051".to_owned(),
        };
        format!("expected an IP address and a port, not a name: {example}")
    })
}

/// Reads a number of shards.
pub(super) fn shards(text: &str) -> Result<ShardCount, String> {
    let count = text.parse().map_err(|_| "expected a whole number, like 1024".to_owned())?;
    ShardCount::new(count).map_err(|fault| fault.to_string())
}

/// Reads a number of threads.
pub(super) fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let read = text.parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    read.and_then(NonZeroUsize::new)
        .ok_or_else(|| format!("expected a whole number from 1 to {MOST_THREADS}"))
}

/// Reads a number that is not 0.
pub(super) fn positive(text: &str) -> Result<NonZeroU32, String> {
    text.parse().map_err(|_| format!("expected a whole number from 1 to {}", u32::MAX))
}

/// Reads a number of seconds, whole or not.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "expected a number of seconds, like 10 or 0.5".to_owned())
}
