//! The sweeper of one replica: ends what nobody touches and applies what writes left behind.
//!
//! Live replicas share the shards. Compare-and-set makes a shard that is swept twice harmless, and
//! a replica that dies leaves its shards to the others once its heartbeat is gone. What a sweeper
//! does goes on side by side, so that much to do in one place makes nothing else late; and in
//! rounds of which each waits for the last, so that a slow store is not asked more and more.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use tokio::sync::{mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::api::Host;
use crate::store::{ReplicaId, Shard, StoreError, shards_swept_by};

/// How often a replica says that it is alive: three beats in the time for which one counts.
const HEARTBEAT: Duration = Duration::from_millis(300);

/// How often every shard is asked for its first deadline.
const ROUND: Duration = Duration::from_millis(250);

/// In how many rounds the clock of a shard in which games have deadlines is advanced once.
const ROUNDS_A_BEAT: u32 = 4;

/// How often outboxes are looked through, and in how many parts. Whoever writes to one tells its
/// own sweeper at once; this is for what a replica that died had no time for.
const OUTBOX_ROUND: Duration = Duration::from_secs(1);
const OUTBOX_PARTS: usize = 10;

/// How many shards are swept at the same time.
const AT_ONCE: usize = 8;

/// How many outboxes are taken up together.
const OUTBOXES: usize = 64;

/// Sweeps as this replica for as long as it is polled. `written`, which comes with the host, tells
/// the shards in which the replica left something to apply, which is then done at once.
pub async fn sweep(host: Arc<Host>, replica: ReplicaId, written: mpsc::Receiver<Shard>) {
    let (share, shards) = watch::channel(Vec::new().into());
    // No more than there are shards, since each is in it once.
    let (find, found) = mpsc::unbounded_channel();
    let overdue = Overdue { waiting: Mutex::default(), find };
    tokio::join!(
        stay_alive(&host, replica, share),
        look_at_deadlines(&host, shards.clone(), &overdue),
        enforce_deadlines(&host, found, &overdue),
        drain_outboxes(&host, shards, written),
    );
}

/// The shards that this replica sweeps.
type Share = Arc<[Shard]>;

/// Says again and again that this replica is alive, and finds out what its share is.
async fn stay_alive(host: &Host, replica: ReplicaId, share: watch::Sender<Share>) {
    let store = host.store();
    let mut beats = every(HEARTBEAT);
    let mut trouble = Trouble::with("the heartbeat");
    let mut known = None;
    loop {
        beats.tick().await;
        let live = async {
            store.heartbeat(replica).await?;
            store.live_replicas().await
        };
        // A replica that knows nothing new goes on with what it knew.
        if let Some(live) = trouble.check(live.await)
            && known.as_ref() != Some(&live)
        {
            host.metrics().saw_replicas(live.len());
            share.send_replace(shards_swept_by(replica, &live, store.shards()).into());
            known = Some(live);
        }
    }
}

/// The shards in which a deadline has passed.
struct Overdue {
    /// Those that were found and are not swept yet.
    waiting: Mutex<HashSet<Shard>>,
    find: mpsc::UnboundedSender<Shard>,
}

impl Overdue {
    fn add(&self, shard: Shard) {
        if self.waiting().insert(shard) {
            self.find.send(shard).expect("who sweeps lives as long as who finds");
        }
    }

    fn remove(&self, shard: Shard) {
        self.waiting().remove(&shard);
    }

