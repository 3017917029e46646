//! The load: tables at which two virtual players play one game after the other, each sending the
//! next call once the last one is answered.

use std::time::{Duration, Instant};

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use prost::Message as _;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use tonic::transport::{Channel, Endpoint};

/// A game is begun when no more than this many wait to be played at a table.
const GAMES_READY: usize = 3;

/// How a table's calls are spread over the replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Balance {
    /// Each call goes to the next replica.
    RoundRobin,
    /// All calls of a table go to the same replica.
    Affinity,
}

/// What is called in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    PlayAction,
    GetGame,
}

/// What one window came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// How long each call took.
    pub(crate) latencies: Vec<Duration>,
    /// How many bytes the answers had.
    pub(crate) answered: usize,
}

/// One table.
pub(crate) struct Table {
    /// A connection to each replica, the next one to be used first.
    replicas: Vec<GameServiceClient<Channel>>,
    balance: Balance,
    random: StdRng,
    playing: Option<Playing>,
    ready: Vec<Playing>,
}

/// A game, as the players at its table know it.
struct Playing {
    game_id: String,
    /// The seats' tokens, in seat order.
    tokens: Vec<String>,
    to_move: usize,
    actions: Vec<v1::LegalAction>,
}

impl Table {
    /// As many tables for each replica as `connections` times `in_flight`.
    pub(crate) async fn open(
        replicas: &[String],
        balance: Balance,
        connections: usize,
        in_flight: usize,
    ) -> Vec<Self> {
        let mut tables = Vec::new();
        for connection in 0..connections {
            let mut clients = Vec::new();
            for replica in replicas {
                let endpoint = Endpoint::from_shared(format!("http://{replica}")).expect("a URI");
                let channel = endpoint.tcp_nodelay(true).connect().await.expect("a connection");
                clients.push(GameServiceClient::new(channel));
            }
            for place in 0..in_flight {
                let number = connection * in_flight + place;
                let mut replicas = clients.clone();
                let count = replicas.len();
                replicas.rotate_left(number % count);
                let random = StdRng::seed_from_u64(number as u64);
                tables.push(Self { replicas, balance, random, playing: None, ready: Vec::new() });
            }
        }
        tables
    }

    /// Creates games to play, so that none need be created while time is taken.
    pub(crate) async fn prepare(&mut self) {
        while self.ready.len() < GAMES_READY {
            let game = self.create().await;
            self.ready.push(game);
        }
        self.playing = self.playing.take().or_else(|| self.ready.pop());
    }

    /// Calls until the end of the window.
    pub(crate) async fn call(&mut self, call: Call, end: Instant) -> Tally {
        let mut tally = Tally::default();
        loop {
            let begun = Instant::now();
            if begun >= end {
                return tally;
            }
            tally.answered += match call {
                Call::PlayAction => self.play().await,
                Call::GetGame => self.read().await,
            };
            tally.latencies.push(begun.elapsed());
        }
    }

    fn client(&mut self) -> &mut GameServiceClient<Channel> {
        if self.balance == Balance::RoundRobin {
            self.replicas.rotate_left(1);
        }
        &mut self.replicas[0]
    }

    async fn playing(&mut self) -> Playing {
        match self.playing.take().or_else(|| self.ready.pop()) {
            Some(playing) => playing,
            None => self.create().await,
        }
    }

    async fn create(&mut self) -> Playing {
        let game_id = self.uuid();
        let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
        let request = v1::CreateGameRequest {
            game_id: game_id.clone(),
            seats: vec![seat.clone(), seat],
            ..Default::default()
        };
        let created = self.client().create_game(request).await.expect("it is created");
        let created = created.into_inner();
        let mut playing = Playing {
            game_id,
            tokens: created.seat_tokens.into_iter().map(|token| token.token).collect(),
            to_move: 0,
            actions: Vec::new(),
        };
        playing.take(created.game);
        playing
    }

    async fn play(&mut self) -> usize {
        let mut playing = self.playing().await;
        let action = self.random.random_range(0..playing.actions.len());
        let request = v1::PlayActionRequest {
            game_id: playing.game_id.clone(),
            seat_token: playing.tokens[playing.to_move].clone(),
            action: playing.actions.swap_remove(action).text,
            request_id: self.uuid(),
            ..Default::default()
        };
        let played = self.client().play_action(request).await.expect("it is legal").into_inner();
        let length = played.encoded_len();
        playing.take(played.game);
        self.playing = (!playing.actions.is_empty()).then_some(playing);
        length
    }

    async fn read(&mut self) -> usize {
        let playing = self.playing().await;
        let request = v1::GetGameRequest { game_id: playing.game_id.clone(), ..Default::default() };
        self.playing = Some(playing);
        let read = self.client().get_game(request).await.expect("it is there").into_inner();
        read.encoded_len()
    }

    fn uuid(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.random.random()).into_uuid().to_string()
    }
}

impl Playing {
    /// Learns how the game stands.
    fn take(&mut self, game: Option<v1::Game>) {
        let game = game.expect("the game is answered");
        let to_move = game.position.map_or(0, |position| position.to_move);
        self.to_move = (to_move as usize).saturating_sub(1);
        self.actions = game.legal_actions;
    }
}
