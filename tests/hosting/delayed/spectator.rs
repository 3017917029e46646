//! A spectator who tries everything that he can call.

use std::time::Duration;

use banqi::api::callers::Role;
use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::{Message, Snapshot};
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use tokio::time::timeout;
use tonic::Streaming;

use super::oracle::Story;
use crate::guarded::{Metadata, by_key, of, with};
use crate::support::{PATIENCE, refusal};
use crate::world::{Replica, reason};

/// Where a spectator says that he is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// Nowhere yet.
    Nothing,
    /// In this state: one that he was shown, or one that somebody with a seat told him of.
    State(usize),
    /// At this revision of a course that the game never took.
    Forged(u64),
}

/// What he is then told.
#[derive(Debug, PartialEq, Eq)]
enum News {
    Snapshot {
        history_lost: bool,
    },
    /// The events after this state.
    EventsAfter(usize),
    Nothing,
}

impl After {
    /// Any of the three, true or stolen.
    pub(super) fn draw(story: &Story, random: &mut Xoshiro256PlusPlus) -> Self {
        let (shown, newest) = (story.shown(), story.newest());
        match random.random_range(0..8) {
            0 => Self::Nothing,
            1 => Self::State(random.random_range(0..=shown)),
            2 => Self::State(shown),
            3 | 4 => Self::State(random.random_range(shown..=newest)),
            5 => Self::State(newest),
            _ => Self::Forged(random.random_range(1..=newest as u64 + 3)),
        }
    }

    pub(super) fn etag(self, story: &Story) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::State(index) => story.states[index].etag.clone(),
            Self::Forged(revision) => format!("{revision}.{}", "0".repeat(16)),
        }
    }

    /// What is told: whether a later state is one of the game's is itself hidden.
    fn news(self, story: &Story) -> News {
        let shown = story.shown();
        match self {
            Self::Nothing => News::Snapshot { history_lost: false },
            Self::State(index) if index < shown => News::EventsAfter(index),
            Self::State(_) => News::Nothing,
            Self::Forged(revision) if revision > shown as u64 + 1 && !story.has_ended() => {
                News::Nothing
            }
            Self::Forged(_) => News::Snapshot { history_lost: true },
        }
    }
}

/// Whose key a spectator may have.
pub(super) fn metadata(random: &mut Xoshiro256PlusPlus) -> Metadata {
    by_key(of(*[Role::Reader, Role::Player].choose(random).expect("a role")))
}

/// A game without the time of the answer, which must be there.
fn timeless(game: Option<v1::Game>) -> v1::Game {
    let mut game = game.expect("a game");
    let told = game.server_time.take().expect("the time of the answer");
    let changed = game.update_time.expect("the time of the last change");
    assert!((told.seconds, told.nanos) >= (changed.seconds, changed.nanos));
    game
}

/// Calls every read, and what else a spectator may try.
pub(super) async fn ask_everything(
    replica: &Replica,
    story: &Story,
    metadata: &Metadata,
    random: &mut Xoshiro256PlusPlus,
) {
    let shown = story.shown();
    let (mut games, game_id) = (replica.games(), || story.id.clone());
    for (view, expected) in [
        (v1::GameView::Basic, story.basic(shown)),
        (v1::GameView::Full, story.states[shown].clone()),
    ] {
        let request = v1::GetGameRequest { game_id: game_id(), view: view.into() };
        let answer = games.get_game(with(request, metadata)).await.expect("shown").into_inner();
        assert_eq!(timeless(answer.game), expected);
        let game_ids = vec![game_id(), game_id()];
        let request = v1::BatchGetGamesRequest { game_ids, view: view.into() };
        let answer = games.batch_get_games(with(request, metadata)).await.expect("shown");
        for game in answer.into_inner().games {
            assert_eq!(timeless(Some(game)), expected);
        }
    }
    let request = v1::ListLegalActionsRequest { game_id: game_id() };
    let answer = games.list_legal_actions(with(request, metadata)).await.expect("shown");
    let v1::ListLegalActionsResponse { actions, revision } = answer.into_inner();
    let state = &story.states[shown];
    assert_eq!((&actions, revision), (&state.legal_actions, state.revision));

    let request = v1::GetFairnessProofRequest { game_id: game_id() };
    let answer = games.get_fairness_proof(with(request, metadata)).await.expect("shown");
    assert_eq!(answer.into_inner(), story.proofs[shown]);

    let status = games.list_games(with(v1::ListGamesRequest::default(), metadata)).await;
    assert_eq!(reason(&status.expect_err("nobody's list")), "ROLE_TOO_LOW");
    if let Some(action) = story.last().legal_actions.choose(random) {
        let request = v1::PlayActionRequest {
            game_id: game_id(),
            action: action.text.clone(),
            validate_only: true,
            ..Default::default()
        };
        let status = games.play_action(with(request, metadata)).await.expect_err("nobody's");
        assert_eq!(reason(&status), "SEAT_TOKEN_MISSING");
    }
    poll(replica, story, After::draw(story, random), Duration::ZERO, metadata).await;
    try_to_join(replica, story, After::draw(story, random)).await;
}

/// Tries to take a seat on the condition of an etag: a way to ask what the game's etag is.
async fn try_to_join(replica: &Replica, story: &Story, after: After) {
    let shown = story.shown();
    let expected = match after {
        // What is known to be so, is refused for another reason or done.
        After::Nothing => return,
        After::State(index) if index == shown && shown == story.newest() => return,
        After::Forged(revision) if revision <= shown as u64 + 1 || story.has_ended() => {
            "HISTORY_LOST"
        }
        _ => "ETAG_MISMATCH",
    };
    let etag = after.etag(story);
    let request = v1::JoinGameRequest { game_id: story.id.clone(), etag, ..Default::default() };
    let answer = replica.games().join_game(with(request, &by_key(of(Role::Player)))).await;
    let (_, reason, details) = refusal(&answer.expect_err("refused"));
    assert_eq!(reason, expected, "{after:?} where {shown} is shown");
    let told = &details.error_info().expect("an ErrorInfo").metadata;
    let state = &story.states[shown];
    assert_eq!((&told["etag"], &told["revision"]), (&state.etag, &state.revision.to_string()));
}

