//! What goes wrong, and which alerts are to tell of it.

use std::convert::Infallible;
use std::future::pending;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use futures_util::future::join_all;
use tokio::time::{sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use tonic::Code;

use crate::support::{PATIENCE, refusal, signal};
use crate::world::{STREAMS, World, act, create, get, per_turn, watch};

/// Something that goes wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// More watchers than a replica takes.
    Crowd,
    /// Many who write to one game, over both replicas.
    Race,
    /// A record is rolled back behind the replicas' back, while it is watched.
    Rollback,
    /// A record is overwritten with something that is none.
    BrokenRecord,
    /// The store stands still for 0.6 s, again and again.
    Hiccups,
    /// A replica stands still for 0.8 s, again and again, each time just before something happens
    /// that it has watchers of. (A store that stands still holds up the call as well, which then
    /// counts as having arrived when the store was back.)
    Naps,
    /// All replicas stand still for 5 s, in which deadlines pass.
    ReplicasStandStill,
    /// The store stands still.
    StoreStandsStill,
    /// A replica dies.
    DeadReplica,
}

/// A process that stands still until this is dropped.
struct StandingStill(u32);

impl StandingStill {
    fn make(process: u32) -> Self {
        signal(process, "STOP");
        Self(process)
    }
}

impl Drop for StandingStill {
    fn drop(&mut self) {
        signal(self.0, "CONT");
    }
}

impl Fault {
    /// All of them. The last replica to die does not come back.
    pub(crate) const ALL: [Self; 9] = [
        Self::Crowd,
        Self::Race,
        Self::Rollback,
        Self::BrokenRecord,
        Self::Hiccups,
        Self::Naps,
        Self::ReplicasStandStill,
        Self::StoreStandsStill,
        Self::DeadReplica,
    ];

    /// The alerts that must fire.
    pub(crate) const fn alerts(self) -> &'static [&'static str] {
        match self {
            Self::Crowd => &["BanqiNearlyFull", "BanqiOverloaded"],
            Self::Race => &["BanqiContention"],
            Self::Rollback => &["BanqiHistoryLost"],
            Self::BrokenRecord => &["BanqiFaults", "BanqiStoreBroken"],
            Self::Hiccups => &["BanqiSlowCalls"],
            Self::Naps => &["BanqiLateEvents"],
            Self::ReplicasStandStill => &["BanqiLateDeadlines"],
            Self::StoreStandsStill => &["BanqiNotReady", "BanqiStoreFailing"],
            Self::DeadReplica => &["BanqiReplicaDown"],
        }
    }

    /// Makes it, and lets it last until this is dropped.
    pub(crate) async fn last(self, world: &mut World) -> Infallible {
        match self {
            Self::Crowd => crowd(world).await,
            Self::Race => race(world).await,
            Self::Rollback => roll_back(world).await,
            Self::BrokenRecord => break_a_record(world).await,
            Self::Hiccups => loop {
                let still = StandingStill::make(world.redis.id());
                sleep(Duration::from_millis(600)).await;
                drop(still);
                sleep(Duration::from_millis(400)).await;
            },
            Self::Naps => take_naps(world).await,
            Self::ReplicasStandStill => stop_replicas(world).await,
            Self::StoreStandsStill => {
                let _still = StandingStill::make(world.redis.id());
                pending().await
            }
            Self::DeadReplica => {
                world.replicas[1].kill();
                pending().await
            }
        }
    }
}

async fn crowd(world: &World) -> Infallible {
    let [mut one, _] = world.clients();
    let game = create(&mut one, None).await.expect("created");
    let mut watchers = Vec::new();
    loop {
        match watch(&mut one, &game).await {
            Ok(watcher) => watchers.push(watcher),
            Err(status) => {
                assert_eq!(refusal(&status).1, "OVERLOADED");
                break;
            }
        }
        assert!(watchers.len() <= STREAMS, "all were let in");
    }
    pending().await
}

