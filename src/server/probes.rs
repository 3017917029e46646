//! `/livez`, `/readyz` and `/metrics` over plain HTTP, for what cannot ask over gRPC.

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::health::{Health, Readiness};
use super::metrics::{CONTENT_TYPE, Metrics};

pub(super) fn router(health: Health, metrics: Metrics) -> Router {
    Router::new()
        .route("/livez", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .with_state(health)
        .route("/metrics", get(tell).with_state(metrics))
}

async fn ready(State(health): State<Health>) -> (StatusCode, &'static str) {
    match health.readiness() {
        Readiness::Ready => (StatusCode::OK, "ready\n"),
        Readiness::StoreAway => (StatusCode::SERVICE_UNAVAILABLE, "the store is away\n"),
        Readiness::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
    }
}

async fn tell(State(metrics): State<Metrics>) -> Response {
    match metrics.render() {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
    }
}
