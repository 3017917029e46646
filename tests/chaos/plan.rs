//! Which faults happen, when, and to whom: drawn from a seed.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, sleep};

use crate::replicas::{COUNT, Replicas};
use crate::servers::Servers;
use crate::support::signal;

/// What the store is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    /// One server with an append-only file and `appendfsync always`.
    OneServer,
    /// A primary with two replicas under three sentinels, and `--durability 1`.
    Sentinels,
    /// A cluster of three primaries with a replica each, and `--durability 1`.
    Cluster,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    /// A replica of the service is killed, and replaced.
    KillReplica,
    /// A replica of the service stands still.
    PauseReplica,
    /// The server is killed, and started with what it has on disk.
    RestartServer,
    /// What [`crate::network::Weather`] says, between one or all replicas and the server.
    Cut,
    Slow,
    HalfClose,
    Silence,
    /// All connections of the service to a server are ended.
    CutConnections,
    /// A primary is killed, a replica takes over, and the old primary becomes one of its replicas.
    Failover,
    /// The same with a primary that only stands still, and knows nothing of it when it goes on.
    Freeze,
    /// A slot with games moves to another primary.
    MoveSlot,
}

impl Case {
    /// What befalls its servers.
    fn faults(self) -> &'static [Fault] {
        match self {
            Self::OneServer => {
                &[Fault::RestartServer, Fault::Cut, Fault::Slow, Fault::HalfClose, Fault::Silence]
            }
            Self::Sentinels => &[Fault::CutConnections, Fault::Failover, Fault::Freeze],
            Self::Cluster => {
                &[Fault::CutConnections, Fault::MoveSlot, Fault::Failover, Fault::MoveSlot]
            }
        }
    }

    /// Whether a failover may lose writes that too few replicas had.
    pub(crate) fn may_lose(self) -> bool {
        self != Self::OneServer
    }
}

/// A time of so many milliseconds.
pub(crate) fn millis(random: &mut Xoshiro256PlusPlus, range: Range<u64>) -> Duration {
    Duration::from_millis(random.random_range(range))
}

/// How often each fault happened.
pub(crate) type Count = BTreeMap<Fault, usize>;

/// What has happened.
#[derive(Debug)]
pub(crate) struct Happened {
    pub(crate) count: Count,
    /// When primaries that had been replaced went on without knowing.
    pub(crate) went_on: Vec<Instant>,
}

impl Happened {
    /// Whether somebody may still have asked a primary at this moment that had been replaced.
    pub(crate) fn may_be_behind(&self, moment: Instant) -> bool {
        self.went_on.iter().any(|went_on| (*went_on..*went_on + UNAWARE).contains(&moment))
    }
}

/// For how long a replica of the service may write to a primary that was replaced and does not know: 2.5 s,
/// as docs/operations.md says, and what it may stand still for besides; the rest is for a busy machine.
const UNAWARE: Duration = Duration::from_secs(5);

/// Lets each fault of the servers happen once, in any order, and for as long replicas die and stand
/// still. When it is over all of them are well.
pub(crate) async fn carry_out(
    case: Case,
    replicas: &Replicas,
    servers: &Arc<Mutex<Servers>>,
    mut random: Xoshiro256PlusPlus,
) -> Happened {
    let (done, is_done) = watch::channel(false);
    let on_replicas = befall_replicas(
        replicas,
        servers,
        is_done,
        Xoshiro256PlusPlus::seed_from_u64(random.random()),
    );
    let on_servers = async {
        let mut faults = case.faults().to_vec();
        faults.shuffle(&mut random);
        let mut went_on = Vec::new();
        for fault in &faults {
            sleep(millis(&mut random, 300..900)).await;
            println!("{fault:?}");
            went_on.extend(servers.lock().await.suffer(*fault, &mut random).await);
        }
        done.send_replace(true);
        (faults, went_on)
    };
    let (mut count, (faults, went_on)) = tokio::join!(on_replicas, on_servers);
    for fault in faults {
        *count.entry(fault).or_default() += 1;
    }
    Happened { count, went_on }
}

async fn befall_replicas(
    replicas: &Replicas,
    servers: &Mutex<Servers>,
    is_done: watch::Receiver<bool>,
    mut random: Xoshiro256PlusPlus,
) -> Count {
    let mut count = Count::new();
    while !*is_done.borrow() {
        let mut faults = [Fault::KillReplica, Fault::PauseReplica];
        faults.shuffle(&mut random);
        for fault in faults {
            sleep(millis(&mut random, 200..900)).await;
            let number = random.random_range(0..COUNT);
            if fault == Fault::KillReplica {
                replicas.kill(number);
                sleep(millis(&mut random, 0..500)).await;
                // It would not start on a store that is away.
                let _well = servers.lock().await;
                replicas.restart(number).await;
            } else {
                let process = replicas.process(number);
                signal(process, "STOP");
                sleep(millis(&mut random, 200..1_500)).await;
                signal(process, "CONT");
            }
            *count.entry(fault).or_default() += 1;
        }
    }
    count
}