    fn waiting(&self) -> MutexGuard<'_, HashSet<Shard>> {
        // A set is whole between any two of its calls, whatever panics.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the clocks of this replica's shards going, and finds those in which deadlines have passed.
async fn look_at_deadlines(host: &Host, shards: watch::Receiver<Share>, overdue: &Overdue) {
    let mut rounds = every(ROUND);
    let mut trouble = Trouble::with("looking at deadlines");
    let mut beating = HashSet::new();
    for round in (0..ROUNDS_A_BEAT).cycle() {
        rounds.tick().await;
        let shards = Share::clone(&shards.borrow());
        let looked = look_once(host, &shards, round == 0, &mut beating).await;
        trouble.check(looked).into_iter().flatten().for_each(|shard| overdue.add(shard));
    }
}

/// Ends the games whose deadline has passed.
async fn enforce_deadlines(host: &Host, found: mpsc::UnboundedReceiver<Shard>, overdue: &Overdue) {
    let mut trouble = Trouble::with("enforcing deadlines");
    let sweep = async |shard| {
        let swept = host.enforce_deadlines(shard).await;
        overdue.remove(shard);
        swept
    };
    let mut sweeps = UnboundedReceiverStream::new(found).map(sweep).buffer_unordered(AT_ONCE);
    while let Some(swept) = sweeps.next().await {
        trouble.check(swept);
    }
}

/// One round; answers the shards in which deadlines have passed. The clocks of shards in which games
/// have deadlines are advanced when it is time for all, and at once for those that were not
/// `beating` in the round before.
async fn look_once(
    host: &Host,
    shards: &[Shard],
    all_beat: bool,
    beating: &mut HashSet<Shard>,
) -> Result<Vec<Shard>, StoreError> {
    let store = host.store();
    let deadlines = store.first_deadlines(shards).await?;
    let awaited = shards.iter().copied().zip(deadlines);
    let awaited: Vec<_> = awaited.filter_map(|(shard, first)| Some((shard, first?))).collect();
    let is_first = |shard: &Shard| all_beat || !beating.contains(shard);
    let beats: Vec<Shard> = awaited.iter().map(|(shard, _)| *shard).filter(is_first).collect();
    if !beats.is_empty() {
        store.beat(&beats).await?;
    }
    *beating = awaited.iter().map(|(shard, _)| *shard).collect();
    let mut overdue = Vec::new();
    for (shard, first) in awaited {
        if host.is_overdue(shard, first).await? {
            overdue.push(shard);
        }
    }
    Ok(overdue)
}

/// Applies what writes left behind.
async fn drain_outboxes(
    host: &Host,
    shards: watch::Receiver<Share>,
    mut written: mpsc::Receiver<Shard>,
) {
    let mut rounds = every(OUTBOX_ROUND);
    let mut trouble = Trouble::with("draining outboxes");
    let mut part = 0;
    let mut told = Vec::with_capacity(OUTBOXES);
    loop {
        let outboxes = tokio::select! {
            // A round comes but once in a while, so it keeps nothing waiting.
            biased;
            _ = rounds.tick() => {
                part = (part + 1) % OUTBOX_PARTS;
                shards.borrow().iter().copied().skip(part).step_by(OUTBOX_PARTS).collect()
            }
            1.. = written.recv_many(&mut told, OUTBOXES) => {
                told.sort_unstable();
                told.dedup();
                std::mem::take(&mut told)
            }
        };
        trouble.check(for_each(outboxes, |shard| host.drain_outbox(shard)).await);
    }
}

/// Does something for every shard, a few at a time, and stops at the first failure.
async fn for_each<F>(shards: Vec<Shard>, sweep: impl Fn(Shard) -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut sweeps = stream::iter(shards).map(sweep).buffer_unordered(AT_ONCE);
    while let Some(swept) = sweeps.next().await {
        swept?;
    }
    Ok(())
}

/// Rounds that are never closer together than this, also after one that took longer.
fn every(period: Duration) -> Interval {
    let mut rounds = interval(period);
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    rounds
}

/// Whether something works, told when that changes rather than every round.
#[derive(Debug)]
struct Trouble {
    what: &'static str,
    fails: bool,
}

impl Trouble {
    const fn with(what: &'static str) -> Self {
        Self { what, fails: false }
    }

    /// Takes note of a round; answers what came of it, if anything did.
    fn check<T>(&mut self, round: Result<T, StoreError>) -> Option<T> {
        let failed_before = self.fails;
        self.fails = round.is_err();
        match round {
            Ok(outcome) => {
                if failed_before {
                    tracing::info!("{} works again", self.what);
                }
                Some(outcome)
            }
            Err(error) => {
                if !failed_before {
                    tracing::warn!(%error, "{} is interrupted", self.what);
                }
                None
            }
        }
    }
}
