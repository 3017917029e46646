//! Those who watch what is played at tables.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::connect::{Caller, Connection, connect_for_streams};
use super::events::{Events, Place};
use super::failure::BenchError;
use super::table::Table;
use super::watcher::Watcher;

/// How often all watchers are looked at, which for many of them is work itself.
pub(super) const LOOK_AT_ALL: Duration = Duration::from_millis(50);

/// How many watches are being opened at once.
const OPENING: usize = 256;

/// Connections for watchers, by replica.
#[derive(Debug)]
pub(super) struct Stands {
    replicas: Vec<Vec<Connection>>,
    /// The table of each watcher, and the replica over which it watches.
    watchers: Vec<(usize, usize)>,
}

/// Watchers at work; they leave when it is dropped.
#[derive(Debug)]
pub(super) struct Audience {
    pub(super) places: Vec<Arc<Place>>,
    watching: JoinSet<()>,
}

impl Stands {
    /// Connects for so many watchers, spread over the tables evenly.
    pub(super) async fn connect(
        addresses: &[String],
        tables: usize,
        watchers: usize,
        caller: &Caller,
    ) -> Result<Self, BenchError> {
        let watchers: Vec<_> = (0..watchers)
            .map(|watcher| {
                let table = watcher % tables;
                (table, other_replica(table, watcher / tables, addresses.len()))
            })
            .collect();
        let mut replicas = Vec::new();
        for (number, address) in addresses.iter().enumerate() {
            let streams = watchers.iter().filter(|(_, replica)| *replica == number).count();
            replicas.push(connect_for_streams(address, streams, caller).await?);
        }
        Ok(Self { replicas, watchers })
    }

    /// How many connections there are.
    pub(super) fn connections(&self) -> usize {
        self.replicas.iter().map(Vec::len).sum()
    }

    /// Has the watchers watch whatever is played.
    pub(super) fn fill(self, tables: &mut [Table], events: &Arc<Events>) -> Audience {
        let games: Vec<_> =
            tables.iter_mut().map(|table| table.admit(Arc::clone(events))).collect();
        let opening = Arc::new(Semaphore::new(OPENING));
        let mut audience = Audience { places: Vec::new(), watching: JoinSet::new() };
        for (number, (table, replica)) in self.watchers.into_iter().enumerate() {
            let connections = &self.replicas[replica];
            let place = Arc::new(Place::default());
            let watcher = Watcher {
                connection: connections[number % connections.len()].clone(),
                games: games[table].clone(),
                place: Arc::clone(&place),
                events: Arc::clone(events),
                opening: Arc::clone(&opening),
            };
            audience.places.push(place);
            audience.watching.spawn(watcher.watch());
        }
        audience
    }
}

impl Audience {
    /// Waits until no watcher lacks an event, or for so long; tells how many events are missing.
    pub(super) async fn missing(&self, patience: Duration) -> u64 {
        let missing = || self.places.iter().map(|place| place.behind()).sum();
        wait_for(patience, LOOK_AT_ALL, || missing() == 0).await;
        missing()
    }

    /// How many watchers have seen something of a game.
    pub(super) fn seated(&self) -> usize {
        self.places.iter().filter(|place| place.is_taken()).count()
    }
}

/// Waits until something is so, or for so long, looking so often; tells whether it is.
pub(super) async fn wait_for(
    patience: Duration,
    every: Duration,
    is_so: impl Fn() -> bool,
) -> bool {
    let deadline = Instant::now() + patience;
    while !is_so() {
        if Instant::now() >= deadline {
            return false;
        }
        sleep(every).await;
    }
    true
}

/// Where a table's watcher watches: over another replica than the one where the table plays, if there
/// is one (a table with affinity plays at the replica of its own number).
fn other_replica(table: usize, watcher: usize, replicas: usize) -> usize {
    match replicas {
        1 => 0,
        _ => (table + 1 + watcher % (replicas - 1)) % replicas,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn watchers_are_elsewhere_than_the_players() {
        for table in 0..6 {
            for watcher in 0..6 {
                assert_ne!(other_replica(table, watcher, 3), table % 3);
                assert_eq!(other_replica(table, watcher, 1), 0);
            }
        }
        let of_table_1: Vec<_> = (0..4).map(|watcher| other_replica(1, watcher, 3)).collect();
        assert_eq!(of_table_1, [2, 0, 2, 0]);
    }
}
