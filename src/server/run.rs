//! Serving until asked to stop, and stopping within a bound.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::registry::Registry;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;

use super::assemble;
use super::config::Config;
use super::health::Health;
use super::layers::AdmissionLayer;
use super::metrics::{ConnectionMetrics, Metrics, RpcMetrics};
use super::probes;
use super::readiness;
use super::sweeper;
use super::tls::{Tls, connections};
use super::traces::{Traces, TracesError};
use crate::api::Host;
use crate::api::callers::Callers;
use crate::store::{MeasuredStore, ReplicaId, Store};

/// How often an idle HTTP/2 connection is asked whether its peer is still there, and how long the
/// peer may take to answer. A peer that vanished would otherwise hold its connection for ever.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(30);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(20);

/// How many calls one connection may have open, and how many it may cancel before their answers
/// are taken up; one more cancelled at once and the connection is closed. As many as may be open:
/// behind a balancer many callers share a connection, and one who cancels much must not end the
/// calls of the others.
const MAX_STREAMS: u32 = 1024;
const MAX_PENDING_RESETS: usize = MAX_STREAMS as usize;

/// The bound sockets that a server serves on.
#[derive(Debug)]
pub struct Listeners {
    /// For gRPC and gRPC-Web.
    pub grpc: TcpListener,
    /// What gRPC is secured with, if it is.
    pub tls: Option<Arc<Tls>>,
    /// For probes over plain HTTP, if wanted.
    pub http: Option<TcpListener>,
}

/// How a server stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Every call was finished.
    Finished,
    /// Calls or connections were still open at the end of `Config::stop_grace`.
    CutOff,
}

/// Why a server could not serve.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The descriptors of the API are broken.
    #[error("the API's own descriptors cannot be read: {0}")]
    Descriptors(#[from] tonic_reflection::server::Error),
    /// gRPC could not be served.
    #[error("serving gRPC failed: {0}")]
    Grpc(#[from] tonic::transport::Error),
    /// The probes could not be served.
    #[error("serving probes over HTTP failed: {0}")]
    Http(#[source] io::Error),
    /// Traces cannot be sent.
    #[error(transparent)]
    Traces(#[from] TracesError),
}

/// Serves the games of a store to these callers until `shutdown` resolves, then stops: readiness
/// goes off, `Config::stop_delay` passes, no connection is accepted any more, open streams are ended with UNAVAILABLE, and calls in
/// flight have `Config::stop_grace` to finish. Last the store is told that nobody is present any more
/// over this replica, and the traces that are left are sent, for which there are two seconds.
///
/// # Errors
/// If serving fails.
pub async fn run(
    listeners: Listeners,
    config: &Config,
    callers: &Arc<Callers>,
    store: Arc<dyn Store>,
    shutdown: impl Future<Output = ()>,
) -> Result<Stopped, ServeError> {
    let health = Health::serving().await;
    let stopping = CancellationToken::new();
    let mut registry = Registry::default();
    let replica = ReplicaId(uuid::Uuid::now_v7());
    let traces = config.traces.as_ref().map(|traces| Traces::start(traces, replica)).transpose()?;
    // Nobody reads what nobody can ask for.
    let is_asked = listeners.http.is_some();
    let store: Arc<dyn Store> = if is_asked || traces.is_some() {
        let tracer = traces.as_ref().map(Traces::tracer);
        MeasuredStore::new(store, registry.sub_registry_with_prefix("banqi"), tracer)
    } else {
        store
    };
    let (host, written) = Host::new(store, config.host);
    host.metrics().register(registry.sub_registry_with_prefix("banqi"));
    let connected = ConnectionMetrics::default();
    connected.register(registry.sub_registry_with_prefix("banqi"));
    let calls = is_asked.then(|| RpcMetrics::new(&mut registry));
    let admission = AdmissionLayer::new(config.load);
    registry.register_collector(Box::new(admission.clone()));
    let metrics = Metrics::new(registry, health.clone());
    let handlers = assemble::handlers(&health, &host, callers, config.watching)?;

    let grpc = Server::builder()
        .accept_http1(true)
        .http2_keepalive_interval(Some(KEEP_ALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEP_ALIVE_TIMEOUT))
        .max_concurrent_streams(MAX_STREAMS)
        .http2_max_pending_accept_reset_streams(Some(MAX_PENDING_RESETS))
        .serve_with_incoming_shutdown(
            assemble::around(
                handlers,
                config,
                stopping.clone(),
                admission,
                calls,
                traces.as_ref().map(Traces::calls),
            ),
            connections(listeners.grpc, listeners.tls.clone(), connected),
            stopping.clone().cancelled_owned(),
        );
    // The probes go on answering until the very end.
    let probes = probes::router(health.clone(), metrics);
    let http = async {
        match listeners.http {
            Some(listener) => axum::serve(listener, probes).await,
            None => std::future::pending().await,
        }
    };
    let certificates = async {
        match &listeners.tls {
            Some(tls) => tls.follow().await,
            None => std::future::pending().await,
        }
    };
    let stop = async {
        shutdown.await;
        health.stop().await;
        sleep(config.stop_delay).await;
        stopping.cancel();
        sleep(config.stop_grace).await;
    };
    let stopped = tokio::select! {
        served = grpc => served.map(|()| Stopped::Finished).map_err(ServeError::Grpc),
        served = http => served.map(|()| Stopped::CutOff).map_err(ServeError::Http),
        () = stop => Ok(Stopped::CutOff),
        () = callers.follow_keys() => Ok(Stopped::CutOff),
        () = certificates => Ok(Stopped::CutOff),
        () = readiness::follow(host.store().as_ref(), &health) => Ok(Stopped::CutOff),
        () = sweeper::sweep(Arc::clone(&host), replica, written) => Ok(Stopped::CutOff),
        () = host.keep_present(config.watching.presence_lifetime) => Ok(Stopped::CutOff),
    };
    host.leave().await;
    if let Some(traces) = traces {
        traces.stop().await;
    }
    stopped
}
