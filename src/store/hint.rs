//! Hints that a game may have changed: who waits for which, and how a hint reaches him.
//!
//! A hint says no more than what is to be read again. Many hints that come while nobody looks are
//! one hint, so a slow reader makes no memory grow.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

/// What may have changed of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Its record.
    pub record: bool,
    /// Which of its slots are present.
    pub presence: bool,
}

impl Hint {
    /// All of it.
    pub const ALL: Self = Self { record: true, presence: true };
    /// Its record alone.
    pub const RECORD: Self = Self { record: true, presence: false };
    /// Presence alone.
    pub const PRESENCE: Self = Self { record: false, presence: true };
}

/// A place among those who are told when a game may have changed; given up when dropped.
pub struct Subscription {
    receiver: watch::Receiver<Told>,
    /// What was told when it was last looked at.
    seen: Told,
    topic: Arc<str>,
    hints: Arc<Hints>,
}

impl Subscription {
    /// Waits until the game may have changed since this was last called, or since the
    /// subscription began: because a hint came, or because one may have been missed; and says what
    /// is to be read again. Only reading tells whether it has changed. Cancelling the wait loses no
    /// hint.
    pub async fn changed(&mut self) -> Hint {
        self.receiver.changed().await.expect("a topic is kept as long as it has subscribers");
        let seen = std::mem::replace(&mut self.seen, *self.receiver.borrow_and_update());
        Hint {
            record: self.seen.records != seen.records,
            presence: self.seen.presences != seen.presences,
        }
    }

    /// Waits until hints are sure to arrive, and forgets those that came before.
    pub(super) async fn confirmed(&mut self) {
        self.receiver
            .wait_for(|told| told.confirmed)
            .await
            .expect("a topic is kept as long as it has subscribers");
        self.seen = *self.receiver.borrow_and_update();
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription").field("topic", &self.topic).finish_non_exhaustive()
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.hints.leave(&self.topic);
    }
}

/// What the subscribers of a topic are told.
#[derive(Clone, Copy, Debug)]
struct Told {
    /// Whether hints are sure to arrive: whether the server has confirmed the topic on the
    /// connection that now stands.
    confirmed: bool,
    /// How many hints concerned the record. It may begin anew from zero: whoever looks compares it
    /// with what he saw before.
    records: u32,
    /// How many hints concerned presence.
    presences: u32,
}

impl Told {
    fn add(&mut self, hint: Hint) {
        self.records = self.records.wrapping_add(hint.record.into());
        self.presences = self.presences.wrapping_add(hint.presence.into());
    }
}

/// Everybody in this process who waits for hints, and where a store gives them.
#[derive(Debug)]
pub struct Hints {
    origin: Origin,
    topics: Mutex<Topics>,
    unsettled: Notify,
}

/// Where hints come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// From this process: they are sure to arrive.
    Here,
    /// From a server, which is to be told of each topic and confirms it.
    Server,
}

#[derive(Debug, Default)]
struct Topics {
    by_name: HashMap<Arc<str>, Topic>,
    /// Topics that gained their first subscriber or lost their last, of which the server is still
    /// to be told. A set, so it never holds more than there are or were topics.
    unsettled: HashSet<Arc<str>>,
}

#[derive(Debug)]
struct Topic {
    sender: watch::Sender<Told>,
    subscribers: usize,
}

impl Hints {
    /// Hints that are given in this process.
    pub fn given_here() -> Self {
        Self::from(Origin::Here)
    }

    /// Hints that come from a server.
    pub(super) fn from_server() -> Self {
        Self::from(Origin::Server)
    }

    fn from(origin: Origin) -> Self {
        Self { origin, topics: Mutex::default(), unsettled: Notify::new() }
    }

    /// Subscribes to a topic. Where hints come from a server, they are sure to arrive only once
    /// the subscription is confirmed.
    pub fn join(self: &Arc<Self>, name: &str) -> Subscription {
        let mut topics = self.topics();
        let (name, receiver) = match topics.by_name.get_key_value(name) {
            Some((name, topic)) => (Arc::clone(name), topic.sender.subscribe()),
            None => {
                let name: Arc<str> = name.into();
                let confirmed = self.origin == Origin::Here;
                let (sender, receiver) =
                    watch::channel(Told { confirmed, records: 0, presences: 0 });
                topics.by_name.insert(Arc::clone(&name), Topic { sender, subscribers: 0 });
                self.unsettle(&mut topics, &name);
                (name, receiver)
            }
        };
        topics.by_name.get_mut(&name).expect("just found or put there").subscribers += 1;
        let seen = *receiver.borrow();
        Subscription { receiver, seen, topic: name, hints: Arc::clone(self) }
    }

    fn leave(&self, name: &Arc<str>) {
        let mut topics = self.topics();
        let topic = topics.by_name.get_mut(name).expect("it has this subscriber");
        topic.subscribers -= 1;
        if topic.subscribers == 0 {
            topics.by_name.remove(name);
            self.unsettle(&mut topics, name);
        }
    }

