//! The options of `banqi serve` that traces take.

use clap::Args;

use crate::server::{CollectorUrl, TraceOptions, TraceRatio};

/// Where traces go, and of which calls.
#[derive(Args, Clone, Debug)]
pub(super) struct TraceArguments {
    /// Collector to send traces to (OTLP over gRPC), like http://localhost:4317; none unless given
    #[arg(long, env = "BANQI_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<CollectorUrl>,

    /// Share of the calls to trace where the caller has not decided, from 0 to 1
    #[arg(long, env = "BANQI_TRACE_RATIO", value_name = "RATIO", default_value_t = TraceRatio::default())]
    trace_ratio: TraceRatio,
}

impl From<TraceArguments> for Option<TraceOptions> {
    fn from(arguments: TraceArguments) -> Self {
        let ratio = arguments.trace_ratio;
        arguments.otlp_endpoint.map(|collector| TraceOptions { collector, ratio })
    }
}
