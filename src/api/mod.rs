//! The services of `proto/banqi/v1`: conversion, errors, handlers.

pub mod answer;
pub mod callers;
pub(crate) mod codec;
pub mod convert;
pub mod error;
pub mod export;
mod fields;
pub(crate) mod followed_files;
mod game_service;
mod host;
mod lifecycle;
mod page_token;
mod platform_service;
pub mod proto;
mod rules_service;
mod start;
mod stream_age;
mod to_the_end;
mod traced;
mod watch;

pub use game_service::GameApi;
pub use host::{Host, HostMetrics, HostOptions, RandomSource, SystemRandomSource};
pub use platform_service::PlatformApi;
pub use rules_service::{MAX_ACTIONS, RulesApi};
pub use stream_age::StreamAge;
pub use watch::WatchPace;

/// The metadata with the id of the game that a call is about, by which balancers find its replica. The
/// service does not read it.
pub const GAME_ID: &str = "banqi-game-id";

/// The largest request that is read, in bytes.
pub const MAX_MESSAGE: usize = 1024 * 1024;