async fn race(world: &World) -> Infallible {
    let [mut one, other] = world.clients();
    let game = create(&mut one, None).await.expect("created");
    loop {
        // Nobody needs to be to move for this one.
        let writers = (0..32).flat_map(|_| [one.clone(), other.clone()]).map(|mut client| {
            let game_id = game.clone();
            let request = v1::ReissueSeatTokenRequest { game_id, seat: 1, ..Default::default() };
            async move { client.reissue_seat_token(request).await }
        });
        for outcome in join_all(writers).await {
            if let Err(status) = outcome {
                assert_eq!(refusal(&status).1, "CONTENTION", "{status:?}");
            }
        }
    }
}

/// The key under which a game is stored.
async fn key(redis: &mut redis::aio::MultiplexedConnection, game: &str) -> String {
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg(format!("*:game:{game}"))
        .query_async(redis)
        .await
        .expect("the store answers");
    let [key] = &keys[..] else { panic!("{game}: {keys:?}") };
    key.clone()
}

/// Writes a record behind the replicas' back.
async fn overwrite(redis: &mut redis::aio::MultiplexedConnection, key: &str, record: &[u8]) {
    let mut set = redis::cmd("SET");
    set.arg(key).arg(record).arg("KEEPTTL");
    set.exec_async(redis).await.expect("the store answers");
}

async fn roll_back(world: &World) -> Infallible {
    let [mut one, mut other] = world.clients();
    let mut redis = world.redis.connection().await;
    let id = create(&mut one, None).await.expect("created");
    let game = get(&mut one, &id).await.expect("there");
    let key = key(&mut redis, &id).await;
    let record: Vec<u8> =
        redis::cmd("GET").arg(&key).query_async(&mut redis).await.expect("the store answers");
    let mut watcher = watch(&mut other, &id).await.expect("watched");
    let mut lost = act(&mut one, &game, true).await.expect("legal");
    lost = act(&mut one, &lost, true).await.expect("legal");
    let mut told = async |wanted: &dyn Fn(&Message) -> bool| {
        let look = async {
            while !wanted(
                &watcher
                    .message()
                    .await
                    .expect("it goes on")
                    .expect("it goes on")
                    .message
                    .expect("a message"),
            ) {}
        };
        timeout(PATIENCE, look).await.expect("told in time");
    };
    told(&|message| match message {
        Message::Event(event) => event.game.as_ref().is_some_and(|game| game.etag == lost.etag),
        _ => false,
    })
    .await;
    overwrite(&mut redis, &key, &record).await;
    // The next write brings the watcher to look.
    act(&mut one, &game, true).await.expect("legal in what stands");
    told(&|message| matches!(message, Message::Snapshot(snapshot) if snapshot.history_lost)).await;
    pending().await
}

async fn break_a_record(world: &World) -> Infallible {
    let [mut one, _] = world.clients();
    let mut redis = world.redis.connection().await;
    let id = create(&mut one, None).await.expect("created");
    let key = key(&mut redis, &id).await;
    overwrite(&mut redis, &key, b"no record").await;
    // One call is enough.
    let status = get(&mut one, &id).await.expect_err("broken");
    assert_eq!(status.code(), Code::DataLoss, "{status:?}");
    pending().await
}

async fn take_naps(world: &World) -> Infallible {
    let [mut one, mut other] = world.clients();
    let id = create(&mut one, None).await.expect("created");
    let mut game = get(&mut one, &id).await.expect("there");
    let mut events = watch(&mut other, &id).await.expect("watched");
    let _watcher = AbortOnDropHandle::new(tokio::spawn(async move {
        while let Ok(Some(_)) = events.message().await {}
    }));
    loop {
        let still = StandingStill::make(world.replicas[1].id());
        game = act(&mut one, &game, true).await.expect("legal");
        sleep(Duration::from_millis(800)).await;
        drop(still);
        sleep(Duration::from_millis(200)).await;
    }
}

async fn stop_replicas(world: &World) -> Infallible {
    let [mut one, _] = world.clients();
    for _ in 0..5 {
        create(&mut one, per_turn(Duration::from_millis(300))).await.expect("created");
    }
    let still = world.replicas.each_ref().map(|replica| StandingStill::make(replica.id()));
    sleep(Duration::from_secs(5)).await;
    drop(still);
    pending().await
}
