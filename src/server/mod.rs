//! The running service: configuration, assembly, health, stopping.

mod assemble;
mod config;
mod health;
mod layers;
mod methods;
mod metrics;
mod page;
mod probes;
mod readiness;
mod run;
mod runtime;
pub mod signals;
mod sweeper;
pub mod telemetry;
mod tls;
mod traces;

pub use config::{Config, ConfigError, CorsOrigin, Load};
pub use run::{Listeners, ServeError, Stopped, run};
pub use runtime::runtime;
pub use sweeper::sweep;
pub use tls::{ClientCertificates, Tls, TlsError, TlsOptions, Validity};
pub use traces::{
    CollectorUrl, CollectorUrlError, TraceOptions, TraceRatio, TraceRatioError, TracesError,
    VariableError, check_variables,
};
