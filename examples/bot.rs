//! A bot that joins a game, or creates one for somebody else to join:
//! `cargo run --example bot -- 127.0.0.1:50051 greedy [GAME]`, or `random`.

use std::env::args;
use std::error::Error;

use banqi::api::proto::v1;
use banqi::client::{CallError, Client, Options, Watched};
use rand::seq::IndexedRandom as _;

/// How a bot chooses among the legal actions.
pub type Choose = fn(&v1::Game) -> Option<&v1::LegalAction>;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [address, bot, game_id @ ..] = &arguments[..] else {
        return Err("tell an address, `random` or `greedy`, and which game to join, if any".into());
    };
    let choose = match bot.as_str() {
        "random" => random,
        "greedy" => greedy as Choose,
        other => return Err(format!("`{other}` is no bot; there are `random` and `greedy`").into()),
    };
    let client = Client::connect(address, Options::default()).await?;
    let game_id = match game_id.first() {
        Some(game_id) => game_id.clone(),
        None => create(&client).await?,
    };
    println!("{:?}", play(&client, &game_id, choose).await?);
    Ok(())
}

/// Anything that is legal.
pub fn random(game: &v1::Game) -> Option<&v1::LegalAction> {
    game.legal_actions.choose(&mut rand::rng())
}

/// Any capture, or else anything.
pub fn greedy(game: &v1::Game) -> Option<&v1::LegalAction> {
    let captures: Vec<_> = game
        .legal_actions
        .iter()
        .filter(|action| action.kind() == v1::ActionKind::Capture)
        .collect();
    captures.choose(&mut rand::rng()).copied().or_else(|| random(game))
}

/// Creates a game with two open seats, and prints its id.
async fn create(client: &Client) -> Result<String, Box<dyn Error>> {
    let created = client.create_game(v1::CreateGameRequest::default()).await?;
    let game_id = created.game.ok_or("an answer has the game")?.game_id;
    println!("{game_id}");
    Ok(game_id)
}

/// Takes a seat and plays to the end; answers how it ended.
///
/// # Errors
/// If the service does not answer in time, or refuses a call.
pub async fn play(
    client: &Client,
    game_id: &str,
    choose: Choose,
) -> Result<v1::Result, Box<dyn Error>> {
    let game_id = game_id.to_owned();
    let joined = client
        .join_game(v1::JoinGameRequest { game_id: game_id.clone(), ..Default::default() })
        .await?;
    let mut watch = client.watch(&game_id, &joined.seat_token);
    while let Some(watched) = watch.next().await? {
        let game = match watched {
            Watched::Snapshot(snapshot) => snapshot.game,
            Watched::Event(event) => event.game,
            Watched::Presence(_) | Watched::Lost | Watched::Back => None,
        };
        let Some(game) = game else { continue };
        if let Some(result) = game.result {
            return Ok(result);
        }
        let to_move = game.position.as_ref().map(|position| position.to_move);
        if game.state() != v1::GameState::Active || to_move != Some(joined.seat) {
            continue;
        }
        let action = choose(&game).ok_or("a seat to move can act")?;
        let played = client.play_action(v1::PlayActionRequest {
            game_id: game_id.clone(),
            seat_token: joined.seat_token.clone(),
            action: action.text.clone(),
            etag: game.etag.clone(),
            ..Default::default()
        });
        match played.await {
            Ok(_) => {}
            // Something else happened meanwhile, which the watch is about to tell.
            Err(error) if happened_meanwhile(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err("the watch ended before the game".into())
}

fn happened_meanwhile(error: &CallError) -> bool {
    matches!(error.reason.as_str(), "ETAG_MISMATCH" | "GAME_OVER")
}
