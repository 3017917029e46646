//! Games and what happens in them: whoever plays does it through any replica, and does not mind a
//! call that fails.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use banqi::api::proto::v1::time_control::{Clock, PerTurn};
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use tokio::time::{Instant, sleep};

use crate::replicas::{Replicas, in_time, is_a_break};
use crate::support::PATIENCE;

/// What is done in a game. Calls act by seat, as a platform's do.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Join,
    AddEntropy,
    Play,
    OfferDraw,
    AnswerDraw { accept: bool },
    RequestTakeback,
    AnswerTakeback { accept: bool },
    Reissue,
    Resign,
    Rematch,
}

/// Creates a game whose second seat is open. Every third has a clock that runs out when its players
/// think for long, and every second waits for entropy.
pub(crate) async fn create(replicas: &Replicas, random: &mut Xoshiro256PlusPlus) -> String {
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned), seat(v1::SeatClaim::Open)],
        entropy_required: random.random_ratio(1, 2),
        time_control: random.random_ratio(1, 3).then(short_clock),
        ..Default::default()
    };
    let answer = in_time(replicas.any(random).create_game(request)).await.expect("created");
    answer.into_inner().game.expect("a game").game_id
}

/// Creates a game that begins at once. With a clock, it ends by it if nobody plays it.
pub(crate) async fn create_begun(
    replicas: &Replicas,
    has_clock: bool,
    random: &mut Xoshiro256PlusPlus,
) -> String {
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned), seat(v1::SeatClaim::Assigned)],
        time_control: has_clock.then(short_clock),
        ..Default::default()
    };
    let answer = in_time(replicas.any(random).create_game(request)).await.expect("created");
    answer.into_inner().game.expect("a game").game_id
}

fn seat(claim: v1::SeatClaim) -> v1::NewSeat {
    v1::NewSeat { claim: claim.into(), ..Default::default() }
}

fn short_clock() -> v1::TimeControl {
    let limit = prost_types::Duration { seconds: 0, nanos: 700_000_000 };
    let clock = Clock::PerTurn(PerTurn { limit: Some(limit) });
    v1::TimeControl { clock: Some(clock), first_turn_limit: None }
}

/// The game with its log, from a replica that answers.
async fn get(replicas: &Replicas, id: &str, random: &mut Xoshiro256PlusPlus) -> v1::Game {
    let limit = Instant::now() + PATIENCE;
    loop {
        let request =
            v1::GetGameRequest { game_id: id.to_owned(), view: v1::GameView::Full.into() };
        match in_time(replicas.any(random).get_game(request)).await {
            Ok(answer) => return answer.into_inner().game.expect("a game"),
            Err(status) => assert!(is_a_break(&status), "{status:?}"),
        }
        assert!(Instant::now() < limit, "no replica answers");
        sleep(Duration::from_millis(20)).await;
    }
}

/// Plays until the end of the time; answers the game's rematch if there is one.
pub(crate) async fn play_until(
    replicas: Arc<Replicas>,
    id: String,
    end: Instant,
    mut random: Xoshiro256PlusPlus,
) -> Option<String> {
    while Instant::now() < end {
        let game = get(&replicas, &id, &mut random).await;
        if game.state() == v1::GameState::Finished && !game.rematch_game_id.is_empty() {
            return Some(game.rematch_game_id);
        }
        let deed = draw(&game, &mut random);
        act(&replicas, &game, deed, &mut random).await;
        // Some think for longer than their clocks allow.
        let think = if random.random_ratio(1, 40) { 800..1_000 } else { 5..60 };
        sleep(Duration::from_millis(random.random_range(think))).await;
    }
    let game = get(&replicas, &id, &mut random).await;
    Some(game.rematch_game_id).filter(|rematch| !rematch.is_empty())
}

