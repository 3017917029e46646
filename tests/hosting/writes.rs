//! Every kind of write, as one type.

use banqi::api::proto::v1;
use tonic::Status;

use crate::world::Replica;

/// A call that changes something.
#[derive(Clone, Debug)]
pub(crate) enum Write {
    Create(v1::CreateGameRequest),
    Import(v1::ImportGameRequest),
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
}

/// Does the same with every kind of request.
macro_rules! with_each {
    ($write:expr, $request:ident => $body:expr) => {
        match $write {
            Self::Create($request) => $body,
            Self::Import($request) => $body,
            other => with_each!(@game other, $request => $body),
        }
    };
    (@game $write:expr, $request:ident => $body:expr) => {
        match $write {
            Self::Create(_) | Self::Import(_) => panic!("a creation is no write on a game"),
            Self::Join($request) => $body,
            Self::AddEntropy($request) => $body,
            Self::Play($request) => $body,
            Self::Resign($request) => $body,
            Self::Abort($request) => $body,
            Self::OfferDraw($request) => $body,
            Self::AnswerDraw($request) => $body,
            Self::RequestTakeback($request) => $body,
            Self::AnswerTakeback($request) => $body,
            Self::Rematch($request) => $body,
            Self::Reissue($request) => $body,
        }
    };
}

/// What is the same however often a write is repeated.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Without the time of the answer.
    pub(crate) game: v1::Game,
    pub(crate) record: Option<v1::ActionRecord>,
    pub(crate) tokens: Vec<v1::SeatToken>,
}

impl Answer {
    fn new(
        game: Option<v1::Game>,
        record: Option<v1::ActionRecord>,
        tokens: Vec<v1::SeatToken>,
    ) -> Self {
        let mut game = game.expect("a game");
        assert!(game.server_time.take().is_some(), "an answer has its time");
        Self { game, record, tokens }
    }
}

impl Write {
    pub(crate) async fn send(&self, replica: &Replica) -> Result<Answer, Status> {
        let (mut games, mut platform) = (replica.games(), replica.platform());
        let told = |game| Answer::new(game, None, Vec::new());
        Ok(match self.clone() {
            Self::Create(request) => {
                let answer = games.create_game(request).await?.into_inner();
                Answer::new(answer.game, None, answer.seat_tokens)
            }
            Self::Import(request) => {
                let answer = platform.import_game(request).await?.into_inner();
                Answer::new(answer.game, None, answer.seat_tokens)
            }
            Self::Join(request) => {
                let answer = games.join_game(request).await?.into_inner();
                let token = v1::SeatToken { seat: answer.seat, token: answer.seat_token };
                Answer::new(answer.game, None, vec![token])
            }
            Self::AddEntropy(request) => {
                let answer = games.add_entropy(request).await?.into_inner();
                Answer::new(answer.game, None, Vec::new())
            }
            Self::Play(request) => {
                let answer = games.play_action(request).await?.into_inner();
                Answer::new(answer.game, answer.record, Vec::new())
            }
            Self::Rematch(request) => {
                let answer = games.rematch(request).await?.into_inner();
                Answer::new(answer.game, None, answer.seat_tokens)
            }
            Self::Reissue(request) => {
                let seat = request.seat;
                let answer = games.reissue_seat_token(request).await?.into_inner();
                let token = v1::SeatToken { seat, token: answer.seat_token };
                // The only answer without a game.
                Answer { game: v1::Game::default(), record: None, tokens: vec![token] }
            }
            Self::Resign(request) => told(games.resign_game(request).await?.into_inner().game),
            Self::Abort(request) => told(games.abort_game(request).await?.into_inner().game),
            Self::OfferDraw(request) => told(games.offer_draw(request).await?.into_inner().game),
            Self::AnswerDraw(request) => told(games.answer_draw(request).await?.into_inner().game),
            Self::RequestTakeback(request) => {
                told(games.request_takeback(request).await?.into_inner().game)
            }
            Self::AnswerTakeback(request) => {
                told(games.answer_takeback(request).await?.into_inner().game)
            }
        })
    }

    /// The same call with this request id.
    pub(crate) fn with_request_id(mut self, id: &str) -> Self {
        let field = with_each!(&mut self, request => &mut request.request_id);
        id.clone_into(field);
        self
    }

    /// The same call on the condition of an etag; creations know no such thing.
    pub(crate) fn with_etag(mut self, etag: &str) -> Self {
        let field = with_each!(@game &mut self, request => &mut request.etag);
        etag.clone_into(field);
        self
    }

    /// The same call on another game.
    pub(crate) fn with_game(mut self, id: &str) -> Self {
        let field = with_each!(&mut self, request => &mut request.game_id);
        id.clone_into(field);
        self
    }

    /// A call of the same kind that asks for something else.
    pub(crate) fn changed(mut self) -> Self {
        match &mut self {
            Self::Create(request) => request.entropy_required = !request.entropy_required,
            Self::Import(request) => {
                request.labels.insert("changed".to_owned(), String::new());
            }
            Self::Join(request) => request.player_id.push('x'),
            Self::AddEntropy(request) => request.entropy[0] ^= 1,
            Self::Play(request) => request.action = "d4".to_owned(),
            Self::AnswerDraw(request) => request.accept = !request.accept,
            Self::AnswerTakeback(request) => request.accept = !request.accept,
            Self::Rematch(request) => request.first = v1::RematchFirst::Same.into(),
            Self::Reissue(request) => request.seat = 3 - request.seat,
            other => return other.clone().with_etag(&format!("1.{}", "0".repeat(16))),
        }
        self
    }
}
