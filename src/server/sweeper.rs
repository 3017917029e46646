//! The sweeper of one replica: ends what nobody touches and applies what writes left behind.
//!
//! Live replicas share the shards. Compare-and-set makes a shard that is swept twice harmless, and
//! a replica that dies leaves its shards to the others once its heartbeat is gone. What a sweeper
//! does goes on side by side, so that much to do in one place makes nothing else late; and in
//! rounds of which each waits for the last, so that a slow store is not asked more and more.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use futures_util::stream::{self, FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};
use tokio_stream::wrappers::UnboundedReceiverStream;

use crate::api::Host;
use crate::store::{Place, ReplicaId, Shard, StoreError, by_place, shards_swept_by};

/// How often a replica says that it is alive: three beats in the time for which one counts.
const HEARTBEAT: Duration = Duration::from_millis(300);

/// How often every shard is asked for its first deadline.
const ROUND: Duration = Duration::from_millis(250);

/// For how long the clock of a shard in which games have deadlines is not advanced again: it is in
/// every fourth round, of which none comes early.
const BEAT: Duration = Duration::from_millis(900);

/// For how long a replica that cannot tell which others are alive goes on with what it knew. Then it
/// sweeps all shards: those of others twice rather than those of one that has died never.
const BLIND: Duration = Duration::from_secs(5);

/// How often outboxes are looked through, and in how many parts. Whoever writes to one tells its
/// own sweeper at once; this is for what a replica that died had no time for.
const OUTBOX_ROUND: Duration = Duration::from_secs(1);
const OUTBOX_PARTS: usize = 10;

/// How often the shards of other replicas are looked at.
const OTHERS_ROUND: Duration = Duration::from_secs(1);

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
        look_after_others(&host, shards.clone(), &overdue),
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
    let mut sure_at = Instant::now();
    loop {
        beats.tick().await;
        let live = async {
            store.heartbeat(replica).await?;
            store.live_replicas().await
        };
        // A replica that knows nothing new goes on with what it knew, for a while.
        let live = match trouble.check(live.await) {
            Some(live) => {
                sure_at = Instant::now();
                live
            }
            None if sure_at.elapsed() >= BLIND => vec![replica],
            None => continue,
        };
        if known.as_ref() != Some(&live) {
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
/// Those of one server wait for no other, and are not asked again while they are being asked.
async fn look_at_deadlines(host: &Host, shards: watch::Receiver<Share>, overdue: &Overdue) {
    let mut rounds = every(ROUND);
    let mut troubles: HashMap<Place, Trouble> = HashMap::new();
    let mut beats: HashMap<Shard, Instant> = HashMap::new();
    let mut asked: HashSet<Shard> = HashSet::new();
    let mut looks = FuturesUnordered::new();
    loop {
        tokio::select! {
            // So that a simulation takes the same course again. A round comes but once in a while.
            biased;
            _ = rounds.tick() => {
                let now = Instant::now();
                beats.retain(|_, beaten| now.duration_since(*beaten) < BEAT);
                let shards = Share::clone(&shards.borrow());
                let shards = shards.iter().copied().filter(|shard| !asked.contains(shard));
                let sorted = by_place(&**host.store(), shards, |shard| *shard);
                for (place, shards) in sorted {
                    asked.extend(&shards);
                    let beaten = shards.iter().copied().filter(|shard| beats.contains_key(shard));
                    let beaten = beaten.collect();
                    looks.push(async move {
                        (place, look_once(host, &shards, &beaten).await, shards)
                    });
                }
            }
            Some((place, looked, shards)) = looks.next() => {
                shards.iter().for_each(|shard| { asked.remove(shard); });
                let trouble = troubles.entry(place).or_insert(Trouble::with("looking at deadlines"));
                let Some(looked) = trouble.check(looked) else { continue };
                shards.iter().filter(|shard| !looked.awaited.contains(shard)).for_each(|shard| {
                    beats.remove(shard);
                });
                beats.extend(looked.beaten.into_iter().map(|shard| (shard, looked.at)));
                looked.overdue.into_iter().for_each(|shard| overdue.add(shard));
            }
        }
    }
}

/// Finds what other replicas have left undone in their shards, which they may be unable to do.
async fn look_after_others(host: &Host, shards: watch::Receiver<Share>, overdue: &Overdue) {
    let mut rounds = every(OTHERS_ROUND);
    loop {
        rounds.tick().await;
        let own: HashSet<Shard> = shards.borrow().iter().copied().collect();
        let others = host.store().shards().iter().filter(|shard| !own.contains(shard));
        let sorted = by_place(&**host.store(), others, |shard| *shard);
        let looks = sorted.values().map(|shards| host.left_overdue(shards));
        // Whoever sweeps a shard tells when its server is away.
        let left = join_all(looks).await.into_iter().flatten().flatten();
        left.for_each(|shard| overdue.add(shard));
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

/// What was found in some shards.
struct Looked {
    /// When that was begun.
    at: Instant,
    /// Those in which games have deadlines.
    awaited: HashSet<Shard>,
    /// Those of them whose clocks were advanced.
    beaten: Vec<Shard>,
    /// Those in which deadlines have passed.
    overdue: Vec<Shard>,
}

/// Looks at some shards once. The clocks of those in which games have deadlines are advanced, but of
/// those that were `beaten` a short while ago.
async fn look_once(
    host: &Host,
    shards: &[Shard],
    beaten: &HashSet<Shard>,
) -> Result<Looked, StoreError> {
    let at = Instant::now();
    let store = host.store();
    let deadlines = store.first_deadlines(shards).await?;
    let awaited = shards.iter().copied().zip(deadlines);
    let awaited: Vec<_> = awaited.filter_map(|(shard, first)| Some((shard, first?))).collect();
    let due = |shard: &Shard| !beaten.contains(shard);
    let beats: Vec<Shard> = awaited.iter().map(|(shard, _)| *shard).filter(due).collect();
    if !beats.is_empty() {
        store.beat(&beats).await?;
    }
    let mut overdue = Vec::new();
    for (shard, first) in &awaited {
        if host.is_overdue(*shard, *first).await? {
            overdue.push(*shard);
        }
    }
    let awaited = awaited.into_iter().map(|(shard, _)| shard).collect();
    Ok(Looked { at, awaited, beaten: beats, overdue })
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

/// Does something for every shard, a few at a time, also after a failure, of which it tells the first.
async fn for_each<F>(shards: Vec<Shard>, sweep: impl Fn(Shard) -> F) -> Result<(), StoreError>
where
    F: Future<Output = Result<(), StoreError>>,
{
    let mut sweeps = stream::iter(shards).map(sweep).buffer_unordered(AT_ONCE);
    let mut outcome = Ok(());
    while let Some(swept) = sweeps.next().await {
        outcome = outcome.and(swept);
    }
    outcome
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
