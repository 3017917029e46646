//! What is told of a running replica to whoever watches over it: counts and times in the OpenMetrics
//! text format, which Prometheus reads.

mod connections;
mod process;
mod rpc;

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub(super) use connections::{ConnectionMetrics, Cut, OpenConnection};
pub(super) use rpc::RpcMetrics;

use self::process::Process;
use super::health::{Health, Readiness};

/// The content type of [`Metrics::render`].
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Everything that is told.
#[derive(Clone, Debug)]
pub(super) struct Metrics(Arc<Registry>);

impl Metrics {
    /// What was registered, and how the process is.
    pub(super) fn new(mut registry: Registry, health: Health) -> Self {
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("banqi_build", "Which release runs", version);
        registry.register_collector(Box::new(Ready(health)));
        registry.register_collector(Box::new(Process));
        Self(Arc::new(registry))
    }

    /// All of it as text.
    ///
    /// # Errors
    /// Never, as far as is known.
    pub(super) fn render(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.0)?;
        Ok(text)
    }
}

/// Whether the replica wants calls.
#[derive(Debug)]
struct Ready(Health);

impl Collector for Ready {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let ready = ConstGauge::new(i64::from(self.0.readiness() == Readiness::Ready));
        let help = "1 where the replica wants calls, 0 where the store is away or it is stopping";
        ready.encode(encoder.encode_descriptor("banqi_ready", help, None, ready.metric_type())?)
    }
}
