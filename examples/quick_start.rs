//! A whole game by the client for Rust, watched to its end:
//! `cargo run --example quick_start -- 127.0.0.1:50051`.

use std::env::args;
use std::error::Error;

use banqi::api::proto::v1;
use banqi::client::{Client, Options, Watched};
use rand::seq::IndexedRandom as _;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = args().nth(1).ok_or("tell the address of a service, as in 127.0.0.1:50051")?;
    println!("{:?}", first_game(&address).await?);
    Ok(())
}

/// Two seats play at random until the game is over; answers how it ended.
///
/// # Errors
/// If the service does not answer in time, or refuses a call.
pub async fn first_game(address: &str) -> Result<v1::Result, Box<dyn Error>> {
    let client = Client::connect(address, Options::default()).await?;
    let seat = |player: &str| v1::NewSeat {
        player_id: player.to_owned(),
        claim: v1::SeatClaim::Assigned.into(),
    };
    let seats = vec![seat("ann"), seat("bob")];
    let created = client.create_game(v1::CreateGameRequest { seats, ..Default::default() }).await?;
    let mut game = created.game.ok_or("an answer has the game")?;
    // It tells everything since, however often it must be resumed.
    let mut watch = client.watch(&game.game_id, "");

    while game.result.is_none() {
        let to_move = game.position.as_ref().ok_or("a game has a position")?.to_move;
        let tokens = &created.seat_tokens;
        let token =
            tokens.iter().find(|token| token.seat == to_move).ok_or("a seat has a token")?;
        let action = game.legal_actions.choose(&mut rand::rng()).ok_or("it can act")?;
        // Sent again with one request id until it is answered, it has one effect.
        let played = client.play_action(v1::PlayActionRequest {
            game_id: game.game_id.clone(),
            seat_token: token.token.clone(),
            action: action.text.clone(),
            etag: game.etag.clone(),
            ..Default::default()
        });
        game = played.await?.game.ok_or("an answer has the game")?;
    }

    while let Some(watched) = watch.next().await? {
        let game = match watched {
            Watched::Snapshot(snapshot) => snapshot.game,
            Watched::Event(event) => event.game,
            Watched::Presence(_) | Watched::Lost | Watched::Back => None,
        };
        if let Some(result) = game.and_then(|game| game.result) {
            return Ok(result);
        }
    }
    Err("the watch ended before the game".into())
}
