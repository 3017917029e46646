//! `banqi.v1.PlatformService`: for the trusted back ends of a platform. One file a call.

mod adjudicate_game;
mod delete_game;
mod erase_player;
mod import_game;
mod stream_lifecycle;

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::error::{ApiError, Reason};
use super::host::Host;
use super::proto::v1;
use super::proto::v1::platform_service_server::{PlatformService, PlatformServiceServer};
use super::to_the_end::to_the_end;

/// The handlers of `PlatformService`.
#[derive(Clone, Debug)]
pub struct PlatformApi {
    host: Arc<Host>,
}

impl PlatformApi {
    /// Handlers for the games of a host.
    pub fn new(host: Arc<Host>) -> Self {
        Self { host }
    }

    /// The service, with the limits that its description states.
    pub fn into_server(self) -> PlatformServiceServer<Self> {
        PlatformServiceServer::new(self).max_decoding_message_size(super::MAX_MESSAGE)
    }

    fn check_caller(&self) -> Result<(), ApiError> {
        if self.host.options().dev_platform {
            return Ok(());
        }
        Err(ApiError::new(
            Reason::PlatformOnly,
            "only trusted back ends may call PlatformService: start the service with \
             --dev-platform",
        ))
    }
}

#[tonic::async_trait]
impl PlatformService for PlatformApi {
    async fn import_game(
        &self,
        request: Request<v1::ImportGameRequest>,
    ) -> Result<Response<v1::ImportGameResponse>, Status> {
        self.check_caller()?;
        to_the_end(import_game::call(Arc::clone(&self.host), request.into_inner())).await
    }

    async fn adjudicate_game(
        &self,
        request: Request<v1::AdjudicateGameRequest>,
    ) -> Result<Response<v1::AdjudicateGameResponse>, Status> {
        self.check_caller()?;
        to_the_end(adjudicate_game::call(Arc::clone(&self.host), request.into_inner())).await
    }

    async fn delete_game(
        &self,
        request: Request<v1::DeleteGameRequest>,
    ) -> Result<Response<v1::DeleteGameResponse>, Status> {
        self.check_caller()?;
        to_the_end(delete_game::call(Arc::clone(&self.host), request.into_inner())).await
    }

    async fn erase_player(
        &self,
        request: Request<v1::ErasePlayerRequest>,
    ) -> Result<Response<v1::ErasePlayerResponse>, Status> {
        self.check_caller()?;
        to_the_end(erase_player::call(Arc::clone(&self.host), request.into_inner())).await
    }

    type StreamLifecycleStream = stream_lifecycle::Messages;

    async fn stream_lifecycle(
        &self,
        request: Request<v1::StreamLifecycleRequest>,
    ) -> Result<Response<Self::StreamLifecycleStream>, Status> {
        self.check_caller()?;
        Ok(Response::new(stream_lifecycle::call(&self.host, request.into_inner())?))
    }
}
