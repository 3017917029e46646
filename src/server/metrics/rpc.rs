//! How calls went, under the names that gRPC servers commonly use.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderMap;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use tokio::time::Instant;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::api::error::{Reason, code_name};
use crate::server::layers::{ObservedCall, Observer};
use crate::server::methods::Method;

/// Upper bounds for how long a call takes, in seconds.
const TIMES: [f64; 13] =
    [0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// Codes that mean a fault of the service, of which whoever watches over it wants to hear. Their
/// counters are there from the start: one that springs into being at 1 has not increased.
const FAULTS: [Code; 3] = [Code::Unknown, Code::Internal, Code::DataLoss];

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct MethodLabels {
    grpc_service: String,
    grpc_method: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HandledLabels {
    grpc_service: String,
    grpc_method: String,
    grpc_code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    reason: String,
}

/// The calls of every method. Clones count together.
#[derive(Clone, Debug)]
pub(in crate::server) struct RpcMetrics(Arc<Methods>);

#[derive(Debug)]
struct Methods {
    by_path: HashMap<String, Arc<MethodMetrics>>,
    handled: Family<HandledLabels, Counter>,
    refused: Family<RefusalLabels, Counter>,
}

#[derive(Debug)]
struct MethodMetrics {
    labels: MethodLabels,
    is_streaming: bool,
    started: Counter,
    /// Calls that went well, which most do.
    well: Counter,
    times: Histogram,
}

impl RpcMetrics {
    /// For the methods that the descriptors name; what comes of them is added to what is told of
    /// the process.
    pub(in crate::server) fn new(registry: &mut Registry) -> Self {
        let started = Family::<MethodLabels, Counter>::default();
        let handled = Family::<HandledLabels, Counter>::default();
        let refused = Family::<RefusalLabels, Counter>::default();
        let times = Family::<MethodLabels, Histogram>::new_with_constructor(
            (|| Histogram::new(TIMES)) as fn() -> Histogram,
        );
        registry.register("grpc_server_started", "Calls that were begun", started.clone());
        registry.register("grpc_server_handled", "Calls that are over", handled.clone());
        registry.register_with_unit(
            "grpc_server_handling",
            "How long calls took that are no streams",
            Unit::Seconds,
            times.clone(),
        );
        registry.register("banqi_refused_calls", "Refused calls by reason", refused.clone());
        for reason in Reason::ALL {
            refused.get_or_create(&RefusalLabels { reason: reason.name().to_owned() }).inc_by(0);
        }

        let mut by_path = HashMap::new();
        for method in Method::all() {
            let path = method.path();
            let Method { service, name, is_streaming } = method;
            let labels = MethodLabels { grpc_service: service, grpc_method: name };
            for code in FAULTS {
                handled.get_or_create(&handled_labels(&labels, code)).inc_by(0);
            }
            let known = MethodMetrics {
                is_streaming,
                started: started.get_or_create_owned(&labels),
                well: handled.get_or_create_owned(&handled_labels(&labels, Code::Ok)),
                times: times.get_or_create_owned(&labels),
                labels,
            };
            by_path.insert(path, Arc::new(known));
        }
        Self(Arc::new(Methods { by_path, handled, refused }))
    }
}

impl Observer for RpcMetrics {
    type Call = Call;

    /// Counts a call, if it is one of a method that is known.
    fn begin(&self, path: &str, _: &HeaderMap) -> Option<Call> {
        let method = Arc::clone(self.0.by_path.get(path)?);
        method.started.inc();
        Some(Call { metrics: self.clone(), method, begun: Instant::now(), is_over: false })
    }
}

/// A call that has begun. One that is dropped before it is over was cancelled.
#[derive(Debug)]
pub(in crate::server) struct Call {
    metrics: RpcMetrics,
    method: Arc<MethodMetrics>,
    begun: Instant,
    is_over: bool,
}

impl ObservedCall for Call {
    type Scope = ();

    fn is_streaming(&self) -> bool {
        self.method.is_streaming
    }

    fn enter(&self) {}

    fn end(mut self, headers: &HeaderMap) {
        match Status::from_header_map(headers) {
            Some(status) if status.code() != Code::Ok => {
                if let Some(info) = status.get_error_details().error_info() {
                    let labels = RefusalLabels { reason: info.reason.clone() };
                    self.metrics.0.refused.get_or_create(&labels).inc();
                }
                self.over(status.code());
            }
            _ => self.over(Code::Ok),
        }
    }
}

impl Call {
    fn over(&mut self, code: Code) {
        self.is_over = true;
        if !self.method.is_streaming {
            self.method.times.observe(self.begun.elapsed().as_secs_f64());
        }
        if code == Code::Ok {
            self.method.well.inc();
        } else {
            let labels = handled_labels(&self.method.labels, code);
            self.metrics.0.handled.get_or_create(&labels).inc();
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.is_over {
            self.over(Code::Cancelled);
        }
    }
}

fn handled_labels(method: &MethodLabels, code: Code) -> HandledLabels {
    let MethodLabels { grpc_service, grpc_method } = method.clone();
    HandledLabels { grpc_service, grpc_method, grpc_code: code_name(code) }
}
