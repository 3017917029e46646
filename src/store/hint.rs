//! Hints that a game may have changed: who waits for which, and how a hint reaches him.
//!
//! A hint carries nothing but itself. Many hints that come while nobody looks are one hint, so a
//! slow reader makes no memory grow.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, watch};

/// A place among those who are told when a game may have changed; given up when dropped.
pub struct Subscription {
    receiver: watch::Receiver<Confirmed>,
    topic: Arc<str>,
    hints: Arc<Hints>,
}

impl Subscription {
    /// Waits until the game may have changed since this was last called, or since the
    /// subscription began: because a hint came, or because one may have been missed. Only reading
    /// the game tells whether it has. Cancelling the wait loses no hint.
    pub async fn changed(&mut self) {
        self.receiver.changed().await.expect("a topic is kept as long as it has subscribers");
    }

    /// Waits until hints are sure to arrive, and forgets those that came before.
    pub(super) async fn confirmed(&mut self) {
        self.receiver
            .wait_for(|confirmed| confirmed.0)
            .await
            .expect("a topic is kept as long as it has subscribers");
        self.receiver.mark_unchanged();
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

/// Whether hints on a topic are sure to arrive: whether the server has confirmed it on the
/// connection that now stands.
#[derive(Clone, Copy, Debug)]
struct Confirmed(bool);

/// Everybody in this process who waits for hints.
#[derive(Debug)]
pub(super) struct Hints {
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
    sender: watch::Sender<Confirmed>,
    subscribers: usize,
}

impl Hints {
    /// Hints that are given in this process.
    pub(super) fn given_here() -> Self {
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
    pub(super) fn join(self: &Arc<Self>, name: &str) -> Subscription {
        let mut topics = self.topics();
        let (name, receiver) = match topics.by_name.get_key_value(name) {
            Some((name, topic)) => (Arc::clone(name), topic.sender.subscribe()),
            None => {
                let name: Arc<str> = name.into();
                let (sender, receiver) = watch::channel(Confirmed(self.origin == Origin::Here));
                topics.by_name.insert(Arc::clone(&name), Topic { sender, subscribers: 0 });
                self.unsettle(&mut topics, &name);
                (name, receiver)
            }
        };
        topics.by_name.get_mut(&name).expect("just found or put there").subscribers += 1;
        Subscription { receiver, topic: name, hints: Arc::clone(self) }
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

    /// Tells the subscribers of a topic, if there are any.
    pub(super) fn hint(&self, topic: &str) {
        if let Some(topic) = self.topics().by_name.get(topic) {
            topic.sender.send_modify(|_| {});
        }
    }

    /// Marks a topic as confirmed, and tells its subscribers that they may have missed something
    /// until now.
    pub(super) fn confirm(&self, topic: &str) {
        if let Some(topic) = self.topics().by_name.get(topic) {
            topic.sender.send_modify(|confirmed| confirmed.0 = true);
        }
    }

    /// Forgets all confirmations, since the connection that had them is gone: every topic that
    /// has subscribers is to be settled again.
    pub(super) fn unconfirm_all(&self) {
        let mut topics = self.topics();
        let Topics { by_name, unsettled } = &mut *topics;
        unsettled.clear();
        for (name, topic) in by_name {
            // Nobody is woken: reading would be of no use before hints arrive again.
            topic.sender.send_if_modified(|confirmed| {
                confirmed.0 = false;
                false
            });
            unsettled.insert(Arc::clone(name));
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
        hints.hint("a");
        hints.hint("a");
        first.changed().await;
        assert!(!is_told(&first), "two hints that nobody looked at are one");
        assert!(is_told(&second));
        assert!(!is_told(&other));
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
        hints.unconfirm_all();
        assert!(!is_told(&subscription));
        assert_eq!(hints.take_unsettled(10), [("a".into(), true)]);
        hints.confirm("a");
        assert!(is_told(&subscription));
    }
}
