//! Calls that are sent again until they are answered.

use tokio::time::Instant;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};
use uuid::Uuid;

use super::backoff;
use super::connect::{ConnectError, Options, connect};
use super::error::CallError;
use super::watch::Watch;
use crate::api::callers::{API_KEY, AUTHORIZATION};
use crate::api::proto::v1;
use crate::api::proto::v1::game_service_client::GameServiceClient;
use crate::api::proto::v1::rules_service_client::RulesServiceClient;
use crate::api::{GAME_ID, MAX_MESSAGE};

/// A client of one service. Clones share their connection.
#[derive(Clone, Debug)]
pub struct Client {
    channel: Channel,
    options: Options,
    /// Who reads, where that is a seat.
    seat: Option<AsciiMetadataValue>,
}

impl Client {
    /// Connects to a service: `HOST:PORT`, `http://…` or `https://…`.
    ///
    /// # Errors
    /// If the address is none, or nothing answers there.
    pub async fn connect(address: &str, options: Options) -> Result<Self, ConnectError> {
        Ok(Self { channel: connect(address, &options).await?, options, seat: None })
    }

    /// The same client, whose reads see what a seat sees. A token that cannot be one is left out, as an
    /// empty one is.
    #[must_use]
    pub fn as_seat(&self, token: &str) -> Self {
        let seat = AsciiMetadataValue::try_from(format!("Bearer {token}")).ok();
        Self { seat: seat.filter(|_| !token.is_empty()), ..self.clone() }
    }

    /// Watches a game from now on, as a spectator or, with its token, as a seat, which is present
    /// meanwhile.
    pub fn watch(&self, game_id: &str, seat_token: &str) -> Watch {
        Watch::new(self.clone(), game_id, seat_token)
    }

    /// The bare client of `GameService`.
    pub(super) fn games(&self) -> GameServiceClient<Channel> {
        // Games with long logs are larger than what is taken by default, and than requests may be.
        GameServiceClient::new(self.channel.clone()).max_decoding_message_size(16 * MAX_MESSAGE)
    }

    fn rules(&self) -> RulesServiceClient<Channel> {
        RulesServiceClient::new(self.channel.clone())
    }

    /// A request with what every call shows.
    pub(super) fn request<T>(&self, message: T, game_id: &str) -> Request<T> {
        let mut request = Request::new(message);
        let metadata = request.metadata_mut();
        if let Some(key) = &self.options.api_key {
            metadata.insert(API_KEY, key.clone());
        }
        if let Some(seat) = &self.seat {
            metadata.insert(AUTHORIZATION, seat.clone());
        }
        if let Ok(id) = AsciiMetadataValue::try_from(game_id)
            && !game_id.is_empty()
        {
            metadata.insert(GAME_ID, id);
        }
        request
    }

    /// Sends the same request while it fails for want of an answer.
    async fn repeat<T: Clone, R>(
        &self,
        message: T,
        game_id: &str,
        call: impl AsyncFn(Request<T>) -> Result<Response<R>, Status>,
    ) -> Result<R, CallError> {
        let end = Instant::now() + self.options.total;
        let mut failures = 0;
        loop {
            let mut request = self.request(message.clone(), game_id);
            let left = end.saturating_duration_since(Instant::now());
            request.set_timeout(self.options.attempt.min(left));
            let error = match call(request).await {
                Ok(answer) => return Ok(answer.into_inner()),
                Err(status) => CallError::from(status),
            };
            let delay = error.retry_delay.unwrap_or_else(|| backoff::after(failures));
            if !error.is_transient() || Instant::now() + delay >= end {
                return Err(error);
            }
            tokio::time::sleep(delay).await;
            failures += 1;
        }
    }
}

/// Gives a write that has none an id to be repeated with.
fn identify(request_id: &mut String) {
    if request_id.is_empty() {
        *request_id = Uuid::new_v4().to_string();
    }
}

macro_rules! calls {
    ($($client:ident.$method:ident($request:ident) -> $answer:ident $({ $($field:ident)+ })?;)*) => {
        impl Client {
            $(
                #[doc = concat!("`", stringify!($request), "`, as `proto/banqi/v1` describes it.")]
                ///
                /// # Errors
                /// Of what trying again does not change, or when the time for it is over.
                #[allow(unused_mut, reason = "reads are sent as they are")]
                pub async fn $method(
                    &self,
                    mut request: v1::$request,
                ) -> Result<v1::$answer, CallError> {
                    let game_id = calls!(@game request $($($field)+)?);
                    calls!(@identify request $($($field)+)?);
                    self.repeat(request, &game_id, async |request| {
                        self.$client().$method(request).await
                    })
                    .await
                }
            )*
        }
    };
    (@game $request:ident game $($rest:ident)*) => { $request.game_id.clone() };
    (@game $request:ident $($rest:ident)*) => { String::new() };
    (@identify $request:ident game write) => { identify(&mut $request.request_id) };
    (@identify $request:ident $($rest:ident)*) => {};
}

calls! {
    games.create_game(CreateGameRequest) -> CreateGameResponse { game write };
    games.join_game(JoinGameRequest) -> JoinGameResponse { game write };
    games.add_entropy(AddEntropyRequest) -> AddEntropyResponse { game write };
    games.get_game(GetGameRequest) -> GetGameResponse { game };
    games.batch_get_games(BatchGetGamesRequest) -> BatchGetGamesResponse;
    games.list_games(ListGamesRequest) -> ListGamesResponse;
    games.list_legal_actions(ListLegalActionsRequest) -> ListLegalActionsResponse { game };
    games.play_action(PlayActionRequest) -> PlayActionResponse { game write };
    games.resign_game(ResignGameRequest) -> ResignGameResponse { game write };
    games.abort_game(AbortGameRequest) -> AbortGameResponse { game write };
    games.offer_draw(OfferDrawRequest) -> OfferDrawResponse { game write };
    games.answer_draw(AnswerDrawRequest) -> AnswerDrawResponse { game write };
    games.request_takeback(RequestTakebackRequest) -> RequestTakebackResponse { game write };
    games.answer_takeback(AnswerTakebackRequest) -> AnswerTakebackResponse { game write };
    games.rematch(RematchRequest) -> RematchResponse { game write };
    games.reissue_seat_token(ReissueSeatTokenRequest) -> ReissueSeatTokenResponse { game write };
    games.get_fairness_proof(GetFairnessProofRequest) -> GetFairnessProofResponse { game };
    games.export_game(ExportGameRequest) -> ExportGameResponse { game };
    rules.list_presets(ListPresetsRequest) -> ListPresetsResponse;
    rules.check_rule_set(CheckRuleSetRequest) -> CheckRuleSetResponse;
    rules.analyze_position(AnalyzePositionRequest) -> AnalyzePositionResponse;
    rules.replay_game(ReplayGameRequest) -> ReplayGameResponse;
}
