//! What keeps a link connected to its server.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::access::{Access, HostPort};
use super::connection::{check_primary, connect};
use super::link::Target;
use super::map::SlotMap;
use super::pause::Pause;
use super::remedy::Unreached;

/// A connection that lasted at least this long makes the next pause a short one again.
const SETTLED_AFTER: Duration = Duration::from_secs(1);

/// How often sentinels are asked whether the primary is still the one that is connected.
const ASK_SENTINELS_EVERY: Duration = Duration::from_secs(2);

/// Whether a link is connected.
#[derive(Clone, Debug)]
pub(super) enum State {
    Connected(Numbered),
    /// There is no connection since then, because of this error; none before the first attempt.
    Away {
        since: Instant,
        error: Option<Unreached>,
    },
}

/// A connection, and which of a link it is.
#[derive(Clone, Debug)]
pub(super) struct Numbered {
    pub(super) number: u64,
    pub(super) server: HostPort,
    pub(super) connection: MultiplexedConnection,
}

/// Says that the connection of this number is broken.
pub(super) fn mark_broken(broken: &watch::Sender<u64>, number: u64) {
    broken.send_if_modified(|last| {
        let news = *last < number;
        *last = number.max(*last);
        news
    });
}

/// What keeps a link connected.
pub(super) struct Keeper {
    pub(super) target: Target,
    pub(super) access: Arc<Access>,
    pub(super) state: watch::Sender<State>,
    pub(super) map: watch::Sender<Arc<SlotMap>>,
    pub(super) broken: Arc<watch::Sender<u64>>,
}

impl Keeper {
    /// Connects, waits until the connection is found broken, and begins again, for ever.
    pub(super) async fn keep_connected(self) {
        let mut pause = Pause::default();
        let mut away_since = Instant::now();
        for number in 1.. {
            match self.connect(number).await {
                Ok((server, connection)) => {
                    let since = Instant::now();
                    self.map.send_if_modified(|map| {
                        let news = Arc::new(SlotMap::whole(server.clone()));
                        let old = std::mem::replace(map, news);
                        old != *map
                    });
                    let numbered = Numbered { number, server: server.clone(), connection };
                    self.state.send_replace(State::Connected(numbered));
                    tokio::select! {
                        () = self.found_broken(number) => {
                            tracing::warn!(%server, "the connection to the store is lost");
                        }
                        () = self.replaced(&server) => {
                            tracing::warn!(%server, "the store has another primary");
                        }
                    }
                    away_since = Instant::now();
                    self.state.send_replace(State::Away { since: away_since, error: None });
                    if since.elapsed() >= SETTLED_AFTER {
                        pause = Pause::default();
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "the store cannot be reached");
                    let error = Some(error);
                    self.state.send_replace(State::Away { since: away_since, error });
                }
            }
            sleep(pause.next()).await;
        }
    }

    /// Connects once; and says where.
    async fn connect(&self, number: u64) -> Result<(HostPort, MultiplexedConnection), Unreached> {
        let on_push = {
            let broken = Arc::clone(&self.broken);
            move |push: PushInfo| {
                if push.kind == PushKind::Disconnection {
                    mark_broken(&broken, number);
                }
            }
        };
        let (server, checked) = match &self.target {
            Target::Server(server) => (server.clone(), false),
            Target::Primary(sentinels) => (sentinels.primary().await?, true),
        };
        let connection = async {
            let mut connection = connect(&self.access.client(&server).await?, on_push).await?;
            if checked {
                check_primary(&mut connection).await?;
            }
            Ok(connection)
        };
        let connection = connection.await.map_err(|error| Unreached::new(&server, error))?;
        Ok((server, connection))
    }

    async fn found_broken(&self, number: u64) {
        let mut broken = self.broken.subscribe();
        broken.wait_for(|&last| last >= number).await.expect("it is kept here");
    }

    /// Waits until sentinels name another server. Those that were demoted close their
    /// connections, but one that is cut off from its sentinels, and not from us, does not know.
    async fn replaced(&self, server: &HostPort) {
        let Target::Primary(sentinels) = &self.target else { return std::future::pending().await };
        loop {
            sleep(ASK_SENTINELS_EVERY).await;
            if sentinels.primary().await.is_ok_and(|primary| primary != *server) {
                return;
            }
        }
    }
}
