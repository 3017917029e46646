//! Tells the log whether traces arrive.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

/// An exporter whose failures are logged: once when they begin, and once when they are over.
#[derive(Debug)]
pub(super) struct LoggedExporter<E> {
    inner: E,
    fails: AtomicBool,
}

impl<E> LoggedExporter<E> {
    /// One that has not failed yet.
    pub(super) fn new(inner: E) -> Self {
        Self { inner, fails: AtomicBool::new(false) }
    }
}

impl<E: SpanExporter> SpanExporter for LoggedExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let result = self.inner.export(batch).await;
        let failed_before = self.fails.swap(result.is_err(), Ordering::Relaxed);
        match &result {
            Err(error) if !failed_before => {
                tracing::warn!(%error, "the collector takes no traces; they are lost until it does");
            }
            Ok(()) if failed_before => tracing::info!("the collector takes traces again"),
            _ => {}
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.inner.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
