//! Games that are played and watched while everything goes wrong that can: replicas of the service
//! are killed and stand still, servers of the store die, are replaced, and lose sight of each other, and
//! the network in between is cut, slow, half-closed and silent. All of it by a plan that is drawn
//! from a seed.
//!
//! What is checked after each round of faults:
//! - every action that was answered is in the log, once, or was lost by a failover of which the answer
//!   had said that too few servers had it, or that a replica had it which did not take over
//!   ([`outcome`]); who knows of a lost one is told `history_lost`;
//! - every watcher was told every entry once and in order, or that what it had been told was lost, and
//!   nobody was told so of what stands;
//! - no state is illegal: all replicas tell the same log, the actions in it are legal and do what the
//!   log says, and the deal is the one that was promised;
//! - soon after the last fault all goes on by itself.
//!
//! [`outage`] has the store away for long, [`node_away`] one node of a cluster, and in [`old_primary`]
//! replicas ask a primary that was replaced.

#[allow(dead_code)]
#[path = "../store/deployment/mod.rs"]
mod deployment;
mod network;
mod node_away;
mod old_primary;
mod outage;
mod outcome;
mod plan;
mod players;
#[path = "../watching/replicas.rs"]
mod replicas;
mod servers;
#[path = "../support/mod.rs"]
mod support;
mod watchers;

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use tokio::sync::{Mutex, watch};
use tokio::time::{Instant, timeout};
use tokio_util::task::AbortOnDropHandle;

use crate::outcome::Lost;
use crate::plan::{Case, Count, Fault};
use crate::players::{Acknowledged, Played, Table};
use crate::replicas::Replicas;
use crate::servers::Servers;

const GAMES: usize = 8;
const WATCHERS: usize = 24;

/// Into how many shards the games are spread, which is what `replicas` starts the service with.
const SHARDS: u32 = 16;

/// Within which time after the last fault every call that was under way must have been answered,
/// and every game been read and written again.
const RECOVERY: Duration = Duration::from_secs(5);

fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")))
}

/// One round of every fault; more until `BANQI_CHAOS_SECONDS` have passed:
/// `BANQI_CHAOS_SECONDS=3600 cargo test --test chaos -- --nocapture`. The same plan again:
/// `BANQI_CHAOS_SEED` as it was printed. What comes of a plan differs each time.
#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_unsaid(
    #[values(Case::OneServer, Case::Sentinels, Case::Cluster)] case: Case,
) {
    let seconds = variable("BANQI_CHAOS_SECONDS").unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    let first = variable("BANQI_CHAOS_SEED").unwrap_or_else(rand::random);
    let servers = Servers::start(case).await;
    let options = servers.options().map(|mut options| {
        options.push("--stream-max-age=4".into());
        options
    });
    let servers = Arc::new(Mutex::new(servers));
    let replicas = Replicas::start_with(options).await;
    let mut seed = first;
    loop {
        println!("{case:?}: BANQI_CHAOS_SEED={seed}");
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        play_a_round(case, &replicas, &servers, random).await;
        seed = seed.wrapping_add(1);
        if Instant::now() >= end {
            break;
        }
    }
}

