//! Three replicas as processes of their own, which are killed and replaced.

// Shared with `tests/chaos`; each takes what it needs.
#![allow(dead_code)]

use std::net::SocketAddr;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::platform_service_client::PlatformServiceClient;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::StatusExt as _;

use crate::support::PATIENCE;
use crate::support::replica::Replica;

pub(crate) const COUNT: usize = 3;

/// A replica and the connection that everybody has to it.
struct Running {
    replica: Replica,
    channel: Channel,
}

/// The replicas.
pub(crate) struct Replicas {
    /// The options of each.
    options: [Vec<String>; COUNT],
    running: Mutex<Vec<Running>>,
}

impl Replicas {
    /// Starts them on one store, with streams that become so many seconds old.
    pub(crate) async fn start(store: &str, stream_age: u32) -> Arc<Self> {
        let options = [format!("--store={store}"), format!("--stream-max-age={stream_age}")];
        Self::start_with([(); COUNT].map(|()| options.to_vec())).await
    }

    /// Starts each with options of its own.
    pub(crate) async fn start_with(options: [Vec<String>; COUNT]) -> Arc<Self> {
        let replicas = Self { options, running: Mutex::default() };
        for number in 0..COUNT {
            let running = replicas.begin(number).await;
            replicas.running().push(running);
        }
        Arc::new(replicas)
    }

    fn running(&self) -> MutexGuard<'_, Vec<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn begin(&self, number: usize) -> Running {
        let own = self.options[number].clone();
        let start = move || {
            let mut options = vec!["--shards=16", "--dev-platform", "--log=error"];
            options.extend(own.iter().map(String::as_str));
            Replica::start(&options)
        };
        let replica = tokio::task::spawn_blocking(start).await.expect("it starts");
        let uri = format!("http://{}", replica.address());
        let channel = Endpoint::from_shared(uri).expect("a URI").connect_lazy();
        Running { replica, channel }
    }

    /// Kills a replica at once; another one takes its place.
    pub(crate) async fn kill_and_restart(&self, number: usize) {
        self.kill(number);
        self.restart(number).await;
    }

    /// Kills a replica at once.
    pub(crate) fn kill(&self, number: usize) {
        self.running()[number].replica.kill();
    }

    /// Starts another one in the place of one that was killed.
    pub(crate) async fn restart(&self, number: usize) {
        let running = self.begin(number).await;
        self.running()[number] = running;
    }

    /// The process of a replica.
    pub(crate) fn process(&self, number: usize) -> u32 {
        self.running()[number].replica.id()
    }

    /// How a replica has ended, if it has.
    pub(crate) fn exit_status(&self, number: usize) -> Option<ExitStatus> {
        self.running()[number].replica.exit_status()
    }

    /// Where a replica serves probes.
    pub(crate) fn probes(&self, number: usize) -> SocketAddr {
        self.running()[number].replica.probes()
    }

    /// Where a replica serves gRPC.
    pub(crate) fn address(&self, number: usize) -> String {
        self.running()[number].replica.address().to_owned()
    }

    pub(crate) fn channel(&self, number: usize) -> Channel {
        self.running()[number].channel.clone()
    }

    pub(crate) fn games(&self, number: usize) -> GameServiceClient<Channel> {
        GameServiceClient::new(self.channel(number))
    }

    pub(crate) fn platform(&self, number: usize) -> PlatformServiceClient<Channel> {
        PlatformServiceClient::new(self.channel(number))
    }

    /// Any of them.
    pub(crate) fn any(&self, random: &mut Xoshiro256PlusPlus) -> GameServiceClient<Channel> {
        self.games(random.random_range(0..COUNT))
    }
}

/// Another replica than this one, at random.
pub(crate) fn another(number: usize, random: &mut Xoshiro256PlusPlus) -> usize {
    (number + random.random_range(1..COUNT)) % COUNT
}

/// Whether a call failed, or a stream broke, as it may where replicas die: without a word of theirs,
/// or with one that says so.
pub(crate) fn is_a_break(status: &Status) -> bool {
    match status.get_error_details().error_info() {
        None => matches!(
            status.code(),
            Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled
        ),
        Some(info) => matches!(info.reason.as_str(), "STREAM_EXPIRED" | "STORE_UNAVAILABLE"),
    }
}

/// Waits for a call that must be answered.
pub(crate) async fn in_time<T>(call: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, call).await.expect("an answer in time")
}
