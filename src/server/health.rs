//! Liveness and readiness, told over gRPC and over HTTP alike.

use std::sync::Arc;

use tokio::sync::{Mutex, watch};
use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use crate::api::proto::v1::game_service_server::GameServiceServer;
use crate::api::proto::v1::platform_service_server::PlatformServiceServer;
use crate::api::proto::v1::rules_service_server::RulesServiceServer;
use crate::api::{GameApi, PlatformApi, RulesApi};

/// Whether a replica wants calls, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readiness {
    /// It does.
    Ready,
    /// The store does not answer: calls about games would fail. Those that need no store are
    /// answered.
    StoreAway,
    /// It is told to stop. It is not ready any more whatever the store does.
    Stopping,
}

/// Whether this replica lives, which it does as long as it answers, and whether it wants calls.
#[derive(Clone, Debug)]
pub(super) struct Health {
    reporter: HealthReporter,
    readiness: watch::Sender<Readiness>,
    /// Held while a change is told, so that no two are told in another order than they were made.
    telling: Arc<Mutex<()>>,
}

impl Health {
    /// Alive and ready.
    pub(super) async fn serving() -> Self {
        let health = Self {
            reporter: HealthReporter::new(),
            readiness: watch::Sender::new(Readiness::Ready),
            telling: Arc::default(),
        };
        health.tell(Readiness::Ready).await;
        health
    }

    /// Turns readiness off for good; liveness stays.
    pub(super) async fn stop(&self) {
        let _turn = self.telling.lock().await;
        self.readiness.send_replace(Readiness::Stopping);
        self.tell(Readiness::Stopping).await;
    }

    /// Turns readiness on or off with the store; answers whether that changed it.
    pub(super) async fn tell_store(&self, answers: bool) -> bool {
        let _turn = self.telling.lock().await;
        let now = if answers { Readiness::Ready } else { Readiness::StoreAway };
        let before = self.readiness();
        if before == Readiness::Stopping || before == now {
            return false;
        }
        self.readiness.send_replace(now);
        self.tell(now).await;
        true
    }

    /// Whether the replica wants calls.
    pub(super) fn readiness(&self) -> Readiness {
        *self.readiness.borrow()
    }

    /// The gRPC service that tells it.
    pub(super) fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }

    async fn tell(&self, readiness: Readiness) {
        let status = |serves| match serves {
            true => ServingStatus::Serving,
            false => ServingStatus::NotServing,
        };
        let games = status(readiness == Readiness::Ready);
        // The empty name, liveness, is serving from the start and stays so.
        for (name, status) in [
            // It needs no store.
            (
                <RulesServiceServer<RulesApi> as NamedService>::NAME,
                status(readiness != Readiness::Stopping),
            ),
            (<GameServiceServer<GameApi> as NamedService>::NAME, games),
            (<PlatformServiceServer<PlatformApi> as NamedService>::NAME, games),
        ] {
            self.reporter.set_service_status(name, status).await;
        }
    }
}
