//! What somebody finds who reads the store: nothing of a sealed record, and the same search finds it
//! all where records are not sealed.

use banqi::api::proto::v1;
use banqi::game::{DealSource, GameId, StoredGame};
use banqi::rules::BoardSize;
use banqi::store::codec::RecordCodec;
use banqi::store::{Options, open};
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use redis::Value;
use rstest::rstest;

use crate::replicas::{plain, replica, sealed, standing, store};
use crate::support::redis_server::RedisServer;
use crate::table::{Table, seat, shuffled};
use crate::world::{Replica, eventually, options, request_id, trusting};

/// What no reader of the store should find.
fn secrets(game: &StoredGame) -> Vec<(&'static str, Vec<u8>)> {
    let mut secrets =
        vec![("key", game.facts.key.expose().to_vec()), ("log", game.log.bytes().to_vec())];
    match &game.facts.deal {
        DealSource::Derived(seed) => secrets.push(("server seed", seed.expose().to_vec())),
        DealSource::Given(given) => {
            let pieces = given.hidden.pieces().map(|piece| piece.index() as u8).collect();
            secrets.push(("face-down pieces", pieces));
        }
    }
    for label in game.facts.labels.values() {
        secrets.push(("label", label.clone().into_bytes()));
    }
    secrets
}

/// A game dealt by the service, with a label and players, and one with a given deal; both played on.
async fn play(replica: &Replica) -> [Table; 2] {
    let create = v1::CreateGameRequest {
        seats: ["anna", "bert"].map(|id| seat(v1::SeatClaim::Assigned, id)).to_vec(),
        labels: [("event".to_owned(), "a label that nobody else has".to_owned())].into(),
        request_id: request_id(),
        ..Default::default()
    };
    let created = replica.games().create_game(create).await.expect("created").into_inner();
    let dealt = Table::of(created.game, created.seat_tokens);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let deal = shuffled(BoardSize::Single, &mut random);
    let given = Table::import(replica, "TAIWANESE", None, &deal).await;
    for table in [&dealt, &given] {
        table.play_on(replica, 12).await;
    }
    [dealt, given]
}

/// Everything that the server has: names of keys, and what is in them.
async fn everything(redis: &RedisServer) -> Vec<Vec<u8>> {
    let mut connection = redis.connection().await;
    let keys: Vec<Vec<u8>> =
        redis::cmd("KEYS").arg("*").query_async(&mut connection).await.expect("keys");
    let mut found = Vec::new();
    let mut kinds = std::collections::BTreeSet::new();
    for key in keys {
        let kind: String =
            redis::cmd("TYPE").arg(&key).query_async(&mut connection).await.expect("a type");
        let (command, more): (&str, &[&str]) = match kind.as_str() {
            "string" => ("GET", &[]),
            "hash" => ("HGETALL", &[]),
            "list" => ("LRANGE", &["0", "-1"]),
            "set" => ("SMEMBERS", &[]),
            "zset" => ("ZRANGE", &["0", "-1", "WITHSCORES"]),
            "stream" => ("XRANGE", &["-", "+"]),
            // It was removed meanwhile.
            "none" => continue,
            other => panic!("a key of type {other}, which is not looked into"),
        };
        let read = redis::cmd(command).arg(&key).arg(more).query_async(&mut connection).await;
        collect(&read.expect("a value"), &mut found);
        found.push(key);
        kinds.insert(kind);
    }
    assert!(["string", "zset", "stream"].iter().all(|kind| kinds.contains(*kind)), "{kinds:?}");
    found
}

/// The bytes in an answer.
fn collect(value: &Value, found: &mut Vec<Vec<u8>>) {
    match value {
        Value::BulkString(bytes) => found.push(bytes.clone()),
        Value::SimpleString(text) => found.push(text.clone().into_bytes()),
        Value::Array(values) | Value::Set(values) => {
            values.iter().for_each(|value| collect(value, found));
        }
        Value::Map(pairs) => {
            pairs.iter().for_each(|(key, value)| {
                collect(key, found);
                collect(value, found);
            });
        }
        Value::Nil | Value::Int(_) | Value::Double(_) | Value::Okay | Value::Boolean(_) => {}
        other => panic!("an answer that is not looked into: {other:?}"),
    }
}

fn holds(found: &[Vec<u8>], wanted: &[u8]) -> bool {
    assert!(wanted.len() >= 12, "too short to be looked for");
    found.iter().any(|bytes| bytes.windows(wanted.len()).any(|window| window == wanted))
}

/// The names of those secrets that are found.
fn found<'a>(secrets: &[(&'a str, Vec<u8>)], everything: &[Vec<u8>]) -> Vec<&'a str> {
    let found = secrets.iter().filter(|(_, secret)| holds(everything, secret));
    found.map(|(name, _)| *name).collect()
}

/// The names of all that [`play`] leaves.
const ALL: [&str; 7] = ["key", "log", "server seed", "label", "key", "log", "face-down pieces"];

/// What is found in a store with such records.
fn expected(records: &RecordCodec) -> &'static [&'static str] {
    if records.format().is_sealed() { &[] } else { &ALL }
}

#[rstest]
#[tokio::test]
async fn nothing_of_a_sealed_record_is_found_in_redis(
    #[values(plain("A"), sealed("A"))] records: RecordCodec,
) {
    let redis = RedisServer::start();
    let replica = replica(&redis, records.clone()).await;
    let behind = store(&redis, plain("A")).await;
    let tables = play(&replica).await;
    let at_once = everything(&redis).await;
    let mut all = Vec::new();
    for table in &tables {
        let record = standing(&*behind, table).await;
        let id: GameId = table.id.parse().expect("an id");
        all.extend(secrets(&records.read(&id, &record).expect("a game")));
    }
    // At once, while the outboxes hold what the lists of players have not got yet, and later.
    let mut everything = at_once;
    let listed = |found: &Vec<Vec<u8>>| holds(found, b"banqi:player:{anna}:games");
    everything.extend(eventually("listed", async || self::everything(&redis).await, listed).await);
    let found = found(&all, &everything);
    // Where nothing is sealed, the same search finds it.
    assert_eq!(found, expected(&records));
    // What stays readable, as docs/operations.md says.
    for id in tables.map(|table| table.id) {
        assert!(holds(&everything, id.as_bytes()));
    }
}

#[rstest]
#[tokio::test]
async fn nothing_of_a_sealed_record_is_found_in_a_file(
    #[values(plain("A"), sealed("A"))] records: RecordCodec,
) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("games");
    let address = format!("file:{}", path.display());
    let opened = Options { records: records.clone(), ..options() };
    let store = open(&address, opened).await.expect("a store");
    let replica = Replica::on(std::sync::Arc::clone(&store), trusting()).await;
    let mut all = Vec::new();
    for table in play(&replica).await {
        let record = standing(&*store, &table).await;
        let id: GameId = table.id.parse().expect("an id");
        all.extend(secrets(&records.read(&id, &record).expect("a game")));
    }
    let file = std::fs::read(&path).expect("the file");
    let found = found(&all, &[file]);
    assert_eq!(found, expected(&records));
}
