//! `/livez` and `/readyz` over plain HTTP, for what cannot ask over gRPC.

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use super::health::{Health, Readiness};

pub(super) fn router(health: Health) -> Router {
    Router::new()
        .route("/livez", get(async || "alive\n"))
        .route("/readyz", get(ready))
        .with_state(health)
}

async fn ready(State(health): State<Health>) -> (StatusCode, &'static str) {
    match health.readiness() {
        Readiness::Ready => (StatusCode::OK, "ready\n"),
        Readiness::StoreAway => (StatusCode::SERVICE_UNAVAILABLE, "the store is away\n"),
        Readiness::Stopping => (StatusCode::SERVICE_UNAVAILABLE, "stopping\n"),
    }
}
