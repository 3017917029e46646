//! A caller whose calls belong to traces, or not.

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status, Streaming};

use crate::support::replica::Replica;

/// The span of the caller that its calls are made in.
pub(crate) const CALLERS_SPAN: u64 = 0xb7ad_6b71_6920_3331;

/// What a caller says of the trace that a call belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Context {
    /// Nothing.
    None,
    /// It is sampled, and this is its id.
    Sampled(u128),
    /// It is not sampled, and this is its id.
    NotSampled(u128),
}

pub(crate) struct Caller {
    client: GameServiceClient<Channel>,
    /// Shown with each call, if there is one.
    pub(crate) key: Option<String>,
}

impl Caller {
    pub(crate) async fn of(replica: &Replica) -> Self {
        let endpoint = format!("http://{}", replica.address());
        let endpoint = Endpoint::from_shared(endpoint).expect("a URI");
        let client = GameServiceClient::new(endpoint.connect().await.expect("a connection"));
        Self { client, key: None }
    }

    fn request<T>(&self, context: Context, message: T) -> Request<T> {
        let mut request = Request::new(message);
        let (trace, flags) = match context {
            Context::None => (None, "00"),
            Context::Sampled(trace) => (Some(trace), "01"),
            Context::NotSampled(trace) => (Some(trace), "00"),
        };
        let metadata = request.metadata_mut();
        if let Some(trace) = trace {
            let parent = format!("00-{trace:032x}-{CALLERS_SPAN:016x}-{flags}");
            metadata.insert("traceparent", parent.parse().expect("metadata"));
            metadata.insert("tracestate", "vendor=opaque".parse().expect("metadata"));
        }
        if let Some(key) = &self.key {
            metadata.insert("x-api-key", key.parse().expect("metadata"));
        }
        request
    }

    /// Creates a game of two seats: its id, and the seats' tokens.
    pub(crate) async fn create(&mut self, context: Context, id: &str) -> (String, Vec<String>) {
        let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
        let message = v1::CreateGameRequest {
            preset: "TAIWANESE".to_owned(),
            seats: vec![seat.clone(), seat],
            request_id: id.to_owned(),
            ..Default::default()
        };
        let request = self.request(context, message);
        let created = self.client.create_game(request).await.expect("created").into_inner();
        let tokens = created.seat_tokens.into_iter().map(|token| token.token).collect();
        (created.game.expect("a game").game_id, tokens)
    }

    /// Turns up the piece on a square.
    pub(crate) async fn flip(
        &mut self,
        context: Context,
        (game, token): (&str, &str),
        square: &str,
        id: &str,
    ) -> Result<(), Status> {
        let message = v1::PlayActionRequest {
            game_id: game.to_owned(),
            seat_token: token.to_owned(),
            request_id: id.to_owned(),
            action: square.to_owned(),
            ..Default::default()
        };
        let request = self.request(context, message);
        self.client.play_action(request).await.map(drop)
    }

    pub(crate) async fn get(&mut self, context: Context, game: &str) -> Result<(), Status> {
        let message = v1::GetGameRequest { game_id: game.to_owned(), ..Default::default() };
        let request = self.request(context, message);
        self.client.get_game(request).await.map(drop)
    }

    pub(crate) async fn watch(
        &mut self,
        context: Context,
        game: &str,
    ) -> Streaming<v1::WatchGameResponse> {
        let message = v1::WatchGameRequest { game_id: game.to_owned(), ..Default::default() };
        let request = self.request(context, message);
        self.client.watch_game(request).await.map(Response::into_inner).expect("a stream")
    }
}
