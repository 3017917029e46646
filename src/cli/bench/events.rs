//! How long events take to those who watch.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::latencies::Latencies;
use super::tally::Failures;

/// What was watched.
#[derive(Debug)]
pub(super) struct Events {
    /// Events of calls that were sent from then on are counted.
    from: Instant,
    tally: Mutex<EventTally>,
}

/// What watchers saw.
#[derive(Clone, Debug, Default)]
pub(super) struct EventTally {
    /// From when a call was answered to when a watcher had its event; nothing where that was
    /// earlier.
    pub(super) after_answer: Latencies,
    /// From when the call was sent.
    pub(super) after_call: Latencies,
    /// How often a stream was taken up again that the service had ended at its age.
    pub(super) resumed: u64,
    /// How often a stream failed otherwise.
    pub(super) failures: Failures,
}

impl Events {
    pub(super) fn new(from: Instant) -> Arc<Self> {
        Arc::new(Self { from, tally: Mutex::default() })
    }

    /// What stands.
    pub(super) fn tally(&self) -> std::sync::MutexGuard<'_, EventTally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, at: Instant, played: Played) {
        if played.sent >= self.from {
            let mut tally = self.tally();
            tally.after_answer.record(at.saturating_duration_since(played.answered));
            tally.after_call.record(at - played.sent);
        }
    }
}

/// A game that is watched.
#[derive(Debug)]
pub(super) struct Watched {
    pub(super) game_id: String,
    course: Mutex<Course>,
}

/// What is known of the course of a game.
#[derive(Debug)]
struct Course {
    /// The last revision that was answered.
    last: u64,
    played: HashMap<u64, Played>,
    /// When events came of calls that were not answered yet, by revision.
    early: HashMap<u64, Vec<Instant>>,
    /// How many watchers have the event of the last revision that any has, and since when.
    newest: Reached,
}

/// How far an event has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub(super) revision: u64,
    /// How many watchers have it.
    pub(super) watchers: usize,
    /// When the last of them got it.
    pub(super) at: Instant,
}

/// When a call was made.
#[derive(Clone, Copy, Debug)]
struct Played {
    sent: Instant,
    answered: Instant,
}

impl Watched {
    /// A game that was just created.
    pub(super) fn new(game_id: &str, revision: u64) -> Arc<Self> {
        let course = Course {
            last: revision,
            played: HashMap::new(),
            early: HashMap::new(),
            newest: Reached { revision: 0, watchers: 0, at: Instant::now() },
        };
        Arc::new(Self { game_id: game_id.to_owned(), course: Mutex::new(course) })
    }

    /// Notes a call that was answered, with the revision that it made.
    pub(super) fn played(&self, revision: u64, sent: Instant, answered: Instant, events: &Events) {
        let played = Played { sent, answered };
        let mut course = self.course();
        course.last = course.last.max(revision);
        course.played.insert(revision, played);
        for at in course.early.remove(&revision).unwrap_or_default() {
            events.arrived(at, played);
        }
    }

    /// Notes that a watcher has the event of a revision.
    pub(super) fn seen(&self, revision: u64, at: Instant, events: &Events) {
        let mut course = self.course();
        if revision > course.newest.revision {
            course.newest = Reached { revision, watchers: 0, at };
        }
        if revision == course.newest.revision {
            course.newest.watchers += 1;
            course.newest.at = course.newest.at.max(at);
        }
        match course.played.get(&revision) {
            Some(&played) => events.arrived(at, played),
            None => course.early.entry(revision).or_default().push(at),
        }
    }

    /// How far the newest event has come.
    pub(super) fn newest(&self) -> Reached {
        self.course().newest
    }

    /// The last revision that was answered.
    pub(super) fn last(&self) -> u64 {
        self.course().last
    }

    fn course(&self) -> std::sync::MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How far a watcher is, as others see it.
#[derive(Debug, Default)]
pub(super) struct Place(Mutex<Option<(Arc<Watched>, u64)>>);

impl Place {
    /// The watcher has all of this game up to a revision; 0 is nothing yet.
    pub(super) fn stands(&self, game: &Arc<Watched>, revision: u64) {
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *place = Some((Arc::clone(game), revision));
    }

    /// Whether it watches this game.
    pub(super) fn is_at(&self, game: &Arc<Watched>) -> bool {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().is_some_and(|(at, _)| Arc::ptr_eq(at, game))
    }

    /// Whether it has seen anything of its game.
    pub(super) fn is_taken(&self) -> bool {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().is_some_and(|(_, revision)| *revision > 0)
    }

    /// How many revisions it does not have.
    pub(super) fn behind(&self) -> u64 {
        let place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        place.as_ref().map_or(0, |(game, revision)| game.last().saturating_sub(*revision))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn events_count_from_the_answer_whichever_comes_first() {
        let sent = Instant::now();
        let ms = |count| sent + Duration::from_millis(count);
        let events = Events::new(sent);
        let watched = Watched::new("game", 1);
        watched.seen(2, ms(3), &events);
        watched.played(2, sent, ms(5), &events);
        watched.seen(2, ms(9), &events);
        let tally = events.tally();
        assert_eq!(tally.after_answer.count(), 2);
        let [after_answer, after_call] =
            [&tally.after_answer, &tally.after_call].map(|times| times.percentiles().expect("two"));
        assert!(after_answer.p50 < 0.01, "it came before the answer: {after_answer:?}");
        assert!((after_answer.max - 4.0).abs() < 0.01, "{after_answer:?}");
        assert!((after_call.max - 9.0).abs() < 0.01, "{after_call:?}");
    }

    #[test]
    fn what_a_watcher_lacks_is_missing() {
        let events = Events::new(Instant::now());
        let watched = Watched::new("game", 1);
        let place = Place::default();
        place.stands(&watched, 0);
        assert!(!place.is_taken());
        place.stands(&watched, 1);
        assert!(place.is_taken());
        assert_eq!(place.behind(), 0);
        let now = Instant::now();
        watched.played(2, now, now, &events);
        watched.played(3, now, now, &events);
        assert_eq!(place.behind(), 2);
    }

    #[test]
    fn an_event_is_followed_to_its_last_watcher() {
        let events = Events::new(Instant::now());
        let watched = Watched::new("game", 1);
        let now = Instant::now();
        let later = now + Duration::from_millis(1);
        watched.seen(2, now, &events);
        watched.seen(3, later, &events);
        watched.seen(2, later, &events);
        watched.seen(3, now, &events);
        let Reached { revision, watchers, at } = watched.newest();
        assert_eq!((revision, watchers, at), (3, 2, later));
    }
}
