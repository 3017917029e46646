//! Liveness and readiness, told over gRPC and over HTTP alike.

use tokio::sync::watch;
use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use crate::api::proto::v1::game_service_server::GameServiceServer;
use crate::api::proto::v1::platform_service_server::PlatformServiceServer;
use crate::api::proto::v1::rules_service_server::RulesServiceServer;
use crate::api::{GameApi, PlatformApi, RulesApi};

/// Whether this replica lives, which it does as long as it answers, and whether it wants calls.
#[derive(Clone)]
pub(super) struct Health {
    reporter: HealthReporter,
    ready: watch::Sender<bool>,
}

impl Health {
    /// Alive and ready.
    pub(super) async fn serving() -> Self {
        let health = Self { reporter: HealthReporter::new(), ready: watch::Sender::new(true) };
        health.tell(ServingStatus::Serving).await;
        health
    }

    /// Turns readiness off; liveness stays.
    pub(super) async fn stop(&self) {
        self.ready.send_replace(false);
        self.tell(ServingStatus::NotServing).await;
    }

    /// Whether the replica wants calls.
    pub(super) fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// The gRPC service that tells it.
    pub(super) fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }

    async fn tell(&self, status: ServingStatus) {
        // The empty name, liveness, is serving from the start and stays so.
        for name in [
            <RulesServiceServer<RulesApi> as NamedService>::NAME,
            <GameServiceServer<GameApi> as NamedService>::NAME,
            <PlatformServiceServer<PlatformApi> as NamedService>::NAME,
        ] {
            self.reporter.set_service_status(name, status).await;
        }
    }
}
