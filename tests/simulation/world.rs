//! Three replicas in this process, on one simulated store.

use std::sync::Arc;
use std::time::Duration;

use banqi::api::callers::{CallerOptions, Callers};
use banqi::api::{GameApi, Host, HostOptions, StreamAge, WatchPace};
use banqi::game::{Limits, Span};
use banqi::server::sweep;
use banqi::store::{ReplicaId, SystemTimeSource};
use rand::RngExt as _;
use tokio::task::JoinHandle;

use crate::backend::{Backend, REPLICAS};
use crate::call::{Games, games};
use crate::planted::Planted;
use crate::random::{SeededSource, random_for};
use crate::store::SimulatedStore;

/// How far the estimates of a replica may be off, in milliseconds.
const SKEW: i64 = 100;

/// Games that nobody begins are not aborted within a run. Where no game has a deadline a shard's time
/// is its source's; a call that arrived before a game was created, and before its source jumped back by
/// more than a day, would take the game for one that nobody has begun in all that time.
const UNBEGUN: Span = Span::days(1_000);

/// As it is by default, but faster, since runs are short.
const PACE: WatchPace = WatchPace {
    keep_alive: Duration::from_millis(700),
    linger: Duration::from_secs(30),
    recheck: Duration::from_secs(1),
    presence_lifetime: Duration::from_secs(10),
    stream_age: StreamAge::NONE,
};

pub(crate) struct World {
    pub(crate) backend: Arc<Backend>,
    /// A client of each replica.
    pub(crate) replicas: Vec<Games>,
    sweepers: Vec<JoinHandle<()>>,
}

impl World {
    pub(crate) fn start(seed: u64, planted: Option<Planted>) -> Self {
        let mut random = random_for(seed, "skews");
        let skews = std::array::from_fn(|_| random.random_range(-SKEW..=SKEW));
        let backend = Backend::new(seed, skews, planted);
        let limits = Limits { unbegun: UNBEGUN, ..Limits::default() };
        let options = HostOptions { limits, ..HostOptions::default() };
        let trusting = CallerOptions { dev_platform: true, ..CallerOptions::default() };
        let callers = Callers::open(&trusting, Arc::new(SystemTimeSource)).expect("callers");
        let (mut replicas, mut sweepers) = (Vec::new(), Vec::new());
        for replica in 0..REPLICAS {
            let store = Arc::new(SimulatedStore { replica, backend: Arc::clone(&backend) });
            let source = Arc::new(SeededSource::new(random_for(seed, ("replica", replica))));
            let time = Arc::clone(&backend.clock) as _;
            let (host, written) = Host::with_sources(store, options, source, time);
            let api = GameApi::new(Arc::clone(&host), Arc::clone(&callers), PACE);
            replicas.push(games(api.into_server()));
            let id = ReplicaId(uuid::Uuid::from_u128(1 + replica as u128));
            sweepers.push(tokio::spawn(sweep(host, id, written)));
        }
        Self { backend, replicas, sweepers }
    }

    /// Whether all that goes on by itself still does; it would end by a panic alone.
    pub(crate) fn goes_on(&self) -> bool {
        !self.sweepers.iter().any(JoinHandle::is_finished)
    }
}
