//! The game beside those who play it.

use std::time::{Duration, Instant};

use banqi::api::proto::v1;
use banqi::client::{Client, Options};

use crate::support::PATIENCE;
use crate::support::replica::Replica;

/// The game as the API has it.
pub(crate) struct Table {
    client: Client,
    pub(crate) game_id: String,
}

impl Table {
    pub(crate) async fn at(replica: &Replica, game_id: &str) -> Self {
        let client = Client::connect(replica.address(), Options::default()).await.expect("there");
        Self { client, game_id: game_id.to_owned() }
    }

    pub(crate) async fn game(&self) -> v1::Game {
        let request = v1::GetGameRequest { game_id: self.game_id.clone(), ..Default::default() };
        self.client.get_game(request).await.expect("answered").game.expect("a game")
    }

    /// Waits until the game is as it should be.
    pub(crate) async fn until(&self, holds: impl Fn(&v1::Game) -> bool) -> v1::Game {
        let end = Instant::now() + PATIENCE;
        loop {
            let game = self.game().await;
            if holds(&game) {
                return game;
            }
            assert!(Instant::now() < end, "it stays at {:?}", game.position.map(|at| at.text));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}
