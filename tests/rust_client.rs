//! The examples of the client for Rust do what they say.

mod support;

#[path = "../examples/bot.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a program by itself")]
mod bot;
#[path = "../examples/quick_start.rs"]
#[allow(dead_code, unreachable_pub, reason = "it is a program by itself")]
mod quick_start;

use banqi::api::proto::v1;
use banqi::client::{Client, Options};
use support::replica::Replica;

#[tokio::test]
async fn the_quick_start_plays_a_whole_game() {
    let service = Replica::start(&[]);
    let result = quick_start::first_game(service.address()).await.expect("played");
    assert_ne!(result.reason(), v1::EndReason::Unspecified);
}

#[tokio::test]
async fn the_bots_play_each_other_to_the_end() {
    let service = Replica::start(&[]);
    let client = Client::connect(service.address(), Options::default()).await.expect("there");
    let created = client.create_game(v1::CreateGameRequest::default()).await.expect("created");
    let game_id = created.game.expect("the game").game_id;
    let (greedy, random) = tokio::join!(
        bot::play(&client, &game_id, bot::greedy),
        bot::play(&client, &game_id, bot::random),
    );
    let result = greedy.expect("played");
    assert_eq!(result, random.expect("played"));
    assert_ne!(result.reason(), v1::EndReason::Unspecified);
}