    /// Notes that the server is to be told of a topic.
    fn unsettle(&self, topics: &mut Topics, name: &Arc<str>) {
        if self.origin == Origin::Server {
            topics.unsettled.insert(Arc::clone(name));
            self.unsettled.notify_one();
        }
    }

    /// Tells the subscribers of a topic, if there are any, what may have changed.
    pub fn give(&self, topic: &str, hint: Hint) {
        if let Some(topic) = self.topics().by_name.get(topic) {
            topic.sender.send_modify(|told| told.add(hint));
        }
    }

    /// Marks a topic as confirmed, and tells its subscribers that they may have missed something
    /// until now.
    pub(super) fn confirm(&self, topic: &str) {
        if let Some(topic) = self.topics().by_name.get(topic) {
            topic.sender.send_modify(|told| {
                told.confirmed = true;
                told.add(Hint::ALL);
            });
        }
    }

    /// Takes confirmations back, since the connection that had them is gone. Nobody is woken:
    /// reading would be of no use before hints arrive again.
    pub(super) fn unconfirm<'a>(&self, names: impl IntoIterator<Item = &'a Arc<str>>) {
        let topics = self.topics();
        for topic in names.into_iter().filter_map(|name| topics.by_name.get(name)) {
            topic.sender.send_if_modified(|told| {
                told.confirmed = false;
                false
            });
        }
    }

    /// Waits until the server is to be told of topics.
    pub(super) async fn wait_until_unsettled(&self) {
        loop {
            let notified = self.unsettled.notified();
            if !self.topics().unsettled.is_empty() {
                return;
            }
            notified.await;
        }
    }

    /// Takes up to `limit` topics of which the server is to be told, each with whether it has
    /// subscribers.
    pub(super) fn take_unsettled(&self, limit: usize) -> Vec<(Arc<str>, bool)> {
        let mut topics = self.topics();
        let Topics { by_name, unsettled } = &mut *topics;
        let taken: Vec<Arc<str>> = unsettled.iter().take(limit).cloned().collect();
        taken
            .into_iter()
            .map(|name| {
                unsettled.remove(&name);
                let wanted = by_name.contains_key(&name);
                (name, wanted)
            })
            .collect()
    }

    fn topics(&self) -> MutexGuard<'_, Topics> {
        // Nothing that holds the lock leaves it half-changed, whatever panics.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    fn is_told(subscription: &Subscription) -> bool {
        subscription.receiver.has_changed().expect("the topic is kept")
    }

    #[tokio::test]
    async fn a_hint_reaches_every_subscriber_of_its_topic_only() {
        let hints = Arc::new(Hints::given_here());
        let mut first = hints.join("a");
        let second = hints.join("a");
        let other = hints.join("b");
        hints.give("a", Hint::RECORD);
        hints.give("a", Hint::RECORD);
        assert_eq!(first.changed().await, Hint::RECORD);
        assert!(!is_told(&first), "two hints that nobody looked at are one");
        assert!(is_told(&second));
        assert!(!is_told(&other));
    }

    #[tokio::test]
    async fn a_hint_says_what_may_have_changed() {
        let hints = Arc::new(Hints::given_here());
        let mut subscription = hints.join("a");
        hints.give("a", Hint::PRESENCE);
        assert_eq!(subscription.changed().await, Hint::PRESENCE);
        hints.give("a", Hint::RECORD);
        assert_eq!(subscription.changed().await, Hint::RECORD);
        hints.give("a", Hint::PRESENCE);
        hints.give("a", Hint::RECORD);
        assert_eq!(subscription.changed().await, Hint::ALL, "both, while nobody looked");
    }

    #[test]
    fn a_topic_is_given_up_with_its_last_subscriber() {
        let hints = Arc::new(Hints::from_server());
        let first = hints.join("a");
        let second = hints.join("a");
        assert_eq!(hints.take_unsettled(10), [("a".into(), true)]);
        drop(first);
        assert_eq!(hints.take_unsettled(10), []);
        drop(second);
        assert_eq!(hints.take_unsettled(10), [("a".into(), false)]);
        assert!(hints.topics().by_name.is_empty());
    }

    #[test]
    fn where_there_is_no_server_nobody_is_to_be_told() {
        let hints = Arc::new(Hints::given_here());
        drop(hints.join("a"));
        assert_eq!(hints.take_unsettled(10), []);
    }

    #[test]
    fn a_lost_connection_is_told_when_hints_arrive_again() {
        let hints = Arc::new(Hints::from_server());
        let mut subscription = hints.join("a");
        hints.confirm("a");
        subscription.confirmed().now_or_never().expect("it is confirmed");
        hints.unconfirm([&"a".into(), &"b".into()]);
        assert!(!is_told(&subscription));
        assert_eq!(subscription.confirmed().now_or_never(), None);
        hints.confirm("a");
        assert!(is_told(&subscription));
        assert_eq!(subscription.changed().now_or_never(), Some(Hint::ALL), "whatever it missed");
    }
}
