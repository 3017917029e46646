//! Calls on games with clocks, over one connection.

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::time_control::{Clock, PerTurn, SuddenDeath};
use prost_types::Timestamp;
use tokio::time::{Instant, sleep};
use tonic::Status;
use tonic::transport::{Channel, Endpoint};

use crate::support::PATIENCE;

/// A client of one replica.
#[derive(Clone)]
pub(crate) struct Player(GameServiceClient<Channel>);

/// A game and the tokens of its two seats.
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) tokens: Vec<String>,
}

impl Player {
    pub(crate) async fn at(address: &str) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("a URI");
        let channel = endpoint.timeout(PATIENCE).connect().await.expect("a connection");
        Self(GameServiceClient::new(channel))
    }

    /// A game whose first clock runs.
    pub(crate) async fn create(&self, clock: Clock) -> (Table, v1::Game) {
        let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..v1::NewSeat::default() };
        let request = v1::CreateGameRequest {
            request_id: uuid::Uuid::new_v4().to_string(),
            seats: vec![seat.clone(), seat],
            time_control: Some(v1::TimeControl { clock: Some(clock), first_turn_limit: None }),
            ..v1::CreateGameRequest::default()
        };
        let created = self.0.clone().create_game(request).await.expect("created").into_inner();
        let game = created.game.expect("a game");
        let tokens = created.seat_tokens.into_iter().map(|token| token.token).collect();
        (Table { id: game.game_id.clone(), tokens }, game)
    }

    /// The game with its log.
    pub(crate) async fn try_get(&self, id: &str) -> Result<v1::Game, Status> {
        let view = v1::GameView::Full.into();
        let request = v1::GetGameRequest { game_id: id.to_owned(), view };
        Ok(self.0.clone().get_game(request).await?.into_inner().game.expect("a game"))
    }

    /// The game with its log.
    pub(crate) async fn get(&self, id: &str) -> v1::Game {
        self.try_get(id).await.expect("the game is there")
    }

    /// The game with its log, once the store answers.
    pub(crate) async fn get_again(&self, id: &str) -> v1::Game {
        let limit = Instant::now() + PATIENCE;
        loop {
            match self.try_get(id).await {
                Ok(game) => return game,
                Err(status) => assert!(Instant::now() < limit, "it stays away: {status:?}"),
            }
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Lets the seat to move play its first legal action.
    pub(crate) async fn play(&self, table: &Table) -> v1::Game {
        let game = self.get(&table.id).await;
        let seat = game.position.expect("a position").to_move as usize;
        let request = v1::PlayActionRequest {
            game_id: table.id.clone(),
            request_id: uuid::Uuid::new_v4().to_string(),
            seat_token: table.tokens[seat - 1].clone(),
            action: game.legal_actions[0].text.clone(),
            ..v1::PlayActionRequest::default()
        };
        let played = self.0.clone().play_action(request).await.expect("a legal action");
        played.into_inner().game.expect("a game")
    }
}

/// So much for each turn.
pub(crate) fn per_turn(limit: Duration) -> Clock {
    let limit = limit.try_into().expect("short");
    Clock::PerTurn(PerTurn { limit: Some(limit) })
}

/// So much for the whole game.
pub(crate) fn sudden_death(main_time: Duration) -> Clock {
    let main_time = main_time.try_into().expect("short");
    Clock::SuddenDeath(SuddenDeath { main_time: Some(main_time) })
}

/// A time in milliseconds.
pub(crate) fn millis(time: Option<Timestamp>) -> i64 {
    let time = time.expect("a time");
    time.seconds * 1_000 + i64::from(time.nanos) / 1_000_000
}

/// The deadline of the seat to move.
pub(crate) fn deadline(game: &v1::Game) -> i64 {
    millis(game.deadline)
}

/// The time of the game's shard.
pub(crate) fn server_time(game: &v1::Game) -> i64 {
    millis(game.server_time)
}

/// Asserts that a game was ended by its clock, once; answers when.
pub(crate) fn timed_out(game: &v1::Game) -> i64 {
    let result = game.result.as_ref().unwrap_or_else(|| panic!("{} goes on", game.game_id));
    assert_eq!(result.reason(), v1::EndReason::Timeout, "{}", game.game_id);
    assert_eq!(result.winners.len(), 1);
    let timeouts = game
        .log
        .iter()
        .filter(|entry| matches!(entry.event, Some(v1::log_entry::Event::TimedOut(_))));
    assert_eq!(timeouts.count(), 1, "{}: {:?}", game.game_id, game.log);
    assert_eq!(game.log.len() as u64, game.revision);
    millis(game.end_time)
}
