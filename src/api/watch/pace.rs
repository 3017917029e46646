//! How watching is paced.

use std::time::Duration;

use crate::api::stream_age::StreamAge;

/// How watching is paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchPace {
    /// How often a stream with no news says that it is alive.
    pub keep_alive: Duration,
    /// How long a stream stays open after the end of its game.
    pub linger: Duration,
    /// How often watched games are compared with the store, in case a hint was lost. Not zero.
    pub recheck: Duration,
    /// For how long a seat stays present whose replica has died. Replicas mark their seats three
    /// times as often. Not zero.
    pub presence_lifetime: Duration,
    /// How old streams become.
    pub stream_age: StreamAge,
}

impl Default for WatchPace {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_secs(15),
            linger: Duration::from_secs(30),
            recheck: Duration::from_secs(10),
            presence_lifetime: Duration::from_secs(10),
            stream_age: StreamAge::default(),
        }
    }
}
