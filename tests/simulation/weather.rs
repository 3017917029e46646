//! What happens to each call on its way to the store and back.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use banqi::game::GameId;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use rand::{Rng, RngExt as _};

use crate::random::random_for;

/// How long a replica waits for the store.
pub(crate) const DEADLINE: Duration = Duration::from_secs(2);

/// What happens to one call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fate {
    /// How long it takes to the store. Longer than the deadline: it has its effect when nobody
    /// waits for it any more.
    pub(crate) there: Duration,
    pub(crate) back: Duration,
    pub(crate) failure: Option<Failure>,
}

/// How a call fails.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// It does not reach the store.
    Before,
    /// It has its effect, and the answer is lost.
    After,
}

/// How bad things are in one run, in thousandths of all calls, and milliseconds.
#[derive(Clone, Copy, Debug)]
struct Levels {
    slowest: u64,
    failing: u32,
    unanswered: u32,
    late: u32,
    hints_lost: u32,
    slowest_hint: u64,
}

impl Levels {
    fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        fn one<T: Copy>(of: &[T], random: &mut Xoshiro256PlusPlus) -> T {
            *of.choose(random).expect("there is one")
        }
        Self {
            slowest: one(&[1, 5, 40, 400], random),
            failing: one(&[0, 0, 20, 100], random),
            unanswered: one(&[0, 20, 100], random),
            late: one(&[0, 0, 5, 30], random),
            hints_lost: one(&[0, 100, 500, 1000], random),
            slowest_hint: one(&[1, 30, 500], random),
        }
    }
}

/// The calls that have a course of their own: those of one kind by one replica about one game. What
/// happens to them does not depend on what happens elsewhere at the same time.
type Line = (usize, &'static str, Option<GameId>);

/// Decides what happens to calls.
#[derive(Debug)]
pub(crate) struct Weather {
    seed: u64,
    levels: Levels,
    calm: AtomicBool,
    lines: Mutex<HashMap<Line, Xoshiro256PlusPlus>>,
}

impl Weather {
    pub(crate) fn new(seed: u64) -> Self {
        let levels = Levels::draw(&mut random_for(seed, "levels"));
        Self { seed, levels, calm: AtomicBool::new(false), lines: Mutex::default() }
    }

    /// From now on nothing fails, and nothing takes time.
    pub(crate) fn calm_down(&self) {
        self.calm.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::SeqCst)
    }

    /// What happens to the next call of a kind by a replica.
    pub(crate) fn fate(&self, replica: usize, call: &'static str, game: Option<&GameId>) -> Fate {
        if self.is_calm() {
            return Fate::default();
        }
        self.draw((replica, call, game.cloned()), |levels, random| {
            let mut delay = |slowest| Duration::from_millis(random.random_range(0..=slowest));
            let (there, back) = (delay(levels.slowest), delay(levels.slowest));
            let drawn = random.random_range(0..1000);
            let failing = levels.failing;
            let unanswered = failing + levels.unanswered;
            let late = unanswered + levels.late;
            let failure = match drawn {
                drawn if drawn < failing => Some(Failure::Before),
                drawn if drawn < unanswered => Some(Failure::After),
                _ => None,
            };
            let is_late = (unanswered..late).contains(&drawn);
            let there = if is_late { DEADLINE + there } else { there };
            Fate { there, back, failure }
        })
    }

    /// When a replica hears of a write; `None` for never.
    pub(crate) fn hint(&self, replica: usize, game: &GameId) -> Option<Duration> {
        if self.is_calm() {
            return Some(Duration::ZERO);
        }
        self.draw((replica, "hint", Some(game.clone())), |levels, random| {
            let delay = Duration::from_millis(random.random_range(0..=levels.slowest_hint));
            (!random.random_ratio(levels.hints_lost, 1000)).then_some(delay)
        })
    }

    /// Whether something happens that a planted fault does in so many of a hundred cases.
    pub(crate) fn is_hit(&self, line: &'static str, game: &GameId, percent: u32) -> bool {
        self.draw((0, line, Some(game.clone())), |_, random| random.random_ratio(percent, 100))
    }

    fn draw<T>(&self, line: Line, draw: impl FnOnce(&Levels, &mut Xoshiro256PlusPlus) -> T) -> T {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let seed = self.seed;
        let random = lines.entry(line).or_insert_with_key(|line| random_for(seed, line));
        // So that whatever is drawn for one call, the next is drawn from the same place.
        let mut own = random_for(random.next_u64(), "call");
        draw(&self.levels, &mut own)
    }
}
