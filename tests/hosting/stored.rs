//! Records that are broken or of a newer release: told plainly, and never written over.

use banqi::api::error::Reason;
use banqi::api::proto::v1;
use banqi::game::{EngineVersion, Facts, GameId, Millis, Revision, StoredGame, Version};
use banqi::rules::{EndReason, Outcome};
use banqi::store::codec::{self, RecordCodec, RecordFormat, SealKeys};
use banqi::store::{Change, Commit, Outcome as Committed, Record, Write as Stored};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use rstest::rstest;

use crate::support::refusal;
use crate::table::Table;
use crate::world::{Backing, World, eventually, reason, request_id};
use crate::writes::Write;

/// What may be wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoilt {
    /// Its message is none.
    Garbage,
    /// Its message was cut off.
    Cut,
    /// Its message has a field that this release does not know.
    UnknownField,
    /// Its header tells of another log.
    Header,
    /// Its result is not what the log comes to.
    Contradiction,
    /// It is sealed with a key that the service does not have.
    Sealed,
    /// It has the format of a later release.
    NewerFormat,
    /// A later engine played it.
    NewerEngine,
}

impl Spoilt {
    pub(crate) const ALL: [(Self, Reason); 8] = [
        (Self::Garbage, Reason::RecordBroken),
        (Self::Cut, Reason::RecordBroken),
        (Self::UnknownField, Reason::RecordBroken),
        (Self::Header, Reason::RecordBroken),
        (Self::Contradiction, Reason::RecordBroken),
        (Self::Sealed, Reason::RecordSealed),
        (Self::NewerFormat, Reason::RecordNewer),
        (Self::NewerEngine, Reason::RecordNewer),
    ];

    fn of(self, id: &GameId, record: &Record) -> Record {
        let stored = || codec::read(id, record).expect("a record as the service wrote it");
        let with_payload =
            |payload: Vec<u8>| Record { payload: Bytes::from(payload), ..record.clone() };
        match self {
            Self::Garbage => with_payload(vec![0xff; 40]),
            Self::Cut => with_payload(record.payload[..record.payload.len() - 3].to_vec()),
            // Field 15, a number.
            Self::UnknownField => with_payload([&record.payload[..], &[0x78, 1]].concat()),
            Self::Header => {
                let Version { revision: Revision(revision), history } = record.version;
                let version = Version { revision: Revision(revision + 1), history };
                Record { version, ..record.clone() }
            }
            Self::Contradiction => {
                let places = [1, 2].into_iter().collect();
                let outcome = Some(Outcome { reason: EndReason::AllCaptured, places });
                codec::write(&StoredGame { outcome, ..stored() })
            }
            Self::Sealed => sealing().write(&stored()).expect("sealed"),
            Self::NewerFormat => {
                Record { format: RecordFormat::NEWEST.number() + 1, ..record.clone() }
            }
            Self::NewerEngine => {
                let stored = stored();
                let facts = Facts { engine: EngineVersion(2), ..(*stored.facts).clone() };
                codec::write(&StoredGame { facts: facts.into(), ..stored })
            }
        }
    }
}

/// Seals with a key that no replica has.
fn sealing() -> RecordCodec {
    let keys = SealKeys::read(&STANDARD.encode([b'S'; 32])).expect("a key");
    RecordCodec::new(RecordFormat::Two, Some(keys)).expect("there are keys")
}

/// Spoils the record of a game; answers what stands then. It is due for the sweeper at once.
pub(crate) async fn spoil(world: &World, id: &str, spoilt: Spoilt) -> Record {
    let id: GameId = id.parse().expect("an id");
    let record = world.store.load(&id).await.expect("an answer").expect("a record");
    let spoilt = spoilt.of(&id, &record);
    let change = Change::Put { record: spoilt.clone(), deadline: Some(Millis(1)), expiry: None };
    let write = Stored { game: id.clone(), expected: Some(record.version), change };
    let present = world.store.now(world.store.shards().shard_of(&id)).await.expect("the time");
    let commit = Commit::new(world.store.shards(), present, write);
    let outcome = world.store.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Committed::Applied { .. }), "{outcome:?}");
    spoilt
}

