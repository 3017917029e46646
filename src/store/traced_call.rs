//! Calls of the store as parts of the traces that they belong to.

use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span};

use super::System;

/// Makes spans of calls of one store.
#[derive(Debug)]
pub(super) struct CallTracer {
    tracer: SdkTracer,
    system: System,
}

impl CallTracer {
    /// For calls of a store of this kind.
    pub(super) fn new(tracer: SdkTracer, system: System) -> Self {
        Self { tracer, system }
    }

    /// A call of the store begins; `None` unless it is made for a call to the service that is
    /// traced.
    pub(super) fn begin(&self, operation: &'static str) -> Option<TracedCall> {
        Context::map_current(|context| {
            if !context.span().span_context().is_sampled() {
                return None;
            }
            let span = self.tracer.span_builder(operation).with_kind(SpanKind::Client);
            let span = span.with_attributes([
                KeyValue::new("db.system", self.system.name()),
                KeyValue::new("db.operation", operation),
            ]);
            Some(TracedCall(Box::new(span.start_with_context(&self.tracer, context))))
        })
    }
}

/// A traced call of the store. Its span ends with it, at the latest when it is dropped. It is
/// large, and most calls have none, so their futures have room for a pointer only.
pub(super) struct TracedCall(Box<Span>);

impl TracedCall {
    /// The call failed, for this reason.
    pub(super) fn fail(&mut self, failure: &'static str) {
        self.0.set_attribute(KeyValue::new("error.type", failure));
        self.0.set_status(Status::error(failure));
    }
}
