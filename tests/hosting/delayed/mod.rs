//! A spectator of a DELAYED game, whatever he calls and with whatever etags, is never told more than
//! what was so many turns ago; what that is, an oracle works out from what the platform is told.

mod oracle;
mod scene;
mod spectator;
mod twins;

use std::collections::BTreeMap;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;

use self::oracle::Story;
use self::scene::{Deed, Scene};
use self::spectator::{After, Watch, ask_everything, check_waited, metadata, poll, poll_unchecked};
use crate::table::to_move;
use crate::world::Backing;

/// How much is tried in one game before it is ended, if it has not ended by itself.
const STEPS: usize = 90;

/// How often what happened in the games.
type Coverage = BTreeMap<&'static str, usize>;

/// Plays one game, and has a spectator try everything after each step.
async fn check_game(
    scene: &Scene,
    preset: &str,
    number: u64,
    random: &mut Xoshiro256PlusPlus,
    coverage: &mut Coverage,
) {
    let delay = random.random_range(1..=4);
    let id = scene.create(preset, delay, number, random).await;
    let mut story = Story::begin(&scene.replicas[0], &id, delay).await;
    let mut watches: Vec<Watch> = Vec::new();
    for step in 0.. {
        scene.pass(random.random_range(0..300));
        // Time may have run out by itself.
        story.follow(scene.any(random)).await;
        if story.has_ended() {
            break;
        }
        let deed = match step {
            0..STEPS => Deed::draw(story.last(), random),
            _ if number.is_multiple_of(2) => Deed::sleep(story.last()),
            _ => Deed::Resign(to_move(story.last())),
        };
        let (actor, reader) = (scene.any(random), scene.any(random));
        let before = story.shown();
        let done = deed.send(scene, actor, &id);
        // What cannot be done now changes nothing.
        if random.random_ratio(1, 5) {
            let (wait, etag) = (Duration::from_millis(30), story.states[before].etag.clone());
            let metadata = metadata(random);
            let waiting = poll_unchecked(reader, &id, etag, wait, &metadata);
            let (answer, _) = tokio::join!(waiting, done);
            story.follow(actor).await;
            check_waited(&story, before, answer);
        } else {
            let _ = done.await;
            story.follow(actor).await;
        }
        visit(scene, &story, &mut watches, random).await;
        *coverage.entry("hidden").or_default() += usize::from(story.shown() < story.newest());
    }
    println!(
        "{preset}, {delay} turns late: {} states, {} turns",
        story.states.len(),
        story.turn_ends().len()
    );
    assert_eq!(story.shown(), story.newest(), "in the end all is shown");
    for replica in &scene.replicas {
        ask_everything(replica, &story, &metadata(random), random).await;
    }
    for watch in &mut watches {
        watch.catch_up(&story).await;
    }
    note(&story, coverage);
}

/// What a spectator does after each step.
async fn visit(
    scene: &Scene,
    story: &Story,
    watches: &mut Vec<Watch>,
    random: &mut Xoshiro256PlusPlus,
) {
    for watch in &mut *watches {
        watch.catch_up(story).await;
    }
    // He leaves, and comes back elsewhere.
    if watches.len() == 3 {
        watches.swap_remove(random.random_range(0..3));
    }
    if watches.len() < 2 || random.random_ratio(1, 3) {
        let after = After::draw(story, random);
        let mut watch = Watch::begin(scene.any(random), story, after, &metadata(random)).await;
        watch.catch_up(story).await;
        watches.push(watch);
    }
    ask_everything(scene.any(random), story, &metadata(random), random).await;
    if random.random_ratio(1, 8) {
        for watch in &mut *watches {
            watch.outlast(story).await;
        }
        let after = After::State(random.random_range(story.shown()..=story.newest()));
        let wait = Duration::from_millis(20);
        poll(scene.any(random), story, after, wait, &metadata(random)).await;
    }
}

fn note(story: &Story, coverage: &mut Coverage) {
    for entry in &story.last().log {
        let kind = match entry.event.as_ref().expect("something happened") {
            Event::Joined(_) => "joined",
            Event::EntropyAdded(_) => "entropy",
            Event::Played(_) => "played",
            Event::Resigned(_) => "resigned",
            Event::TimedOut(_) => "timed out",
            Event::DrawOffered(_) => "draw offered",
            Event::DrawAnswered(_) => "draw answered",
            Event::TakebackRequested(_) => "takeback asked",
            Event::TakebackAnswered(answer) if answer.undone_actions > 0 => "taken back",
            Event::SeatTokenReissued(_) => "reissued",
            _ => continue,
        };
        *coverage.entry(kind).or_default() += 1;
    }
    let in_a_chain = |state: &&v1::Game| {
        let position = state.position.as_ref().expect("a position");
        position.chain_from() != v1::Square::Unspecified
    };
    *coverage.entry("chains").or_default() += story.states.iter().filter(in_a_chain).count();
}

const ALWAYS: [&str; 8] = [
    "hidden",
    "played",
    "draw offered",
    "draw answered",
    "takeback asked",
    "taken back",
    "reissued",
    "joined",
];

async fn check_games(backing: Backing, games: u64, preset: &str, seed: u64) -> Coverage {
    println!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let scene = Scene::start(backing).await;
    let mut coverage = Coverage::new();
    for number in 1..=games {
        check_game(&scene, preset, number, &mut random, &mut coverage).await;
    }
    println!("{coverage:?}");
    coverage
}

#[rstest]
#[case("TAIWANESE", 1, &["entropy", "timed out"])]
#[case("TAIWANESE_DARK_CHAIN", 2, &["chains", "timed out"])]
#[case("MAINLAND_EXCHANGE", 3, &["timed out"])]
#[case("DOUBLE_FOUR", 4, &["timed out", "resigned"])]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_late_spectator_never_learns_more_than_what_was_so_many_turns_ago(
    #[case] preset: &str,
    #[case] seed: u64,
    #[case] also: &[&str],
) {
    let coverage = check_games(Backing::Memory, 6, preset, seed).await;
    for kind in ALWAYS.iter().chain(also) {
        assert!(coverage.get(kind).is_some_and(|&count| count > 0), "nothing of `{kind}`");
    }
}

#[rstest]
#[case("TAIWANESE_DARK_CHAIN", 5)]
#[case("DOUBLE_FOUR", 6)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nor_on_redis(#[case] preset: &str, #[case] seed: u64) {
    let coverage = check_games(Backing::Redis, 1, preset, seed).await;
    assert!(coverage["hidden"] > 0);
}
