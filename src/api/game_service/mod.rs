//! `banqi.v1.GameService`: hosted games. One file a call.

mod abort_game;
mod add_entropy;
mod answer_draw;
mod answer_takeback;
mod batch_get_games;
mod create_game;
mod export_game;
mod get_fairness_proof;
mod get_game;
mod join_game;
mod list_games;
mod list_legal_actions;
mod offer_draw;
mod play_action;
mod poll_game;
mod reissue_seat_token;
mod rematch;
mod request_takeback;
mod resign_game;
mod seat_call;
mod watch_game;
mod watch_player;

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::answer::{GetGameResponse, PlayActionResponse};
use super::callers::{Callers, Messages};
use super::host::Host;
use super::proto::v1;
use super::proto::v1::game_service_server::{GameService, GameServiceServer};
use super::to_the_end::to_the_end;
use super::watch::{WatchPace, Watches};

pub(super) use create_game::{labels, seat_tokens, seats};

/// The handlers of `GameService`.
#[derive(Clone, Debug)]
pub struct GameApi {
    host: Arc<Host>,
    callers: Arc<Callers>,
    watches: Arc<Watches>,
}

impl GameApi {
    /// Handlers for the games of a host. Must be called within a tokio runtime.
    pub fn new(host: Arc<Host>, callers: Arc<Callers>, pace: WatchPace) -> Self {
        Self { watches: Watches::new(Arc::clone(&host), pace), host, callers }
    }

    /// The service, with the limits that its description states.
    pub fn into_server(self) -> GameServiceServer<Self> {
        GameServiceServer::new(self).max_decoding_message_size(super::MAX_MESSAGE)
    }
}

#[tonic::async_trait]
impl GameService for GameApi {
    async fn create_game(
        &self,
        request: Request<v1::CreateGameRequest>,
    ) -> Result<Response<v1::CreateGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(create_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn join_game(
        &self,
        request: Request<v1::JoinGameRequest>,
    ) -> Result<Response<v1::JoinGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(join_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn add_entropy(
        &self,
        request: Request<v1::AddEntropyRequest>,
    ) -> Result<Response<v1::AddEntropyResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(add_entropy::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn get_game(
        &self,
        request: Request<v1::GetGameRequest>,
    ) -> Result<Response<GetGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(get_game::call(&self.host, caller, request).await?))
    }

    async fn batch_get_games(
        &self,
        request: Request<v1::BatchGetGamesRequest>,
    ) -> Result<Response<v1::BatchGetGamesResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(batch_get_games::call(&self.host, caller, request).await?))
    }

    async fn list_games(
        &self,
        request: Request<v1::ListGamesRequest>,
    ) -> Result<Response<v1::ListGamesResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(list_games::call(&self.host, caller, request).await?))
    }

    async fn list_legal_actions(
        &self,
        request: Request<v1::ListLegalActionsRequest>,
    ) -> Result<Response<v1::ListLegalActionsResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(list_legal_actions::call(&self.host, caller, request).await?))
    }

    async fn play_action(
        &self,
        request: Request<v1::PlayActionRequest>,
    ) -> Result<Response<PlayActionResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(play_action::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn resign_game(
        &self,
        request: Request<v1::ResignGameRequest>,
    ) -> Result<Response<v1::ResignGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(resign_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn abort_game(
        &self,
        request: Request<v1::AbortGameRequest>,
    ) -> Result<Response<v1::AbortGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(abort_game::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn offer_draw(
        &self,
        request: Request<v1::OfferDrawRequest>,
    ) -> Result<Response<v1::OfferDrawResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(offer_draw::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn answer_draw(
        &self,
        request: Request<v1::AnswerDrawRequest>,
    ) -> Result<Response<v1::AnswerDrawResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(answer_draw::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn request_takeback(
        &self,
        request: Request<v1::RequestTakebackRequest>,
    ) -> Result<Response<v1::RequestTakebackResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(request_takeback::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn answer_takeback(
        &self,
        request: Request<v1::AnswerTakebackRequest>,
    ) -> Result<Response<v1::AnswerTakebackResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(answer_takeback::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn rematch(
        &self,
        request: Request<v1::RematchRequest>,
    ) -> Result<Response<v1::RematchResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(rematch::call(Arc::clone(&self.host), caller, request)).await
    }

    async fn reissue_seat_token(
        &self,
        request: Request<v1::ReissueSeatTokenRequest>,
    ) -> Result<Response<v1::ReissueSeatTokenResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        to_the_end(reissue_seat_token::call(Arc::clone(&self.host), caller, request)).await
    }

    type WatchGameStream = Messages<v1::WatchGameResponse>;

    async fn watch_game(
        &self,
        request: Request<v1::WatchGameRequest>,
    ) -> Result<Response<Self::WatchGameStream>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(watch_game::call(&self.watches, caller, request).await?))
    }

    async fn poll_game(
        &self,
        request: Request<v1::PollGameRequest>,
    ) -> Result<Response<v1::PollGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(poll_game::call(&self.watches, caller, request).await?))
    }

    type WatchPlayerStream = Messages<v1::WatchPlayerResponse>;

    async fn watch_player(
        &self,
        request: Request<v1::WatchPlayerRequest>,
    ) -> Result<Response<Self::WatchPlayerStream>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(watch_player::call(&self.watches, caller, request).await?))
    }

    async fn get_fairness_proof(
        &self,
        request: Request<v1::GetFairnessProofRequest>,
    ) -> Result<Response<v1::GetFairnessProofResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(get_fairness_proof::call(&self.host, caller, request).await?))
    }

    async fn export_game(
        &self,
        request: Request<v1::ExportGameRequest>,
    ) -> Result<Response<v1::ExportGameResponse>, Status> {
        let (caller, request) = self.callers.receive(request)?;
        Ok(Response::new(export_game::call(&self.host, caller, request).await?))
    }
}
