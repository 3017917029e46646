//! Services and layers put together.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;

use http::{Request, Response};
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::service::Routes;
use tonic_reflection::server::{Builder, Error};
use tonic_web::GrpcWebLayer;
use tower::{Service, ServiceBuilder};
use tower_http::trace::TraceLayer;

use super::config::Config;
use super::health::Health;
use super::layers::{DeadlineLayer, Drain, catch_panics, cors};
use crate::api::error::complete;
use crate::api::proto::DESCRIPTORS;
use crate::api::{GameApi, Host, PlatformApi, RulesApi, WatchPace};

/// Every service that a server offers.
pub(super) fn routes(
    health: &Health,
    host: &Arc<Host>,
    watching: WatchPace,
) -> Result<Routes, Error> {
    let reflection = || {
        Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    Ok(Routes::new(RulesApi.into_server())
        .add_service(GameApi::new(Arc::clone(host), watching).into_server())
        .add_service(PlatformApi::new(Arc::clone(host)).into_server())
        .add_service(health.service())
        .add_service(reflection().build_v1()?)
        .add_service(reflection().build_v1alpha()?)
        .prepare())
}

/// What stands around every call, outermost first.
pub(super) fn around(
    routes: Routes,
    config: &Config,
    stopping: CancellationToken,
) -> impl Service<
    Request<Body>,
    Response = Response<Body>,
    Error = Infallible,
    Future: Future<Output = Result<Response<Body>, Infallible>> + Send,
> + Clone
+ Send
+ 'static {
    let drain = Drain(stopping);
    ServiceBuilder::new()
        .map_response(|response: Response<_>| response.map(Body::new))
        // Calls are logged at DEBUG. Failures are logged where they arise, and not here with their
        // messages, which quote what callers sent.
        .layer(TraceLayer::new_for_grpc().on_failure(()))
        .layer(cors(&config.cors_origins))
        .layer(GrpcWebLayer::new())
        .map_response(move |response| drain.watch(response))
        .layer(DeadlineLayer)
        .map_response(|response: Response<_>| response.map(Body::new))
        .layer(catch_panics())
        .map_response(complete)
        .service(routes)
}
