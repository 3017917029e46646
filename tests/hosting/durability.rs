//! What a player is told of how safe his action is.

use std::num::NonZeroU32;

use banqi::api::proto::v1;
use banqi::store::{Options, open};

use crate::support::redis_server::RedisServer;
use crate::table::Table;
use crate::world::{Replica, eventually, options, request_id, trusting};

#[tokio::test]
async fn an_action_is_told_how_many_replicas_of_the_store_have_it() {
    let primary = RedisServer::start();
    let port = primary.port().to_string();
    let follower =
        RedisServer::start_with(&["--save", "", "--replicaof", "127.0.0.1", port.as_str()]);
    let options = Options { durability: NonZeroU32::new(1), ..options() };
    let store = open(&primary.url(), options).await.expect("a store");
    let replica = Replica::on(store, trusting()).await;
    let connection = primary.connection().await;
    let connected = || {
        let mut connection = connection.clone();
        async move {
            let info = redis::cmd("INFO").arg("replication").query_async(&mut connection).await;
            info.expect("the server tells")
        }
    };
    let online = |info: &String| info.contains("state=online");
    eventually("the replica follows", connected, online).await;

    let table = Table::create(&replica, "TAIWANESE").await;
    let play = v1::PlayActionRequest { request_id: request_id(), ..table.act(1, "a1") };
    let mut games = replica.games();
    let played = games.play_action(play.clone()).await.expect("legal").into_inner();
    assert_eq!(played.durability, Some(v1::Durability { wanted: 1, acknowledged: 1 }));
    // Whoever repeats it writes nothing, so nobody has waited.
    let again = games.play_action(play).await.expect("repeated").into_inner();
    assert_eq!(again.durability, None);

    // Too few is success, and told.
    drop(follower);
    let played = games.play_action(table.act(2, "b1")).await.expect("legal").into_inner();
    assert_eq!(played.durability, Some(v1::Durability { wanted: 1, acknowledged: 0 }));
    assert_eq!(replica.get(&table.id).await.revision, 3);
}
