//! Replicas that write and read records in different ways, on one Redis.

use std::sync::Arc;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use banqi::game::GameId;
use banqi::store::codec::{RecordCodec, RecordFormat, SealKeys};
use banqi::store::{Change, Commit, Options, Outcome, Record, Store, Write, open};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tonic::{Status, Streaming};

use crate::support::redis_server::RedisServer;
use crate::table::Table;
use crate::world::{Replica, options, trusting};

/// The keys of these letters: 32 times the letter, the first of which seals.
pub(crate) fn keys(letters: &str) -> SealKeys {
    let lines: Vec<String> = letters.bytes().map(|byte| STANDARD.encode([byte; 32])).collect();
    SealKeys::read(&lines.join("\n")).expect("keys")
}

/// Writes format 1, and opens what these keys have sealed.
pub(crate) fn plain(letters: &str) -> RecordCodec {
    RecordCodec::new(RecordFormat::One, Some(keys(letters))).expect("needs no keys")
}

/// Writes format 2 with the first of these keys.
pub(crate) fn sealed(letters: &str) -> RecordCodec {
    RecordCodec::new(RecordFormat::Two, Some(keys(letters))).expect("there are keys")
}

/// The store of a server, as a replica with these ways opens it.
pub(crate) async fn store(redis: &RedisServer, records: RecordCodec) -> Arc<dyn Store> {
    open(&redis.url(), Options { records, ..options() }).await.expect("a store")
}

/// A replica on a server, with connections of its own.
pub(crate) async fn replica(redis: &RedisServer, records: RecordCodec) -> Replica {
    Replica::on(store(redis, records).await, trusting()).await
}

/// What is stored of a game.
pub(crate) async fn standing(store: &dyn Store, table: &Table) -> Record {
    let id: GameId = table.id.parse().expect("an id");
    store.load(&id).await.expect("an answer").expect("a record")
}

/// Stores something else under a game's id, due at some time.
pub(crate) async fn put(store: &dyn Store, id: &str, record: Record, due: Option<u64>) {
    let game: GameId = id.parse().expect("an id");
    let before = store.load(&game).await.expect("an answer").map(|record| record.version);
    let deadline = due.map(banqi::game::Millis);
    let change = Change::Put { record, deadline, expiry: None };
    let present = store.now(store.shards().shard_of(&game)).await.expect("the time");
    let write = Write { game, expected: before, change };
    let outcome = store.commit(&Commit::new(store.shards(), present, write)).await;
    assert!(matches!(outcome, Ok(Outcome::Applied { .. })), "{outcome:?}");
}

/// The revision that a stream tells next.
pub(crate) async fn next_revision(
    stream: &mut Streaming<v1::WatchGameResponse>,
) -> Result<u64, Status> {
    loop {
        match stream.message().await?.expect("the stream goes on").message {
            Some(Message::Snapshot(snapshot)) => {
                assert!(!snapshot.history_lost);
                return Ok(snapshot.game.expect("a game").revision);
            }
            Some(Message::Event(event)) => return Ok(event.entry.expect("an entry").revision),
            Some(Message::KeepAlive(_) | Message::Presence(_)) | None => {}
        }
    }
}

/// Every call that would read or change a game is refused for this reason.
pub(crate) async fn refuses_all(replica: &Replica, table: &Table, expected: &str) {
    let game_id = || table.id.clone();
    let mut statuses = vec![
        ("get", replica.try_get(&table.id).await.err()),
        ("watch", replica.watch(&table.id, "").await.err()),
    ];
    for seat in [1, 2] {
        let played = table.send(replica, table.act(seat, "h4")).await;
        statuses.push(("play", played.err()));
        let resigned = replica.games().resign_game(table.resignation(seat)).await;
        statuses.push(("resign", resigned.err()));
    }
    let create = v1::CreateGameRequest {
        game_id: game_id(),
        seats: crate::table::assigned("TAIWANESE"),
        ..Default::default()
    };
    statuses.push(("create", replica.games().create_game(create).await.err()));
    let join = v1::JoinGameRequest { game_id: game_id(), ..Default::default() };
    statuses.push(("join", replica.games().join_game(join).await.err()));
    let delete = v1::DeleteGameRequest { game_id: game_id(), ..Default::default() };
    statuses.push(("delete", replica.platform().delete_game(delete).await.err()));
    for (call, status) in statuses {
        let status = status.unwrap_or_else(|| panic!("{call} is not refused"));
        let (_, reason, details) = crate::support::refusal(&status);
        assert_eq!(reason, expected, "{call}: {status:?}");
        assert_eq!(details.error_info().expect("an ErrorInfo").metadata["game_id"], table.id);
    }
}
