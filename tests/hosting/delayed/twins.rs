//! Games of one history that go on differently: until their spectators may know of it, they are told
//! the same of each.

use std::sync::Arc;

use banqi::api::callers::Role;
use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::rules::BoardSize;
use banqi::server::Config;
use banqi::store::{Options, open};
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rstest::rstest;
use tempfile::TempDir;
use tonic::Response;

use super::oracle::Story;
use super::scene::{Deed, Scene, platform};
use crate::guarded::{by_key, keys, of, with};
use crate::hidden::{StandingTime, Transcript, compare};
use crate::table::{assigned, shuffled};
use crate::world::{Replica, options, trusting};

/// How many turns the games have in common.
const COMMON: usize = 16;

/// One of two games, on a service of its own.
struct Twin {
    scene: Scene,
    story: Story,
    transcript: Transcript,
}

impl Twin {
    async fn begin(preset: &str, delay_turns: u32, deal: &str) -> Self {
        let scene = Scene::standing().await;
        let request = v1::ImportGameRequest {
            game_id: "the-game".to_owned(),
            preset: preset.to_owned(),
            seats: assigned(preset),
            start: Some(Start::Deal(deal.to_owned())),
            spectators: Some(v1::Spectators {
                mode: v1::SpectatorMode::Delayed.into(),
                delay_turns,
            }),
            ..Default::default()
        };
        let replica = &scene.replicas[0];
        replica.platform().import_game(platform(request)).await.expect("imported");
        let story = Story::begin(replica, "the-game", delay_turns).await;
        Self { scene, story, transcript: Transcript::default() }
    }

    /// Does it; answers whether it could be done.
    async fn act(&mut self, deed: Deed) -> bool {
        let replica = &self.scene.replicas[0];
        let _ = deed.send(&self.scene, replica, &self.story.id).await;
        self.story.follow(replica).await
    }

    /// Plays at random until a turn is completed, so that not only turns but all else differs.
    async fn play_a_turn(&mut self, random: &mut Xoshiro256PlusPlus) {
        let turns = self.story.turn_ends().len();
        while self.story.turn_ends().len() == turns {
            let deed = harmless(self.story.last(), random);
            self.act(deed).await;
            assert!(!self.story.has_ended(), "once it has ended, all is shown: take another seed");
        }
    }

    /// Asks everything that a spectator can ask; with `stolen` by true etags that he cannot
    /// have been told.
    async fn ask(&mut self, stolen: bool) {
        let replica = &self.scene.replicas[0];
        let (mut games, id) = (replica.games(), || self.story.id.clone());
        let (reader, transcript) = (by_key(of(Role::Reader)), &mut self.transcript);
        for view in [v1::GameView::Basic, v1::GameView::Full] {
            let request = v1::GetGameRequest { game_id: id(), view: view.into() };
            let answer = games.get_game(with(request, &reader)).await;
            transcript.note(format!("get {view:?}"), answer);
            let request = v1::BatchGetGamesRequest { game_ids: vec![id()], view: view.into() };
            let answer = games.batch_get_games(with(request, &reader)).await;
            transcript.note(format!("batch {view:?}"), answer);
        }
        let request = v1::ListLegalActionsRequest { game_id: id() };
        let answer = games.list_legal_actions(with(request, &reader)).await;
        transcript.note("legal actions".to_owned(), answer);
        let request = v1::GetFairnessProofRequest { game_id: id() };
        let answer = games.get_fairness_proof(with(request, &reader)).await;
        transcript.note("proof".to_owned(), answer);

        // Beyond what is shown the etags of one game are true, where it has got so far, and those of
        // the other are not.
        let shown = self.story.shown();
        let ahead = (shown + 1..shown + 5).map(|index| {
            let state = self.story.states.get(index).filter(|_| stolen);
            state.map_or_else(
                || format!("{}.{}", index + 1, "0".repeat(16)),
                |state| state.etag.clone(),
            )
        });
        let own = [String::new(), self.story.states[0].etag.clone()];
        for (number, after) in own.into_iter().chain(ahead).enumerate() {
            let request = v1::PollGameRequest {
                game_id: id(),
                after_etag: after.clone(),
                ..Default::default()
            };
            let answer = games.poll_game(with(request, &reader)).await;
            transcript.note(format!("poll {number}"), answer);
            let request = v1::WatchGameRequest {
                game_id: id(),
                after_etag: after.clone(),
                ..Default::default()
            };
            let watch = games.watch_game(with(request, &reader)).await.expect("a watch");
            let first = watch.into_inner().message().await;
            let first = first.map(|message| Response::new(message.expect("no end")));
            transcript.note(format!("watch {number}"), first);
            let request = v1::JoinGameRequest { game_id: id(), etag: after, ..Default::default() };
            let answer = games.join_game(with(request, &by_key(of(Role::Player)))).await;
            transcript.note(format!("join {number}"), answer);
        }
    }

    /// What a spectator was told, the etags of one game as those of the other.
    fn told(mut self) -> Transcript {
        let etags = self.story.states.iter().map(|state| &state.etag);
        let histories = etags.filter_map(|etag| etag.split('.').nth(1)).map(str::to_owned);
        self.transcript.chance.extend(histories);
        self.transcript.normalised()
    }
}

impl Scene {
    /// One replica, whose time stands still.
    async fn standing() -> Self {
        let (keys, callers): (TempDir, _) = keys();
        let options = Options { time: Arc::new(StandingTime), ..options() };
        let store = open("memory:", options).await.expect("a store");
        let replica = Replica::on(store, Config { callers, ..trusting() }).await;
        Self::of(vec![replica], keys)
    }
}

/// Anything that does not end a game.
fn harmless(game: &v1::Game, random: &mut Xoshiro256PlusPlus) -> Deed {
    loop {
        match Deed::draw(game, random) {
            Deed::Resign(_) | Deed::Sleep(_) | Deed::AnswerDraw(_, true) => {}
            deed => return deed,
        }
    }
}

#[rstest]
#[case("TAIWANESE", 1, 15)]
#[case("TAIWANESE", 3, 12)]
#[case("TAIWANESE_DARK_CHAIN", 2, 13)]
#[case("DOUBLE_FOUR", 4, 14)]
#[tokio::test]
async fn games_that_differ_in_what_is_not_shown_yet_are_told_alike(
    #[case] preset: &str,
    #[case] delay: u32,
    #[case] seed: u64,
) {
    println!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let board = if preset == "DOUBLE_FOUR" { BoardSize::Double } else { BoardSize::Single };
    let deal = shuffled(board, &mut random);
    let mut one = Twin::begin(preset, delay, &deal).await;
    let mut other = Twin::begin(preset, delay, &deal).await;
    while one.story.turn_ends().len() < COMMON {
        let deed = harmless(one.story.last(), &mut random);
        assert_eq!(one.act(deed.clone()).await, other.act(deed).await);
    }
    let common = one.story.states.len();
    let mut paths = [1, 2].map(|path| Xoshiro256PlusPlus::seed_from_u64(seed * 100 + path));
    for _ in 0..delay {
        one.play_a_turn(&mut paths[0]).await;
        other.play_a_turn(&mut paths[1]).await;
        assert!(one.story.shown() < common, "all that is shown is common");
        one.ask(true).await;
        other.ask(false).await;
    }
    assert_ne!(one.story.last().position, other.story.last().position, "they differ");
    compare(&one.told(), &other.told());
}
