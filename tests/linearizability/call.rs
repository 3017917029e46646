//! Every kind of call as one type. A further call needs an arm in each of the lists here.

use std::fmt;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use http::{Request, Response};
use prost::Message as _;
use tonic::Status;
use tonic::body::Body;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Service, ServiceExt as _};

use crate::model::millis;

/// A client of `GameService`, whatever carries its calls.
pub(crate) type Games =
    GameServiceClient<BoxCloneSyncService<Request<Body>, Response<Body>, BoxError>>;

/// A client whose calls are carried so.
pub(crate) fn games<S>(carrier: S) -> Games
where
    S: Service<Request<Body>, Response = Response<Body>, Error: Into<BoxError>, Future: Send>,
    S: Clone + Send + Sync + 'static,
{
    GameServiceClient::new(BoxCloneSyncService::new(carrier.map_err(Into::into)))
}

/// A call about one game.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    Create(Box<v1::CreateGameRequest>),
    Join(v1::JoinGameRequest),
    AddEntropy(v1::AddEntropyRequest),
    Play(v1::PlayActionRequest),
    Resign(v1::ResignGameRequest),
    Abort(v1::AbortGameRequest),
    OfferDraw(v1::OfferDrawRequest),
    AnswerDraw(v1::AnswerDrawRequest),
    RequestTakeback(v1::RequestTakebackRequest),
    AnswerTakeback(v1::AnswerTakebackRequest),
    Rematch(v1::RematchRequest),
    Reissue(v1::ReissueSeatTokenRequest),
    Get(v1::GetGameRequest),
    ListActions(v1::ListLegalActionsRequest),
}

/// What an answer says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answer {
    /// The revision of the game that it shows, if it shows one.
    pub(crate) revision: Option<u64>,
    /// The game, without the time of the answer.
    pub(crate) game: Option<v1::Game>,
    /// When the answer was made, in milliseconds since the Unix epoch.
    pub(crate) time: i64,
    /// The rematch of the game, where that was asked for.
    pub(crate) rematch: Option<v1::Game>,
    pub(crate) record: Option<v1::ActionRecord>,
    pub(crate) tokens: Vec<v1::SeatToken>,
    /// What the seat to move may do, where only that was asked for.
    pub(crate) actions: Option<Vec<v1::LegalAction>>,
}

impl Answer {
    fn new(game: Option<v1::Game>) -> Self {
        let mut game = game.expect("a game");
        let time = game.server_time.take();
        assert!(time.is_some(), "an answer has its time");
        let time = millis(time.as_ref());
        Self { revision: Some(game.revision), game: Some(game), time, ..Self::default() }
    }

    fn with_tokens(self, tokens: Vec<v1::SeatToken>) -> Self {
        Self { tokens, ..self }
    }
}

/// What a caller shows to act for a seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential<'a> {
    Nothing,
    Token(&'a str),
    Seat(u32),
}

/// Reads a call that acts for a seat.
macro_rules! for_seat {
    ($call:expr, $request:ident => $read:expr) => {
        match $call {
            Call::AddEntropy($request) => Some($read),
            Call::Play($request) => Some($read),
            Call::Resign($request) => Some($read),
            Call::Abort($request) => Some($read),
            Call::OfferDraw($request) => Some($read),
            Call::AnswerDraw($request) => Some($read),
            Call::RequestTakeback($request) => Some($read),
            Call::AnswerTakeback($request) => Some($read),
            Call::Rematch($request) => Some($read),
            Call::Create(_)
            | Call::Join(_)
            | Call::Reissue(_)
            | Call::Get(_)
            | Call::ListActions(_) => None,
        }
    };
}

/// Reads a call that changes a game that is there.
macro_rules! on_game {
    ($call:expr, $request:ident => $read:expr) => {
        match $call {
            Call::Join($request) => Some($read),
            Call::Reissue($request) => Some($read),
            call => for_seat!(call, $request => $read),
        }
    };
}

