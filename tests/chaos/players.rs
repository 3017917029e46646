//! Players who repeat a call until it is answered, and keep what they were answered.

use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::replicas::{Replicas, in_time, is_a_break};

/// An action that was answered.
#[derive(Clone, Debug)]
pub(crate) struct Acknowledged {
    pub(crate) request_id: String,
    pub(crate) action: String,
    pub(crate) revision: u64,
    pub(crate) etag: String,
    /// Not told in the answer to a call that was repeated.
    pub(crate) durability: Option<v1::Durability>,
    pub(crate) moment: Instant,
}

/// What came of a player's calls.
#[derive(Debug, Default)]
pub(crate) struct Played {
    pub(crate) acknowledged: Vec<Acknowledged>,
    /// How many calls failed and were repeated.
    pub(crate) repeated: usize,
    /// The etags of writes that were told `HISTORY_LOST`.
    pub(crate) told: Vec<String>,
}

/// A game, and the promise of its deal that its players keep.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) commitment: Vec<u8>,
}

/// Creates a game that has begun.
pub(crate) async fn create(replicas: &Replicas, random: &mut Xoshiro256PlusPlus) -> Table {
    let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
    let request = v1::CreateGameRequest { seats: vec![seat; 2], ..Default::default() };
    let answer = in_time(replicas.any(random).create_game(request)).await.expect("created");
    let game = answer.into_inner().game.expect("a game");
    Table { id: game.game_id, commitment: game.commitment }
}

/// The game with its log, from a replica that answers.
pub(crate) async fn get(
    replicas: &Replicas,
    id: &str,
    random: &mut Xoshiro256PlusPlus,
) -> v1::Game {
    loop {
        let request =
            v1::GetGameRequest { game_id: id.to_owned(), view: v1::GameView::Full.into() };
        match in_time(replicas.any(random).get_game(request)).await {
            Ok(answer) => return answer.into_inner().game.expect("a game"),
            Err(status) => assert!(is_a_break(&status), "{status:?}"),
        }
        sleep(Duration::from_millis(30)).await;
    }
}

/// Plays one action, and repeats the call at any replica until it is answered.
async fn insist(
    replicas: &Replicas,
    request: &v1::PlayActionRequest,
    played: &mut Played,
    random: &mut Xoshiro256PlusPlus,
) -> Result<v1::PlayActionResponse, Status> {
    loop {
        match in_time(replicas.any(random).play_action(request.clone())).await {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(status) if is_a_break(&status) => played.repeated += 1,
            Err(status) => return Err(status),
        }
        sleep(Duration::from_millis(30)).await;
    }
}

/// Chooses an action of a game that goes on, plays it, and keeps the answer; returns the game after
/// it, unless others were faster or its history was lost.
pub(crate) async fn act(
    replicas: &Replicas,
    game: &v1::Game,
    played: &mut Played,
    random: &mut Xoshiro256PlusPlus,
) -> Option<v1::Game> {
    let action = game.legal_actions.choose(random).expect("a legal action").text.clone();
    let request = v1::PlayActionRequest {
        game_id: game.game_id.clone(),
        seat: game.position.as_ref().expect("a position").to_move,
        action: action.clone(),
        etag: if random.random_ratio(1, 2) { game.etag.clone() } else { String::new() },
        request_id: format!("{:032x}", random.random::<u128>()),
        ..Default::default()
    };
    match insist(replicas, &request, played, random).await {
        Ok(answer) => {
            let game = answer.game.expect("a game");
            played.acknowledged.push(Acknowledged {
                request_id: request.request_id,
                action,
                revision: game.revision,
                etag: game.etag.clone(),
                durability: answer.durability,
                moment: Instant::now(),
            });
            Some(game)
        }
        Err(status) => {
            let refused = matches!(status.code(), Code::FailedPrecondition | Code::Aborted);
            assert!(refused, "{request:?}: {status:?}");
            let details = status.get_error_details();
            let lost = details.error_info().is_some_and(|info| info.reason == "HISTORY_LOST");
            played.told.extend(Some(request.etag).filter(|_| lost));
            None
        }
    }
}

/// Plays both seats until it is told to stop or the game is over. Others play as well, and what it
/// knows of the game may be old.
pub(crate) async fn play(
    replicas: Arc<Replicas>,
    id: String,
    stop: watch::Receiver<bool>,
    mut random: Xoshiro256PlusPlus,
) -> Played {
    let mut played = Played::default();
    let mut known = None;
    while !*stop.borrow() {
        let game: v1::Game = match known.take().filter(|_| random.random_ratio(1, 2)) {
            Some(game) => game,
            None => get(&replicas, &id, &mut random).await,
        };
        if game.state() == v1::GameState::Finished {
            break;
        }
        known = act(&replicas, &game, &mut played, &mut random).await;
        sleep(Duration::from_millis(random.random_range(60..180))).await;
    }
    played
}

/// Ends a game, however far it is.
pub(crate) async fn end(replicas: &Replicas, id: &str, random: &mut Xoshiro256PlusPlus) {
    while get(replicas, id, random).await.state() != v1::GameState::Finished {
        let request =
            v1::ResignGameRequest { game_id: id.to_owned(), seat: 1, ..Default::default() };
        if let Err(status) = in_time(replicas.any(random).resign_game(request)).await {
            let refused = matches!(status.code(), Code::FailedPrecondition | Code::Aborted);
            assert!(refused || is_a_break(&status), "{status:?}");
        }
    }
}
