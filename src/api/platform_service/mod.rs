//! `banqi.v1.PlatformService`: for the trusted back ends of a platform. One file a call.

mod adjudicate_game;
mod delete_game;
mod erase_player;
mod import_game;
mod issue_player_token;
mod stream_lifecycle;

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::callers::{Caller, Callers, Messages, Role};
use super::error::ApiError;
use super::host::Host;
use super::proto::v1;
use super::proto::v1::platform_service_server::{PlatformService, PlatformServiceServer};
use super::to_the_end::to_the_end;

/// The handlers of `PlatformService`.
#[derive(Clone, Debug)]
pub struct PlatformApi {
    host: Arc<Host>,
    callers: Arc<Callers>,
}

impl PlatformApi {
    /// Handlers for the games of a host.
    pub fn new(host: Arc<Host>, callers: Arc<Callers>) -> Self {
        Self { host, callers }
    }

    /// The service, with the limits that its description states.
    pub fn into_server(self) -> PlatformServiceServer<Self> {
        PlatformServiceServer::new(self).max_decoding_message_size(super::MAX_MESSAGE)
    }

    /// Who sent a request, if it is the platform, and what it says.
    fn receive<T>(&self, request: Request<T>) -> Result<(Caller, T), ApiError> {
        let (caller, request) = self.callers.receive(request)?;
        caller.require(Role::Platform)?;
        Ok((caller, request))
    }
}

#[tonic::async_trait]
impl PlatformService for PlatformApi {
    async fn import_game(
        &self,
        request: Request<v1::ImportGameRequest>,
    ) -> Result<Response<v1::ImportGameResponse>, Status> {
        let (caller, request) = self.receive(request)?;
        to_the_end(import_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn issue_player_token(
        &self,
        request: Request<v1::IssuePlayerTokenRequest>,
    ) -> Result<Response<v1::IssuePlayerTokenResponse>, Status> {
        let (_, request) = self.receive(request)?;
        Ok(Response::new(issue_player_token::call(&self.callers, &request)?))
    }

    async fn adjudicate_game(
        &self,
        request: Request<v1::AdjudicateGameRequest>,
    ) -> Result<Response<v1::AdjudicateGameResponse>, Status> {
        let (caller, request) = self.receive(request)?;
        to_the_end(adjudicate_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn delete_game(
        &self,
        request: Request<v1::DeleteGameRequest>,
    ) -> Result<Response<v1::DeleteGameResponse>, Status> {
        let (caller, request) = self.receive(request)?;
        to_the_end(delete_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn erase_player(
        &self,
        request: Request<v1::ErasePlayerRequest>,
    ) -> Result<Response<v1::ErasePlayerResponse>, Status> {
        let (_, request) = self.receive(request)?;
        to_the_end(erase_player::call(Arc::clone(&self.host), request)).await
    }

    type StreamLifecycleStream = Messages<v1::StreamLifecycleResponse>;

    async fn stream_lifecycle(
        &self,
        request: Request<v1::StreamLifecycleRequest>,
    ) -> Result<Response<Self::StreamLifecycleStream>, Status> {
        let (caller, request) = self.receive(request)?;
        Ok(Response::new(stream_lifecycle::call(&self.host, caller, request)?))
    }
}
