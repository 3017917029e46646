//! Games with every seat assigned, and playing them.

use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::rules::{BoardSize, full_set};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use tonic::Status;

use crate::world::Replica;

/// A game and the tokens of its seats.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) id: String,
    pub(crate) tokens: Vec<String>,
}

impl Table {
    /// A new game with a deal of the service's own.
    pub(crate) async fn create(replica: &Replica, preset: &str) -> Self {
        let request = v1::CreateGameRequest {
            preset: preset.to_owned(),
            seats: assigned(preset),
            ..Default::default()
        };
        let answer = replica.games().create_game(request).await.expect("created").into_inner();
        Self::of(answer.game, answer.seat_tokens)
    }

    /// A new game with a given deal.
    pub(crate) async fn import(
        replica: &Replica,
        preset: &str,
        rules: Option<v1::RuleSet>,
        deal: &str,
    ) -> Self {
        let request = v1::ImportGameRequest {
            preset: preset.to_owned(),
            rules,
            seats: assigned(preset),
            start: Some(Start::Deal(deal.to_owned())),
            ..Default::default()
        };
        let answer = replica.platform().import_game(request).await.expect("imported").into_inner();
        Self::of(answer.game, answer.seat_tokens)
    }

    pub(crate) fn of(game: Option<v1::Game>, tokens: Vec<v1::SeatToken>) -> Self {
        let id = game.expect("a game").game_id;
        Self { id, tokens: tokens.into_iter().map(|token| token.token).collect() }
    }

    /// The token of a seat, counted from 1.
    pub(crate) fn token(&self, seat: u32) -> String {
        self.tokens[seat as usize - 1].clone()
    }

    /// An action of a seat.
    pub(crate) fn act(&self, seat: u32, action: &str) -> v1::PlayActionRequest {
        v1::PlayActionRequest {
            game_id: self.id.clone(),
            seat_token: self.token(seat),
            action: action.to_owned(),
            ..Default::default()
        }
    }

    pub(crate) fn resignation(&self, seat: u32) -> v1::ResignGameRequest {
        v1::ResignGameRequest {
            game_id: self.id.clone(),
            seat_token: self.token(seat),
            ..Default::default()
        }
    }

    /// Lets the seat to move act; answers the game after it.
    pub(crate) async fn play(&self, replica: &Replica, action: &str) -> v1::Game {
        let seat = to_move(&replica.get(&self.id).await);
        self.send(replica, self.act(seat, action)).await.expect("a legal action")
    }

    /// Plays one action that turns nothing up and takes nothing.
    pub(crate) async fn play_quietly(&self, replica: &Replica) -> v1::Game {
        let game = replica.get(&self.id).await;
        let mut actions = game.legal_actions.iter();
        let quiet = actions.find(|action| action.kind() == v1::ActionKind::Move);
        self.play(replica, &quiet.expect("a quiet action").text).await
    }

    /// Plays so many actions, the first legal one each time; answers the game after them.
    pub(crate) async fn play_on(&self, replica: &Replica, count: usize) -> v1::Game {
        let mut game = replica.get(&self.id).await;
        for _ in 0..count {
            let action = game.legal_actions[0].text.clone();
            let request = self.act(to_move(&game), &action);
            game = self.send(replica, request).await.expect("a legal action");
        }
        game
    }

    /// Plays random legal actions until the end; answers the game then.
    pub(crate) async fn play_out(
        &self,
        replica: &Replica,
        random: &mut Xoshiro256PlusPlus,
    ) -> v1::Game {
        let mut game = replica.get(&self.id).await;
        while game.result.is_none() {
            let action = game.legal_actions.choose(random).expect("a legal action").text.clone();
            let request = self.act(to_move(&game), &action);
            game = self.send(replica, request).await.expect("a legal action");
        }
        game
    }

    pub(crate) async fn send(
        &self,
        replica: &Replica,
        request: v1::PlayActionRequest,
    ) -> Result<v1::Game, Status> {
        let answer = replica.games().play_action(request).await?.into_inner();
        Ok(answer.game.expect("a game"))
    }

    pub(crate) async fn resign(&self, replica: &Replica, seat: u32) -> v1::Game {
        let answer = replica.games().resign_game(self.resignation(seat)).await.expect("resigned");
        answer.into_inner().game.expect("a game")
    }
}

/// The seat to move.
pub(crate) fn to_move(game: &v1::Game) -> u32 {
    game.position.as_ref().expect("a position").to_move
}

/// How many seats a preset has.
fn seats(preset: &str) -> usize {
    if preset == "DOUBLE_FOUR" { 4 } else { 2 }
}

/// Seats of players without ids.
pub(crate) fn assigned(preset: &str) -> Vec<v1::NewSeat> {
    vec![seat(v1::SeatClaim::Assigned, ""); seats(preset)]
}

pub(crate) fn seat(claim: v1::SeatClaim, player: &str) -> v1::NewSeat {
    v1::NewSeat { player_id: player.to_owned(), claim: claim.into() }
}

/// A full set in a random order, as imports want it.
pub(crate) fn shuffled(board: BoardSize, random: &mut Xoshiro256PlusPlus) -> String {
    let mut pieces = full_set(board);
    pieces.shuffle(random);
    let pieces: Vec<String> = pieces.iter().map(ToString::to_string).collect();
    pieces.join(" ")
}
