//! Services and layers put together.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tonic_reflection::server::{Builder, Error};
use tonic_web::GrpcWebLayer;
use tower::{BoxError, Service, ServiceBuilder};
use tower_http::trace::TraceLayer;
use tracing::Level;

use super::config::Config;
use super::health::Health;
use super::layers::{
    AdmissionLayer, Browsers, CatchPanicsLayer, DeadlineLayer, DrainLayer, Frequent, ObserveLayer,
    OnlyGrpcLayer, cors,
};
use super::metrics::RpcMetrics;
use super::page::PageLayer;
use super::traces::CallTraces;
use crate::api::callers::Callers;
use crate::api::error::complete;
use crate::api::proto::DESCRIPTORS;
use crate::api::proto::v1::game_service_server::GameServiceServer;
use crate::api::{GameApi, Host, PlatformApi, RulesApi, WatchPace};

/// The handlers that a server calls.
pub(super) struct Handlers {
    /// The way to `GameService` alone.
    games: GameServiceServer<GameApi>,
    /// The way to every service.
    routes: Routes,
}

/// Every service that a server offers.
pub(super) fn handlers(
    health: &Health,
    host: &Arc<Host>,
    callers: &Arc<Callers>,
    watching: WatchPace,
) -> Result<Handlers, Error> {
    let reflection = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let games = GameApi::new(Arc::clone(host), Arc::clone(callers), watching).into_server();
    let routes = Routes::new(RulesApi::new(Arc::clone(callers)).into_server())
        .add_service(games.clone())
        .add_service(
            PlatformApi::new(Arc::clone(host), Arc::clone(callers), watching.stream_age)
                .into_server(),
        )
        .add_service(health.service())
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .prepare();
    Ok(Handlers { games, routes })
}

/// What stands around every call, outermost first.
pub(super) fn around(
    handlers: Handlers,
    config: &Config,
    stopping: CancellationToken,
    admission: AdmissionLayer,
    metrics: Option<RpcMetrics>,
    traces: Option<CallTraces>,
) -> impl Service<
    Request<Body>,
    Response = Response<Body>,
    Error = Infallible,
    Future: Future<Output = Result<Response<Body>, Infallible>> + Send,
> + Clone
+ Send
+ 'static {
    let handlers = Frequent::new(
        ServiceBuilder::new()
            .layer(DeadlineLayer)
            .layer(CatchPanicsLayer)
            .map_response(complete)
            .service(handlers.games),
        ServiceBuilder::new()
            .layer(DrainLayer(stopping))
            .layer(DeadlineLayer)
            .layer(CatchPanicsLayer)
            .map_response(complete)
            .service(handlers.routes),
    );
    let calls = ServiceBuilder::new()
        .option_layer(traces.map(ObserveLayer))
        .option_layer(metrics.map(ObserveLayer))
        .layer(admission)
        .service(handlers);
    let web = ServiceBuilder::new()
        .option_layer(config.page.then_some(PageLayer))
        .map_response(with_body)
        .layer(cors(&config.cors_origins))
        .layer(GrpcWebLayer::new())
        .layer(OnlyGrpcLayer)
        .service(calls.clone());
    // Calls are logged at DEBUG. Failures are logged where they arise, and not here with their
    // messages, which quote what callers sent. What is logged is settled before serving.
    let logged = tracing::enabled!(target: "tower_http::trace", Level::DEBUG).then(|| {
        ServiceBuilder::new()
            .map_response(with_body)
            .layer(TraceLayer::new_for_grpc().on_failure(()))
            .into_inner()
    });
    ServiceBuilder::new().option_layer(logged).service(Browsers::new(calls, web))
}

/// Gives an answer the one type of body that all have.
fn with_body<B>(response: Response<B>) -> Response<Body>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    response.map(Body::new)
}
