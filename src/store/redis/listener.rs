//! Listening to the channels that somebody waits for, each at the server that has its slot.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::access::HostPort;
use super::ear::Ear;
use super::map::SlotMap;
use super::servers::Servers;
use super::slot::Slot;
use crate::store::hint::Hints;

/// How many topics are handed to ears at once.
const BATCH: usize = 1_000;

/// Listens to the channels that somebody waits for.
pub(super) fn listen(servers: Arc<Servers>, hints: Arc<Hints>) -> AbortOnDropHandle<()> {
    let listener = Listener {
        map: servers.map(),
        servers,
        hints,
        ears: HashMap::new(),
        homes: HashMap::new(),
        homeless: HashSet::new(),
    };
    AbortOnDropHandle::new(tokio::spawn(listener.keep_sorting()))
}

struct Listener {
    map: watch::Receiver<Arc<SlotMap>>,
    servers: Arc<Servers>,
    hints: Arc<Hints>,
    ears: HashMap<HostPort, Arc<Ear>>,
    /// For each topic the ear that listens to it.
    homes: HashMap<Arc<str>, Arc<Ear>>,
    /// Topics whose server is not known.
    homeless: HashSet<Arc<str>>,
}

impl Listener {
    /// Hands each topic to the ear at its server, and to another when its slot moves, for ever.
    async fn keep_sorting(mut self) {
        let hints = Arc::clone(&self.hints);
        let mut changes = self.map.clone();
        loop {
            tokio::select! {
                () = hints.wait_until_unsettled() => {
                    for (topic, wanted) in hints.take_unsettled(BATCH) {
                        if wanted { self.house(topic) } else { self.forget(&topic) }
                    }
                }
                changed = changes.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.rehouse();
                }
            }
        }
    }

    fn house(&mut self, topic: Arc<str>) {
        let server = self.map.borrow().server(Slot::of(&topic)).cloned();
        let Some(server) = server else {
            self.homeless.insert(topic);
            self.servers.doubt_map();
            return;
        };
        let ear = match self.ears.get(&server) {
            Some(ear) => Arc::clone(ear),
            None => {
                let (servers, hints) = (Arc::clone(&self.servers), Arc::clone(&self.hints));
                let ear = Arc::new(Ear::at(server.clone(), servers, hints));
                self.ears.insert(server, Arc::clone(&ear));
                ear
            }
        };
        ear.order(&topic, true);
        self.homes.insert(topic, ear);
    }

    fn forget(&mut self, topic: &Arc<str>) {
        self.homeless.remove(topic);
        if let Some(ear) = self.homes.remove(topic) {
            ear.order(topic, false);
        }
    }

    /// Moves topics to where their slots are now.
    fn rehouse(&mut self) {
        let map = Arc::clone(&self.map.borrow());
        let moved: HashSet<Arc<str>> = self
            .homes
            .iter()
            .filter(|(topic, ear)| map.server(Slot::of(topic)) != Some(ear.server()))
            .map(|(topic, _)| Arc::clone(topic))
            .collect();
        self.hints.unconfirm(&moved);
        for topic in &moved {
            self.forget(topic);
        }
        self.ears.retain(|server, _| map.servers().contains(server));
        for topic in moved.into_iter().chain(std::mem::take(&mut self.homeless)) {
            self.house(topic);
        }
    }
}
