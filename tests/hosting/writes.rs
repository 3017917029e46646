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
            Self::Resign(request) => {
                let answer = games.resign_game(request).await?.into_inner();
                Answer::new(answer.game, None, Vec::new())
            }
        })
    }

    /// The same call with this request id.
    pub(crate) fn with_request_id(mut self, id: &str) -> Self {
        let field = match &mut self {
            Self::Create(request) => &mut request.request_id,
            Self::Import(request) => &mut request.request_id,
            Self::Join(request) => &mut request.request_id,
            Self::AddEntropy(request) => &mut request.request_id,
            Self::Play(request) => &mut request.request_id,
            Self::Resign(request) => &mut request.request_id,
        };
        id.clone_into(field);
        self
    }

    /// The same call on the condition of an etag; creations know no such thing.
    pub(crate) fn with_etag(mut self, etag: &str) -> Self {
        let field = match &mut self {
            Self::Create(_) | Self::Import(_) => panic!("a creation has no etag"),
            Self::Join(request) => &mut request.etag,
            Self::AddEntropy(request) => &mut request.etag,
            Self::Play(request) => &mut request.etag,
            Self::Resign(request) => &mut request.etag,
        };
        etag.clone_into(field);
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
            Self::Resign(request) => request.etag = format!("1.{}", "0".repeat(16)),
        }
        self
    }
}