/// Polls, and expects what may be known now.
pub(super) async fn poll(
    replica: &Replica,
    story: &Story,
    after: After,
    wait: Duration,
    metadata: &Metadata,
) {
    let answer = poll_unchecked(replica, &story.id, after.etag(story), wait, metadata).await;
    let shown = story.shown();
    let (events, lost, game) = match after.news(story) {
        News::Snapshot { history_lost } => (Vec::new(), history_lost, shown),
        News::EventsAfter(index) => {
            let last = shown.min(index + 100);
            ((index + 1..=last).map(|index| story.event(index)).collect(), false, last)
        }
        News::Nothing => (Vec::new(), false, shown),
    };
    assert_eq!(answer.events, events, "{after:?} where {shown} is shown");
    assert_eq!(answer.history_lost, lost, "{after:?} where {shown} is shown");
    assert_eq!(timeless(answer.game), story.basic(game));
}

pub(super) async fn poll_unchecked(
    replica: &Replica,
    id: &str,
    after_etag: String,
    wait: Duration,
    metadata: &Metadata,
) -> v1::PollGameResponse {
    let wait = Some(wait.try_into().expect("short"));
    let request = v1::PollGameRequest { game_id: id.to_owned(), after_etag, wait };
    let answer = replica.games().poll_game(with(request, metadata)).await;
    answer.expect("shown").into_inner()
}

/// Checks a poll that was waiting while something happened, after the state that was shown then.
pub(super) fn check_waited(story: &Story, before: usize, answer: v1::PollGameResponse) {
    let told = before + answer.events.len();
    assert!(told <= story.shown(), "{told} was told where {} is shown", story.shown());
    let expected: Vec<_> = (before + 1..=told).map(|index| story.event(index)).collect();
    assert_eq!(answer.events, expected);
    assert!(!answer.history_lost);
    assert_eq!(timeless(answer.game), story.basic(told));
}

/// A watch that stands.
pub(super) struct Watch {
    stream: Streaming<v1::WatchGameResponse>,
    after: After,
    is_new: bool,
    over: bool,
}

impl Watch {
    pub(super) async fn begin(
        replica: &Replica,
        story: &Story,
        after: After,
        metadata: &Metadata,
    ) -> Self {
        let request = v1::WatchGameRequest {
            game_id: story.id.clone(),
            after_etag: after.etag(story),
            ..Default::default()
        };
        let answer = replica.games().watch_game(with(request, metadata)).await;
        let stream = answer.expect("a watch").into_inner();
        Self { stream, after, is_new: true, over: false }
    }

    /// Takes what may be known now, and what says nothing; anything else fails.
    pub(super) async fn catch_up(&mut self, story: &Story) {
        while !self.over && self.after.news(story) != News::Nothing {
            let message = timeout(PATIENCE, self.stream.message()).await.unwrap_or_else(|_| {
                panic!("{:?} is told nothing where {} is shown", self.after, story.shown())
            });
            self.take(
                story,
                message.expect("no error").map(|told| told.message.expect("a message")),
            );
        }
        // Whatever else has come already.
        while let Ok(message) = timeout(Duration::ZERO, self.stream.message()).await {
            self.take(
                story,
                message.expect("no error").map(|told| told.message.expect("a message")),
            );
            if self.over {
                return;
            }
        }
    }

    /// Waits until the stream says that there is nothing new.
    pub(super) async fn outlast(&mut self, story: &Story) {
        self.catch_up(story).await;
        while !self.over && !story.has_ended() {
            let message = timeout(PATIENCE, self.stream.message()).await.expect("a keep-alive");
            let message = message.expect("no error").expect("no end").message;
            let is_quiet = matches!(message, Some(Message::KeepAlive(_)));
            self.take(story, message);
            if is_quiet {
                return;
            }
        }
    }

    fn take(&mut self, story: &Story, message: Option<Message>) {
        let shown = story.shown();
        let is_first = std::mem::replace(&mut self.is_new, false);
        let news = self.after.news(story);
        match message {
            None => {
                assert!(story.has_ended() && news == News::Nothing, "an end at {:?}", self.after);
                self.over = true;
            }
            // It says nothing of the game.
            Some(Message::Presence(_)) => assert!(!is_first),
            Some(Message::KeepAlive(alive)) => {
                assert!(!is_first || news == News::Nothing, "{:?} had news", self.after);
                // It may be from before what happened last.
                let index = story.states.iter().position(|state| state.etag == alive.etag);
                let index = index.expect("a state");
                assert!(index <= shown, "{index} was told where {shown} is shown");
                assert!(news != News::Nothing || index == shown || !is_first);
            }
            Some(Message::Snapshot(Snapshot { game, history_lost })) => {
                assert_eq!(news, News::Snapshot { history_lost }, "at {:?}", self.after);
                assert_eq!(timeless(game), story.basic(shown));
                self.after = After::State(shown);
            }
            Some(Message::Event(event)) => {
                let News::EventsAfter(index) = news else {
                    panic!("{:?} was told {event:?} where {shown} is shown", self.after);
                };
                assert_eq!(event, story.event(index + 1));
                self.after = After::State(index + 1);
            }
        }
    }
}
