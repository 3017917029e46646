//! The running service: configuration, assembly, health, stopping.

mod assemble;
mod config;
mod health;
mod layers;
mod probes;
mod run;
mod runtime;
pub mod signals;
mod sweeper;
pub mod telemetry;

pub use config::{Config, ConfigError, CorsOrigin};
pub use run::{Listeners, ServeError, Stopped, run};
pub use runtime::runtime;
pub use sweeper::sweep;
