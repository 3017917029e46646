//! What a replica does with games that only another one can read.

use banqi::api::proto::v1;
use tokio::time::{Instant, timeout};
use tonic::{Code, Status};

use crate::replicas::{plain, replica, sealed};
use crate::support::redis_server::RedisServer;
use crate::support::{PATIENCE, refusal};
use crate::world::{Replica, eventually};

const GAMES: usize = 12;

/// Creates a game of `ann`'s, with a second for each turn, which nobody will play.
async fn on_clock(replica: &Replica) -> String {
    let clock = v1::time_control::Clock::PerTurn(v1::time_control::PerTurn {
        limit: Some(prost_types::Duration { seconds: 1, nanos: 0 }),
    });
    let seat = |player: &str| v1::NewSeat {
        player_id: player.into(),
        claim: v1::SeatClaim::Assigned.into(),
    };
    let request = v1::CreateGameRequest {
        preset: "TAIWANESE".into(),
        seats: vec![seat("ann"), seat("bob")],
        time_control: Some(v1::TimeControl { clock: Some(clock), ..Default::default() }),
        ..Default::default()
    };
    let created = replica.games().create_game(request).await.expect("a game");
    created.into_inner().game.expect("a game").game_id
}

fn is_sealed(status: &Status) {
    let (code, reason, _) = refusal(status);
    assert_eq!((code, reason.as_str()), (Code::Unavailable, "RECORD_SEALED"), "{status:?}");
}

/// The games lie in shards of either replica, and nothing but a sweep ends them.
#[tokio::test]
async fn whoever_has_the_key_enforces_the_deadlines_of_those_who_have_not() {
    let redis = RedisServer::start();
    let knowing = replica(&redis, sealed("a")).await;
    let _without = replica(&redis, plain("b")).await;
    let mut watches = Vec::new();
    for _ in 0..GAMES {
        let id = on_clock(&knowing).await;
        watches.push(knowing.watch(&id, "").await.expect("a watch"));
    }
    let begun = Instant::now();
    for mut watch in watches {
        let ended = async {
            loop {
                let message = watch.message().await.expect("a message").expect("the end is told");
                if let Some(v1::watch_game_response::Message::Event(event)) = message.message
                    && event.game.expect("a game").state() == v1::GameState::Finished
                {
                    break;
                }
            }
        };
        timeout(PATIENCE, ended).await.expect("it ends in time");
    }
    // A second of a turn, and 3 s as docs/operations.md says, five times slack.
    assert!(begun.elapsed().as_secs() < 5 * 4, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn who_lacks_the_key_does_not_tell_lists_without_the_games() {
    let redis = RedisServer::start();
    let knowing = replica(&redis, sealed("a")).await;
    let without = replica(&redis, plain("b")).await;
    let id = on_clock(&knowing).await;
    let list = |player_id: &str| v1::ListGamesRequest {
        player_id: player_id.to_owned(),
        ..Default::default()
    };
    let listed = async || {
        let page = knowing.games().list_games(list("ann")).await.expect("a page").into_inner();
        page.games.len()
    };
    eventually("listed", listed, |count| *count == 1).await;
    for player_id in ["", "ann"] {
        let status = without.games().list_games(list(player_id)).await.expect_err("sealed");
        is_sealed(&status);
    }
    let watch = v1::WatchPlayerRequest { player_id: "ann".into(), ..Default::default() };
    let status = match without.games().watch_player(watch).await {
        Err(status) => status,
        Ok(stream) => stream.into_inner().message().await.expect_err("sealed"),
    };
    is_sealed(&status);
    knowing.get(&id).await;
}
