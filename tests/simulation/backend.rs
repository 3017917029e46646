//! The simulated store itself, as all replicas share it: a real embedded store, and what surrounds
//! it. Whatever it does is done before anything else happens, so that only the plan of a run
//! decides in which order things are done.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use banqi::game::{GameId, Millis, Requests, Version};
use banqi::store::{
    Change, Commit, Hint, Hints, Options, Outcome, Record, Shard, ShardCount, Store, StoreError,
    Write, codec, open,
};
use tokio::time::{Instant, sleep, sleep_until};

use crate::clock::SimulatedClock;
use crate::coverage::Coverage;
use crate::ledger::{Entry, Ledger};
use crate::planted::Planted;
use crate::weather::{DEADLINE, Weather};

/// How many replicas there are.
pub(crate) const REPLICAS: usize = 3;

/// Few, so that games share them.
const SHARDS: u16 = 2;

/// How far a jump of the clock goes at once where nothing holds it back, in milliseconds.
const STRIDE: i64 = 3_000;

#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) inner: Arc<dyn Store>,
    pub(crate) clock: Arc<SimulatedClock>,
    pub(crate) weather: Weather,
    pub(crate) planted: Option<Planted>,
    /// What each replica is told.
    pub(crate) hints: [Arc<Hints>; REPLICAS],
    /// How far the estimates of each replica are off, in milliseconds.
    skews: [i64; REPLICAS],
    paused: Mutex<[Instant; REPLICAS]>,
    ledger: Mutex<Ledger>,
    coverage: Mutex<Coverage>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Backend {
    pub(crate) fn new(seed: u64, skews: [i64; REPLICAS], planted: Option<Planted>) -> Arc<Self> {
        let clock = Arc::new(SimulatedClock::starting());
        let options = Options {
            shards: ShardCount::new(SHARDS).expect("a count of shards"),
            call_deadline: DEADLINE,
            time: Arc::clone(&clock) as _,
            ..Options::default()
        };
        Arc::new(Self {
            inner: settle(open("memory:", options)).expect("a store"),
            clock,
            weather: Weather::new(seed),
            planted,
            hints: std::array::from_fn(|_| Arc::new(Hints::given_here())),
            skews,
            paused: Mutex::new([Instant::now(); REPLICAS]),
            ledger: Mutex::default(),
            coverage: Mutex::default(),
        })
    }

    pub(crate) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    /// What happened beside calls.
    pub(crate) fn coverage(&self) -> MutexGuard<'_, Coverage> {
        locked(&self.coverage)
    }

    pub(crate) fn count(&self, what: &str) {
        self.coverage().count(what.to_owned());
    }

    /// From now on nothing goes wrong.
    pub(crate) fn calm_down(&self) {
        self.weather.calm_down();
        *locked(&self.paused) = [Instant::now(); REPLICAS];
    }

    /// Stalls all calls of a replica for so long.
    pub(crate) fn pause(&self, replica: usize, span: Duration) {
        locked(&self.paused)[replica] = Instant::now() + span;
        self.count("a replica paused");
    }

    /// The way of a call of a replica from or to the store.
    pub(crate) async fn travel(&self, replica: usize, delay: Duration) {
        if !delay.is_zero() {
            sleep(delay).await;
        }
        let until = locked(&self.paused)[replica];
        if until > Instant::now() {
            sleep_until(until).await;
        }
    }

    /// A replica's estimate of a shard's time.
    pub(crate) fn estimate(&self, replica: usize, shard: Shard) -> Result<Millis, StoreError> {
        let Millis(now) = settle(self.inner.now(shard))?;
        Ok(Millis(now.saturating_add_signed(self.skews[replica])))
    }

    /// Lets the clock jump.
    pub(crate) fn jump(&self, by: i64) {
        self.count("the clock jumped");
        if by > 0 {
            self.ledger().add_jump(self.clock.elapsed());
        }
        let strides = match self.planted {
            Some(Planted::WrongClock) => by / STRIDE,
            _ => 0,
        };
        for _ in 0..strides {
            self.clock.jump(STRIDE);
            for shard in self.inner.shards().iter() {
                settle(self.inner.now(shard)).expect("the clock of the store");
            }
        }
        self.clock.jump(by - strides.max(0) * STRIDE);
    }

    /// What stands under an id.
    pub(crate) fn load(&self, game: &GameId) -> Result<Option<Record>, StoreError> {
        if self.planted == Some(Planted::StaleCache) && self.weather.is_hit("stale", game, 10) {
            let ledger = self.ledger();
            if let [.., before, _] = ledger.of(game) {
                return Ok(before.record().cloned());
            }
        }
        settle(self.inner.load(game))
    }

    /// Writes, and sends everybody hints.
    pub(crate) fn commit(self: &Arc<Self>, commit: &Commit) -> Result<Outcome, StoreError> {
        let outcome = match self.planted {
            Some(Planted::DoubledRetry) => self.write(&self.without_requests(commit))?,
            Some(Planted::NoCompareAndSet) => match self.write(commit)? {
                Outcome::Conflict { current, .. } => self.write(&self.over(commit, &current))?,
                outcome => outcome,
            },
            _ => self.write(commit)?,
        };
        if matches!(outcome, Outcome::Applied { .. }) {
            commit.writes().for_each(|write| self.send_hints(&write.game));
        }
        Ok(outcome)
    }

    fn write(&self, commit: &Commit) -> Result<Outcome, StoreError> {
        let outcome = settle(self.inner.commit(commit))?;
        if let Outcome::Applied { now, .. } = outcome {
            let at = self.clock.elapsed();
            let mut ledger = self.ledger();
            for write in commit.writes() {
                ledger.add(&write.game, &write.change, at, now);
            }
        }
        Ok(outcome)
    }

    fn send_hints(self: &Arc<Self>, game: &GameId) {
        for replica in 0..REPLICAS {
            match self.weather.hint(replica, game) {
                _ if self.planted == Some(Planted::LostHint) => {}
                None => self.count("a hint lost"),
                Some(Duration::ZERO) => self.hints[replica].give(game.as_str(), Hint::RECORD),
                Some(delay) => {
                    let (hints, game) = (Arc::clone(&self.hints[replica]), game.clone());
                    tokio::spawn(async move {
                        sleep(delay).await;
                        hints.give(game.as_str(), Hint::RECORD);
                    });
                }
            }
        }
    }

    /// Takes a game back to an earlier write, as a failover does that loses the later ones.
    pub(crate) fn lose(self: &Arc<Self>, game: &GameId, from: Version, kept: usize) {
        let target: Entry = self.ledger().of(game)[kept - 1].clone();
        let shards = self.inner.shards();
        let present = settle(self.inner.now(shards.shard_of(game))).expect("the store's time");
        let write = Write { game: game.clone(), expected: Some(from), change: target.change };
        let done = settle(self.inner.commit(&Commit::new(shards, present, write)));
        assert!(matches!(done, Ok(Outcome::Applied { .. })), "{done:?}");
        self.ledger().cut(game, kept);
        self.send_hints(game);
        self.count("the store lost writes");
    }

    /// The same commit, each of whose writes is changed so. What it does to the list of all games
    /// is left out.
    fn changed(&self, commit: &Commit, change: impl Fn(usize, &Write) -> Write) -> Commit {
        let shards = self.inner.shards();
        let mut writes = commit.writes().enumerate().map(|(index, write)| change(index, write));
        let first = writes.next().expect("a commit writes something");
        let mut changed = Commit::new(shards, commit.present(), first);
        for write in writes {
            changed = changed.and(shards, write).expect("they were together before");
        }
        changed = commit.feed().iter().cloned().fold(changed, Commit::with_feed_entry);
        commit.outbox().iter().cloned().fold(changed, Commit::with_outbox_entry)
    }

    fn over(&self, commit: &Commit, current: &[Option<Record>]) -> Commit {
        self.changed(commit, |index, write| Write {
            expected: current[index].as_ref().map(|record| record.version),
            ..write.clone()
        })
    }

    fn without_requests(&self, commit: &Commit) -> Commit {
        self.changed(commit, |_, write| {
            let mut write = write.clone();
            if let Change::Put { record, .. } = &mut write.change {
                let mut stored = codec::read(&write.game, record).expect("a game");
                stored.requests = Requests::default();
                *record = codec::write(&stored);
            }
            write
        })
    }
}

/// Wakes a thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for what another thread does, and lets nothing else happen on this one meanwhile.
pub(crate) fn settle<F: Future>(future: F) -> F::Output {
    let mut future = pin!(tokio::task::unconstrained(future));
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