/// Plays until takebacks and a draw have been asked for and answered, each way: where everything is
/// left to chance, there may be too little room on the board for it.
pub(crate) async fn bargain(replicas: &Replicas, id: &str, mut random: Xoshiro256PlusPlus) {
    let limit = Instant::now() + PATIENCE;
    for wanted in ["draw declined", "takeback declined", "takeback accepted"] {
        loop {
            let game = get(replicas, id, &mut random).await;
            if kinds(&game).any(|kind| kind == wanted) {
                break;
            }
            assert!(Instant::now() < limit, "{wanted}: not in time, or {game:?} is over");
            let deed = if game.draw_offer.is_some() {
                Deed::AnswerDraw { accept: false }
            } else if game.takeback_request.is_some() {
                Deed::AnswerTakeback { accept: wanted == "takeback accepted" }
            } else if wanted == "draw declined" {
                Deed::OfferDraw
            } else if kinds(&game).last() == Some("played") && moved_last(&game) {
                Deed::RequestTakeback
            } else {
                Deed::Play
            };
            act(replicas, &game, deed, &mut random).await;
        }
    }
}

/// Whether the last action turned nothing up and took nothing.
fn moved_last(game: &v1::Game) -> bool {
    game.last_action.as_ref().is_some_and(|action| action.kind() == v1::RecordKind::Move)
}

/// What to do next, mostly something that may succeed.
fn draw(game: &v1::Game, random: &mut Xoshiro256PlusPlus) -> Deed {
    match game.state() {
        v1::GameState::Waiting => *[Deed::Join, Deed::AddEntropy].choose(random).expect("a deed"),
        v1::GameState::Finished => Deed::Rematch,
        _ if game.takeback_request.is_some() && random.random_ratio(2, 3) => {
            Deed::AnswerTakeback { accept: random.random_ratio(2, 3) }
        }
        _ if game.draw_offer.is_some() && random.random_ratio(2, 3) => {
            Deed::AnswerDraw { accept: random.random_ratio(1, 3) }
        }
        _ => match random.random_range(0..100) {
            0..10 => Deed::OfferDraw,
            10..24 => Deed::RequestTakeback,
            24..28 => Deed::Reissue,
            28 => Deed::Resign,
            _ => Deed::Play,
        },
    }
}

/// Does it through some replica. What comes of it is seen in the log.
async fn act(replicas: &Replicas, game: &v1::Game, deed: Deed, random: &mut Xoshiro256PlusPlus) {
    let mut games = replicas.any(random);
    let game_id = game.game_id.clone();
    let to_move = game.position.as_ref().expect("a position").to_move;
    let seat = random.random_range(1..=2);
    let other = |offer: &v1::Offer| 3 - offer.seat;
    let done = match deed {
        Deed::Join => {
            let request = v1::JoinGameRequest { game_id, ..Default::default() };
            in_time(games.join_game(request)).await.map(drop)
        }
        Deed::AddEntropy => {
            let entropy = random.random::<u64>().to_be_bytes().to_vec();
            let request = v1::AddEntropyRequest { game_id, seat, entropy, ..Default::default() };
            in_time(games.add_entropy(request)).await.map(drop)
        }
        Deed::Play => {
            let is_quiet = |action: &&v1::LegalAction| action.kind() == v1::ActionKind::Move;
            let quiet: Vec<&v1::LegalAction> = game.legal_actions.iter().filter(is_quiet).collect();
            // What turns nothing up can be taken back.
            let action = match quiet.choose(random) {
                Some(action) if random.random_ratio(1, 2) => action,
                _ => game.legal_actions.choose(random).expect("a legal action"),
            };
            let action = action.text.clone();
            let request =
                v1::PlayActionRequest { game_id, seat: to_move, action, ..Default::default() };
            in_time(games.play_action(request)).await.map(drop)
        }
        Deed::OfferDraw => {
            let request = v1::OfferDrawRequest { game_id, seat, ..Default::default() };
            in_time(games.offer_draw(request)).await.map(drop)
        }
        Deed::AnswerDraw { accept } => {
            let seat = game.draw_offer.as_ref().map_or(seat, other);
            let request = v1::AnswerDrawRequest { game_id, seat, accept, ..Default::default() };
            in_time(games.answer_draw(request)).await.map(drop)
        }
        Deed::RequestTakeback => {
            // Who has just moved regrets it.
            let seat = 3 - to_move;
            let request = v1::RequestTakebackRequest { game_id, seat, ..Default::default() };
            in_time(games.request_takeback(request)).await.map(drop)
        }
        Deed::AnswerTakeback { accept } => {
            let seat = game.takeback_request.as_ref().map_or(seat, other);
            let request = v1::AnswerTakebackRequest { game_id, seat, accept, ..Default::default() };
            in_time(games.answer_takeback(request)).await.map(drop)
        }
        Deed::Reissue => {
            let request = v1::ReissueSeatTokenRequest { game_id, seat, ..Default::default() };
            in_time(games.reissue_seat_token(request)).await.map(drop)
        }
        Deed::Resign => {
            let request = v1::ResignGameRequest { game_id, seat, ..Default::default() };
            in_time(games.resign_game(request)).await.map(drop)
        }
        Deed::Rematch => {
            let request = v1::RematchRequest { game_id, seat, ..Default::default() };
            in_time(games.rematch(request)).await.map(drop)
        }
    };
    // Others, or the clock, may have been faster; only a fault of the service's own is one.
    if let Err(status) = done {
        let refused = matches!(
            status.code(),
            tonic::Code::FailedPrecondition | tonic::Code::Aborted | tonic::Code::InvalidArgument
        );
        assert!(refused || is_a_break(&status), "{deed:?}: {status:?}");
    }
}