#[rstest]
#[tokio::test]
async fn a_spoilt_record_is_told_and_left_alone(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values(true, false)] warm: bool,
) {
    let world = World::start(backing, 2).await;
    let [one, replica] = &world.replicas[..] else { panic!("two replicas") };
    for (spoilt, expected) in Spoilt::ALL {
        let table = Table::create(one, "TAIWANESE").await;
        if warm {
            // It has an earlier state ready, on which all of these calls could be decided.
            replica.get(&table.id).await;
        }
        table.play_on(one, 2).await;
        let standing = spoil(&world, &table.id, spoilt).await;
        let id = &table.id;
        let writes = [
            Write::Play(table.act(1, "h4")),
            Write::Resign(table.resignation(2)),
            Write::Join(v1::JoinGameRequest { game_id: id.clone(), ..Default::default() }),
            Write::AddEntropy(v1::AddEntropyRequest {
                game_id: id.clone(),
                seat: 1,
                entropy: vec![1],
                ..Default::default()
            }),
            Write::Create(v1::CreateGameRequest {
                game_id: id.clone(),
                request_id: request_id(),
                ..Default::default()
            }),
        ];
        for write in writes {
            let status = write.send(replica).await.expect_err("nothing can be done");
            let (code, told, details) = refusal(&status);
            assert_eq!((code, told.as_str()), (expected.code(), expected.name()), "{spoilt:?}");
            assert_eq!(&details.error_info().expect("an ErrorInfo").metadata["game_id"], id);
        }
        let status = replica.watch(id, "").await.expect_err("nothing to watch");
        assert_eq!(reason(&status), expected.name());
        let game = id.parse().expect("an id");
        let stands = world.store.load(&game).await.expect("an answer");
        assert_eq!(stands, Some(standing), "{spoilt:?}");
    }
}

#[tokio::test]
async fn what_is_no_record_at_all_is_told_and_left_alone() {
    let world = World::start(Backing::Redis, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let redis = world.redis.as_ref().expect("on Redis");
    let mut connection = redis.connection().await;
    let game: GameId = table.id.parse().expect("an id");
    let shard = world.store.shards().shard_of(&game);
    let key = format!("banqi:{{{shard}}}:game:{game}");
    let mut set = redis::cmd("SET");
    set.arg(&key).arg("banqi");
    set.query_async::<()>(&mut connection).await.expect("set");
    let status = world.any().try_get(&table.id).await.expect_err("no record");
    assert_eq!(reason(&status), "RECORD_BROKEN");
    let play = Write::Play(table.act(1, "a1")).send(world.any()).await.expect_err("no record");
    assert_eq!(reason(&play), "RECORD_BROKEN");
    let request = v1::CreateGameRequest { game_id: table.id.clone(), ..Default::default() };
    let create = Write::Create(request).send(world.any()).await.expect_err("no record");
    assert_eq!(reason(&create), "RECORD_BROKEN");
    let mut get = redis::cmd("GET");
    get.arg(&key);
    let stands: String = get.query_async(&mut connection).await.expect("a value");
    assert_eq!(stands, "banqi");
}

#[tokio::test]
async fn spoilt_records_do_not_keep_the_sweeper_from_others() {
    let config = crate::expiry::short_lived();
    let world = World::with(Backing::Memory, 1, config).await;
    for (spoilt, _) in Spoilt::ALL {
        let table = Table::create(world.any(), "TAIWANESE").await;
        spoil(&world, &table.id, spoilt).await;
    }
    let table = Table::create(world.any(), "TAIWANESE").await;
    eventually(
        "aborted",
        async || world.any().get(&table.id).await.result,
        |result| result.as_ref().is_some_and(|r| r.reason() == v1::EndReason::Aborted),
    )
    .await;
}
