//! Traces: which calls are traced, and how their spans reach a collector (OTLP over gRPC).
//!
//! Spans of one call find each other by [`opentelemetry::Context`], which stands for as long as the
//! call is worked on; the store and the log look there. Spans are sent by a thread of its own, and
//! dropped where it cannot keep up, so that no call ever waits for a collector.

mod calls;
mod collector_url;
mod exporter;
mod ratio;
mod variables;

use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{
    ExporterBuildError, SpanExporter, WithExportConfig as _, WithTonicConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracer, SdkTracerProvider};
use tokio::task::spawn_blocking;

pub(super) use calls::CallTraces;
pub use collector_url::{CollectorUrl, CollectorUrlError};
pub use ratio::{TraceRatio, TraceRatioError};
pub use variables::{VariableError, check_variables};

use self::exporter::LoggedExporter;
use crate::store::ReplicaId;

/// How long a collector may take for what it is sent at once.
const EXPORT_LIMIT: Duration = Duration::from_secs(5);

/// How long the spans that are left when the service stops may take.
const LAST_EXPORT_LIMIT: Duration = Duration::from_secs(2);

/// The semantic conventions by which spans are named, so that whoever knows newer ones can translate.
const CONVENTIONS: &str = "https://opentelemetry.io/schemas/1.24.0";

/// The attribute that says which service a span is of.
const SERVICE_NAME: &str = "service.name";

/// Where traces go, and of which calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceOptions {
    /// The collector.
    pub collector: CollectorUrl,
    /// Of how many calls, where the caller has not decided.
    pub ratio: TraceRatio,
}

/// Why traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("--otlp-endpoint {url}: traces cannot be sent: {source}; look at the variables OTEL_… too")]
pub struct TracesError {
    url: String,
    source: ExporterBuildError,
}

/// What makes and sends traces.
#[derive(Debug)]
pub(super) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    ratio: TraceRatio,
}

impl Traces {
    /// Begins to send traces. The collector need not be there. Must be called within a tokio runtime.
    ///
    /// # Errors
    /// Where a certificate or a variable cannot be used.
    pub(super) fn start(options: &TraceOptions, replica: ReplicaId) -> Result<Self, TracesError> {
        let TraceOptions { collector, ratio } = options;
        let exporter = exporter(collector)
            .map_err(|source| TracesError { url: collector.as_str().to_owned(), source })?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(LoggedExporter::new(exporter))
            // Whether a call is traced is decided before its span is made.
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::AlwaysOn)))
            .with_resource(resource(replica))
            .build();
        let scope = InstrumentationScope::builder(env!("CARGO_PKG_NAME"))
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_schema_url(CONVENTIONS);
        let tracer = provider.tracer_with_scope(scope.build());
        tracing::info!(collector = collector.as_str(), %ratio, "calls are traced");
        Ok(Self { provider, tracer, ratio: *ratio })
    }

    /// What makes spans.
    pub(super) fn tracer(&self) -> SdkTracer {
        self.tracer.clone()
    }

    /// What traces calls to the service.
    pub(super) fn calls(&self) -> CallTraces {
        CallTraces::new(self.tracer(), self.ratio)
    }

    /// Sends what is left, for as long as it may take.
    pub(super) async fn stop(self) {
        // The connection to the collector is served by the runtime that would be held up.
        let stopping = move || self.provider.shutdown_with_timeout(LAST_EXPORT_LIMIT);
        if let Ok(Err(error)) = spawn_blocking(stopping).await {
            tracing::warn!(%error, "the last traces may not have reached the collector");
        }
    }
}

fn exporter(collector: &CollectorUrl) -> Result<SpanExporter, ExporterBuildError> {
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(collector.as_str())
        .with_timeout(EXPORT_LIMIT);
    if collector.is_secure() {
        exporter.with_tls_config(ClientTlsConfig::new().with_native_roots()).build()
    } else {
        exporter.build()
    }
}

/// What all spans of this process have in common. The variables `OTEL_SERVICE_NAME` and
/// `OTEL_RESOURCE_ATTRIBUTES` go before what is known here.
fn resource(replica: ReplicaId) -> Resource {
    let own = [
        KeyValue::new(SERVICE_NAME, env!("CARGO_PKG_NAME")),
        KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
        KeyValue::new("service.instance.id", replica.0.to_string()),
    ];
    let detected = Resource::builder().build();
    let told = detected.iter().filter(|(key, value)| {
        key.as_str() != SERVICE_NAME || !value.as_str().starts_with("unknown_service")
    });
    let told = told.map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    // Of two values for one key the last one counts.
    Resource::builder_empty().with_attributes(own.into_iter().chain(told)).build()
}