/// Ends a game, however far it is, and answers it.
pub(crate) async fn end(replicas: &Replicas, id: &str) -> v1::Game {
    let mut random: Xoshiro256PlusPlus = rand::make_rng();
    let limit = Instant::now() + PATIENCE;
    loop {
        let game = get(replicas, id, &mut random).await;
        match game.state() {
            v1::GameState::Finished => return game,
            v1::GameState::Active => act(replicas, &game, Deed::Resign, &mut random).await,
            _ => {
                let request = v1::AbortGameRequest { game_id: id.to_owned(), ..Default::default() };
                let aborted = in_time(replicas.any(&mut random).abort_game(request)).await;
                assert!(aborted.is_ok() || Instant::now() < limit, "not aborted");
            }
        }
        assert!(Instant::now() < limit, "{id} does not end");
    }
}

/// The kinds of what has happened in a game, in order.
fn kinds(game: &v1::Game) -> impl Iterator<Item = &'static str> {
    game.log.iter().map(|entry| match entry.event.as_ref().expect("an event") {
        Event::Created(_) => "created",
        Event::Joined(_) => "joined",
        Event::EntropyAdded(_) => "entropy added",
        Event::Played(_) => "played",
        Event::Resigned(_) => "resigned",
        Event::Aborted(_) => "aborted",
        Event::TimedOut(_) => "timed out",
        Event::DrawOffered(_) => "draw offered",
        Event::DrawAnswered(answer) if answer.accepted => "draw accepted",
        Event::DrawAnswered(_) => "draw declined",
        Event::TakebackRequested(_) => "takeback asked for",
        Event::TakebackAnswered(answer) if answer.accepted => "takeback accepted",
        Event::TakebackAnswered(_) => "takeback declined",
        Event::SeatTokenReissued(_) => "token reissued",
        Event::RematchMade(_) => "rematch made",
        Event::Adjudicated(_) => "adjudicated",
        Event::Agreed(_) => "agreed",
        Event::PlayerErased(_) => "player erased",
    })
}

/// Checks that, over all games, something of every kind has happened.
pub(crate) fn check_coverage<'a>(games: impl Iterator<Item = &'a v1::Game>) {
    let kinds: BTreeSet<_> = games.flat_map(kinds).collect();
    for needed in [
        "created",
        "joined",
        "entropy added",
        "played",
        "resigned",
        "timed out",
        "draw offered",
        "draw accepted",
        "draw declined",
        "takeback asked for",
        "takeback accepted",
        "takeback declined",
        "token reissued",
        "rematch made",
    ] {
        assert!(kinds.contains(needed), "{needed} did not happen, only {kinds:?}");
    }
}