async fn play_a_round(
    case: Case,
    replicas: &Arc<Replicas>,
    servers: &Arc<Mutex<Servers>>,
    mut random: Xoshiro256PlusPlus,
) {
    let begun = Instant::now();
    let mut fork = || Xoshiro256PlusPlus::seed_from_u64(random.random());
    let mut calm = fork();
    let mut tables = Vec::new();
    let mut acknowledged: BTreeMap<String, Vec<Acknowledged>> = BTreeMap::new();
    for _ in 0..GAMES {
        let table = players::create(replicas, &mut calm).await;
        let begun = begin(case, replicas, &table, &mut calm).await;
        acknowledged.insert(table.id.clone(), begun.acknowledged);
        tables.push(table);
    }

    let (stop, is_stopped) = watch::channel(false);
    let (tell_logs, logs) = watch::channel(None);
    let mut watching = Vec::new();
    for number in 0..WATCHERS {
        let id = tables[number % GAMES].id.clone();
        let watcher = watchers::watch_to_the_end(Arc::clone(replicas), id, logs.clone(), fork());
        watching.push(AbortOnDropHandle::new(tokio::spawn(watcher)));
    }
    let mut playing = Vec::new();
    for number in 0..2 * GAMES {
        let id = tables[number % GAMES].id.clone();
        let player = players::play(Arc::clone(replicas), id.clone(), is_stopped.clone(), fork());
        playing.push(async move { (id, AbortOnDropHandle::new(tokio::spawn(player)).await) });
    }
    let playing = tokio::spawn(join_all(playing));
    let happened = plan::carry_out(case, replicas, servers, fork()).await;
    stop.send_replace(true);

    let well = Instant::now();
    let played = timeout(RECOVERY, playing).await.expect("all calls are answered in time");
    let (mut repeated, mut told) = (0, BTreeMap::<String, Vec<String>>::new());
    for (id, player) in played.expect("no panic") {
        let player: Played = player.expect("a player holds");
        told.entry(id.clone()).or_default().extend(player.told);
        acknowledged.entry(id).or_default().extend(player.acknowledged);
        repeated += player.repeated;
    }
    let ending = tables.iter().map(|table| {
        let mut random = fork();
        async move { players::end(replicas, &table.id, &mut random).await }
    });
    let ending: Vec<_> = ending.collect();
    timeout(RECOVERY.saturating_sub(well.elapsed()), join_all(ending))
        .await
        .expect("all games go on in time");
    let recovered = well.elapsed();

    let mut finals = BTreeMap::new();
    for table in &tables {
        finals.insert(table.id.clone(), outcome::final_log(replicas, table).await);
    }
    let finals = Arc::new(finals);
    tell_logs.send_replace(Some(Arc::clone(&finals)));
    let watched = join_all(watching).await;
    let mut losses = 0;
    for (number, watcher) in watched.into_iter().enumerate() {
        let lost = watcher.expect("a watcher holds");
        losses += lost.len();
        let id = &tables[number % GAMES].id;
        outcome::check_losses(id, &finals[id], &acknowledged[id], lost.iter());
    }
    for (id, etags) in &told {
        outcome::check_losses(id, &finals[id], &acknowledged[id], etags.iter());
    }
    let told: usize = told.values().map(Vec::len).sum();

    let mut lost = Lost::default();
    for (id, answers) in &acknowledged {
        let log = &finals[id];
        outcome::check_answers(case, &happened, replicas, id, log, answers, &mut lost).await;
    }
    let answers: usize = acknowledged.values().map(Vec::len).sum();
    let entries: usize = finals.values().map(Vec::len).sum();
    println!(
        "{case:?}: {answers} answered actions, {entries} entries; {lost:?}, \
         watchers were told of {losses} losses, and {told} writes; {repeated} calls repeated; all \
         went on {recovered:?} after the last fault; {:?}; {:?} in all",
        happened.count,
        begun.elapsed()
    );
    check_coverage(case, &happened.count, answers, repeated);
    if !case.may_lose() {
        assert_eq!((losses, told), (0, 0), "nothing may be lost here");
    }
}

/// Plays the first action, which the death of a server does not take back.
async fn begin(
    case: Case,
    replicas: &Replicas,
    table: &Table,
    random: &mut Xoshiro256PlusPlus,
) -> Played {
    let mut played = Played::default();
    let game = players::get(replicas, &table.id, random).await;
    players::act(replicas, &game, &mut played, random).await.expect("nobody else plays");
    let safe = played.acknowledged[0].durability.is_some_and(|it| it.acknowledged >= it.wanted);
    assert!(safe || !case.may_lose(), "{played:?}");
    played
}

/// Checks that there was something to check.
fn check_coverage(case: Case, faults: &Count, answers: usize, repeated: usize) {
    let happened = |fault| faults.get(&fault).is_some_and(|count| *count > 0);
    assert!(happened(Fault::KillReplica) && happened(Fault::PauseReplica), "{faults:?}");
    assert!(case != Case::OneServer || happened(Fault::RestartServer), "{faults:?}");
    assert!(answers > 10 * GAMES && repeated > 0, "{answers} answers, {repeated} repeated");
}