/// Reads a call that changes something.
macro_rules! of_write {
    ($call:expr, $request:ident => $read:expr) => {
        match $call {
            Call::Create($request) => Some($read),
            call => on_game!(call, $request => $read),
        }
    };
}

impl Call {
    pub(crate) async fn send(self, client: &mut Games) -> Result<Answer, Status> {
        Ok(match self {
            Self::Create(request) => {
                let answer = client.create_game(*request).await?.into_inner();
                Answer::new(answer.game).with_tokens(answer.seat_tokens)
            }
            Self::Join(request) => {
                let answer = client.join_game(request).await?.into_inner();
                let token = v1::SeatToken { seat: answer.seat, token: answer.seat_token };
                Answer::new(answer.game).with_tokens(vec![token])
            }
            Self::AddEntropy(request) => {
                Answer::new(client.add_entropy(request).await?.into_inner().game)
            }
            Self::Play(request) => {
                let answer = client.play_action(request).await?.into_inner();
                Answer { record: answer.record, ..Answer::new(answer.game) }
            }
            Self::Resign(request) => {
                Answer::new(client.resign_game(request).await?.into_inner().game)
            }
            Self::Abort(request) => {
                Answer::new(client.abort_game(request).await?.into_inner().game)
            }
            Self::OfferDraw(request) => {
                Answer::new(client.offer_draw(request).await?.into_inner().game)
            }
            Self::AnswerDraw(request) => {
                Answer::new(client.answer_draw(request).await?.into_inner().game)
            }
            Self::RequestTakeback(request) => {
                Answer::new(client.request_takeback(request).await?.into_inner().game)
            }
            Self::AnswerTakeback(request) => {
                Answer::new(client.answer_takeback(request).await?.into_inner().game)
            }
            Self::Rematch(request) => {
                let answer = client.rematch(request).await?.into_inner();
                let new = Answer::new(answer.game).with_tokens(answer.seat_tokens);
                Answer { revision: None, game: None, rematch: new.game, ..new }
            }
            Self::Reissue(request) => {
                let seat = request.seat;
                let token = client.reissue_seat_token(request).await?.into_inner().seat_token;
                Answer::default().with_tokens(vec![v1::SeatToken { seat, token }])
            }
            Self::Get(request) => Answer::new(client.get_game(request).await?.into_inner().game),
            Self::ListActions(request) => {
                let answer = client.list_legal_actions(request).await?.into_inner();
                let v1::ListLegalActionsResponse { actions, revision } = answer;
                Answer { revision: Some(revision), actions: Some(actions), ..Answer::default() }
            }
        })
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Create(_) => "CreateGame",
            Self::Join(_) => "JoinGame",
            Self::AddEntropy(_) => "AddEntropy",
            Self::Play(_) => "PlayAction",
            Self::Resign(_) => "ResignGame",
            Self::Abort(_) => "AbortGame",
            Self::OfferDraw(_) => "OfferDraw",
            Self::AnswerDraw(_) => "AnswerDraw",
            Self::RequestTakeback(_) => "RequestTakeback",
            Self::AnswerTakeback(_) => "AnswerTakeback",
            Self::Rematch(_) => "Rematch",
            Self::Reissue(_) => "ReissueSeatToken",
            Self::Get(_) => "GetGame",
            Self::ListActions(_) => "ListLegalActions",
        }
    }

    /// Whether it may change something.
    pub(crate) fn is_write(&self) -> bool {
        of_write!(self, _request => ()).is_some() && !self.only_validates()
    }

    /// Whether it only asks if it could be done.
    pub(crate) fn only_validates(&self) -> bool {
        matches!(self, Self::Play(request) if request.validate_only)
    }

    /// Whether showing nothing makes it a call of the platform.
    pub(crate) fn is_the_platforms_without_credential(&self) -> bool {
        matches!(self, Self::Abort(_) | Self::Rematch(_))
    }

    /// Its request id, if it has one.
    pub(crate) fn request_id(&self) -> Option<&str> {
        of_write!(self, request => request.request_id.as_str()).filter(|id| !id.is_empty())
    }

    /// The etag that it insists on, if it does.
    pub(crate) fn etag(&self) -> Option<&str> {
        on_game!(self, request => request.etag.as_str()).filter(|etag| !etag.is_empty())
    }

    /// What it shows to act for a seat; `None` for calls that act for none.
    pub(crate) fn credential(&self) -> Option<Credential<'_>> {
        for_seat!(self, request => match (request.seat_token.as_str(), request.seat) {
            ("", 0) => Credential::Nothing,
            ("", seat) => Credential::Seat(seat),
            (token, _) => Credential::Token(token),
        })
    }

    pub(crate) fn set_request_id(&mut self, id: &str) {
        of_write!(self, request => id.clone_into(&mut request.request_id));
    }

    pub(crate) fn set_etag(&mut self, etag: &str) {
        on_game!(self, request => etag.clone_into(&mut request.etag));
    }

    pub(crate) fn set_credential(&mut self, credential: Credential<'_>) {
        let (token, seat) = match credential {
            Credential::Nothing => ("", 0),
            Credential::Token(token) => (token, 0),
            Credential::Seat(seat) => ("", seat),
        };
        for_seat!(self, request => {
            token.clone_into(&mut request.seat_token);
            request.seat = seat;
        });
    }

    pub(crate) fn set_game_id(&mut self, id: &str) {
        match self {
            Self::Get(request) => id.clone_into(&mut request.game_id),
            Self::ListActions(request) => id.clone_into(&mut request.game_id),
            call => {
                of_write!(call, request => id.clone_into(&mut request.game_id));
            }
        }
    }

    /// What makes it the same call when it is repeated: everything but id and seat token.
    pub(crate) fn body(&self) -> (&'static str, Vec<u8>) {
        let mut bare = self.clone();
        bare.set_request_id("");
        for_seat!(&mut bare, request => request.seat_token.clear());
        (self.name(), of_write!(&bare, request => request.encode_to_vec()).unwrap_or_default())
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Create(request) => {
                let claim = |seat: &v1::NewSeat| match seat.claim() {
                    v1::SeatClaim::Reserved => format!("for {}", seat.player_id),
                    claim => claim.as_str_name().trim_start_matches("SEAT_CLAIM_").to_owned(),
                };
                let seats: Vec<_> = request.seats.iter().map(claim).collect();
                write!(f, " {} [{}]", request.preset, seats.join(", "))?;
            }
            Self::Join(request) => write!(f, " seat {} {}", request.seat, request.player_id)?,
            Self::Play(request) => write!(f, " {}", request.action)?,
            Self::Get(request) => write!(f, " {}", request.view().as_str_name())?,
            Self::AnswerDraw(request) => write!(f, " {}", request.accept)?,
            Self::AnswerTakeback(request) => write!(f, " {}", request.accept)?,
            Self::Rematch(request) => write!(f, " {}", request.first().as_str_name())?,
            Self::Reissue(request) => write!(f, " of seat {}", request.seat)?,
            _ => {}
        }
        match self.credential() {
            None => {}
            Some(Credential::Nothing) => f.write_str(" by nobody")?,
            Some(Credential::Seat(seat)) => write!(f, " by seat {seat}")?,
            Some(Credential::Token(token)) => {
                write!(f, " by token {}", token.get(..10).unwrap_or(token))?;
            }
        }
        if self.only_validates() {
            f.write_str(" (validate only)")?;
        }
        if let Some(id) = self.request_id() {
            write!(f, " id {}", id.get(..8).unwrap_or(id))?;
        }
        self.etag().map_or(Ok(()), |etag| write!(f, " etag {etag}"))
    }
}
