//! A call as a span: begun with the caller's context, ended with its status.

use std::collections::HashMap;
use std::sync::Arc;

use http::HeaderMap;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{SpanKind, Status as SpanStatus, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, ContextGuard, KeyValue};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracer;
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use super::ratio::TraceRatio;
use crate::api::error::{Reason, code_name};
use crate::server::layers::{ObservedCall, Observer};
use crate::server::methods::Method;

/// Traces calls. Clones trace together.
#[derive(Clone, Debug)]
pub(in crate::server) struct CallTraces(Arc<Tracing>);

#[derive(Debug)]
struct Tracing {
    tracer: SdkTracer,
    ratio: TraceRatio,
    by_path: HashMap<String, TracedMethod>,
}

/// A method, with what its spans have in common.
#[derive(Debug)]
struct TracedMethod {
    name: String,
    is_streaming: bool,
    attributes: [KeyValue; 3],
}

impl CallTraces {
    /// Traces calls of every method that the descriptors name: those of which the caller wants it,
    /// and this share of those of which it says nothing.
    pub(super) fn new(tracer: SdkTracer, ratio: TraceRatio) -> Self {
        let by_path = Method::all().into_iter().map(|method| {
            let (path, name) = (method.path(), method.full_name());
            let Method { service, name: own_name, is_streaming } = method;
            let attributes = [
                KeyValue::new("rpc.system", "grpc"),
                KeyValue::new("rpc.service", Arc::<str>::from(service)),
                KeyValue::new("rpc.method", Arc::<str>::from(own_name)),
            ];
            (path, TracedMethod { name, is_streaming, attributes })
        });
        Self(Arc::new(Tracing { tracer, ratio, by_path: by_path.collect() }))
    }
}

impl Observer for CallTraces {
    type Call = TracedCall;

    /// Begins the span of a call that is traced. Most are not, and cost no more than a look at
    /// their headers and a random number.
    fn begin(&self, path: &str, headers: &HeaderMap) -> Option<TracedCall> {
        let Tracing { tracer, ratio, by_path } = &*self.0;
        let parent = callers_context(headers);
        let is_traced = match &parent {
            Some(parent) => parent.span().span_context().is_sampled(),
            None => ratio.draws(),
        };
        if !is_traced {
            return None;
        }
        let method = by_path.get(path)?;
        let span = tracer
            .span_builder(method.name.clone())
            .with_kind(SpanKind::Server)
            .with_attributes(method.attributes.iter().cloned())
            .start_with_context(tracer, &parent.unwrap_or_default());
        let context = Context::new().with_span(span);
        Some(TracedCall { context, is_streaming: method.is_streaming, is_over: false })
    }
}

/// The context that a caller sent, as <https://www.w3.org/TR/trace-context/> says; `None` where it
/// sent none, or one that cannot be read.
fn callers_context(headers: &HeaderMap) -> Option<Context> {
    if !headers.contains_key("traceparent") {
        return None;
    }
    let propagator = TraceContextPropagator::new();
    let context = propagator.extract_with_context(&Context::new(), &Headers(headers));
    context.has_active_span().then_some(context)
}

/// Headers, as OpenTelemetry reads them.
struct Headers<'a>(&'a HeaderMap);

impl Extractor for Headers<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.to_str().ok()
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}

/// A call that is traced. One that is dropped before it is over was cancelled.
#[derive(Debug)]
pub(in crate::server) struct TracedCall {
    context: Context,
    is_streaming: bool,
    is_over: bool,
}

impl ObservedCall for TracedCall {
    type Scope = ContextGuard;

    fn is_streaming(&self) -> bool {
        self.is_streaming
    }

    fn enter(&self) -> ContextGuard {
        self.context.clone().attach()
    }

    fn end(mut self, headers: &HeaderMap) {
        match Status::from_header_map(headers) {
            Some(status) => {
                let details = status.get_error_details();
                let reason = details.error_info().map(|info| info.reason.as_str());
                self.over(status.code(), reason);
            }
            None => self.over(Code::Ok, None),
        }
    }
}

impl TracedCall {
    fn over(&mut self, code: Code, reason: Option<&str>) {
        self.is_over = true;
        let span = self.context.span();
        span.set_attribute(KeyValue::new("rpc.grpc.status_code", i64::from(i32::from(code))));
        if code != Code::Ok {
            // Messages quote what callers sent, so they stay out of it.
            let reason = Arc::<str>::from(reason.unwrap_or(code_name(code)));
            if is_fault(code, &reason) {
                span.set_status(SpanStatus::error(reason.to_string()));
            }
            span.set_attribute(KeyValue::new("error.type", reason));
        }
        span.end();
    }
}

impl Drop for TracedCall {
    fn drop(&mut self) {
        if !self.is_over {
            self.over(Code::Cancelled, None);
        }
    }
}

/// Whether a call that ended so failed through a fault of the service or of what it needs: the
/// codes that the semantic conventions name for servers, but for streams that end as they should.
fn is_fault(code: Code, reason: &str) -> bool {
    let ends_well = [Reason::ShuttingDown, Reason::StreamExpired].map(Reason::name);
    let is_of_servers = matches!(
        code,
        Code::Unknown
            | Code::DeadlineExceeded
            | Code::Unimplemented
            | Code::Internal
            | Code::Unavailable
            | Code::DataLoss
    );
    is_of_servers && !ends_well.contains(&reason)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Some(true))]
    #[case("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", Some(false))]
    #[case("00-00000000000000000000000000000000-b7ad6b7169203331-01", None)]
    #[case("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", None)]
    #[case("no context", None)]
    fn a_callers_context_decides_where_it_can_be_read(
        #[case] text: &str,
        #[case] sampled: Option<bool>,
    ) {
        let mut headers = HeaderMap::new();
        headers.insert("traceparent", text.parse().expect("a header"));
        let context = callers_context(&headers);
        assert_eq!(context.map(|context| context.span().span_context().is_sampled()), sampled);
    }

    #[rstest]
    #[case(Reason::StoreUnavailable, true)]
    #[case(Reason::RecordBroken, true)]
    #[case(Reason::DeadlineExceeded, true)]
    #[case(Reason::StreamExpired, false)]
    #[case(Reason::ShuttingDown, false)]
    #[case(Reason::InvalidFields, false)]
    #[case(Reason::NotYourTurn, false)]
    #[case(Reason::Overloaded, false)]
    fn only_faults_of_the_service_are_errors(#[case] reason: Reason, #[case] fault: bool) {
        assert_eq!(is_fault(reason.code(), reason.name()), fault);
    }
}
