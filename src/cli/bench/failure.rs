//! Why a measurement failed.

use std::error::Error;
use std::fmt::Write as _;
use std::io;

/// Why a measurement could not be made, or found what it should not.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum BenchError {
    #[error("{address}: cannot be reached: {}", causes(source.as_ref()))]
    Connect { address: String, source: Box<dyn Error + Send + Sync> },
    #[error("`{command}` could not be started: {source}")]
    Start { command: String, source: io::Error },
    #[error("`{command}` ended before it said where it is listening")]
    EndedEarly { command: String },
    #[error("redis-server found no free port in {attempts} attempts")]
    NoRedisServer { attempts: usize },
    #[error(
        "--store {store} with --replicas {replicas}: each replica would keep games of its own; \
         give the address of a store that they can share"
    )]
    NotShared { store: String, replicas: u16 },
    #[error("the store of the floor, {address}: {source}")]
    FloorStore { address: String, source: redis::RedisError },
    #[error("the service refuses {call}: {reason}: {message}")]
    Refused { call: &'static str, reason: String, message: String },
    #[error("not one call was answered")]
    NothingAnswered,
    #[error("calls failed: {0}; name a reason with --expect where that is right")]
    CallsFailed(String),
    #[error("{seated} of {all} watches could be opened, and no more for a minute")]
    NotLetIn { seated: usize, all: usize },
    #[error("{0} events were not delivered within {1} s of the last call")]
    Undelivered(u64, u64),
    #[error("stopped before anything was measured")]
    Stopped,
    #[error("the measurement could not be set up: {0}")]
    System(#[source] io::Error),
    #[error(transparent)]
    Print(#[from] io::Error),
}

/// What an error says, and what its causes say that it does not.
fn causes(error: &(dyn Error + Send + Sync + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            let _ = write!(text, ": {said}");
        }
        cause = error.source();
    }
    text
}
