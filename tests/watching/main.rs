//! Many watchers over three replicas that are killed, on a store whose hints get lost: every watcher
//! sees every event once, in order; and the feed of lives tells each life.

mod feed;
mod players;
mod replicas;
mod slow_readers;
mod store_proxy;
#[path = "../support/mod.rs"]
mod support;
mod watchers;

use std::collections::BTreeMap;
use std::env;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all, join3};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::task::AbortOnDropHandle;

use crate::players::play_until;
use crate::replicas::Replicas;
use crate::store_proxy::StoreProxy;
use crate::support::redis_server::RedisServer;
use crate::watchers::{watch_on_one_stream, watch_to_the_end};

const GAMES: usize = 20;
const WATCHERS: usize = 200;

/// How old streams become, in seconds: they also end by their age.
const STREAM_AGE: u32 = 4;

/// For how long games are played: 5 seconds, unless `BANQI_WATCHING_SECONDS` says otherwise.
fn length() -> Duration {
    let seconds = env::var("BANQI_WATCHING_SECONDS").ok();
    let seconds = seconds.map_or(5.0, |text| text.parse().expect("a number of seconds"));
    Duration::from_secs_f64(seconds)
}

/// What happens to the store's hints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hints {
    /// They arrive.
    Kept,
    /// The connections that they arrive on are cut again and again.
    Cut,
    /// Half of them are lost on the way.
    Lost,
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_watcher_sees_every_event_once_in_order(
    #[values(Hints::Kept, Hints::Cut, Hints::Lost)] hints: Hints,
) {
    let seed: u64 = rand::random();
    println!("seed {seed} (of what is done, not of what comes of it)");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let redis = Arc::new(RedisServer::start());
    let dropped = if hints == Hints::Lost { 50 } else { 0 };
    let proxy = StoreProxy::to(redis.port(), dropped).await;
    let replicas = Replicas::start(&proxy.url(), STREAM_AGE).await;

    let end = Instant::now() + length();
    let mut games = Vec::new();
    // One that nobody plays, so that the clock of one runs out in any case; and one whose players do
    // what the others may not come to.
    games.push(players::create_begun(&replicas, true, &mut random).await);
    games.push(players::create_begun(&replicas, false, &mut random).await);
    while games.len() < GAMES {
        games.push(players::create(&replicas, &mut random).await);
    }
    let (tell_logs, logs) = watch::channel(None);
    let watching = (0..WATCHERS).map(|number| {
        let game = games[number % GAMES].clone();
        let random = Xoshiro256PlusPlus::seed_from_u64(random.random());
        tokio::spawn(watch_to_the_end(Arc::clone(&replicas), game, logs.clone(), random))
    });
    let watching: Vec<_> = watching.map(AbortOnDropHandle::new).collect();
    let feed =
        feed::read(Arc::clone(&replicas), Xoshiro256PlusPlus::seed_from_u64(random.random()));
    let trouble = trouble(&replicas, &redis, hints, end, random.random());
    let bargaining =
        players::bargain(&replicas, &games[1], Xoshiro256PlusPlus::seed_from_u64(random.random()));
    let playing = join_all(games.iter().skip(2).map(|game| {
        let random = Xoshiro256PlusPlus::seed_from_u64(random.random());
        play_until(Arc::clone(&replicas), game.clone(), end, random)
    }));
    let story = async {
        let (rematches, kills, ()) = join3(playing, trouble, bargaining).await;
        // The last word on each game is said: it has ended, and nobody asks for anything more.
        let all = games.iter().cloned().chain(rematches.into_iter().flatten());
        let mut told = BTreeMap::new();
        for id in all {
            told.insert(id.clone(), players::end(&replicas, &id).await);
        }
        let mut logs = BTreeMap::new();
        for (id, game) in &told {
            logs.insert(id.clone(), game.log.clone());
        }
        tell_logs.send_replace(Some(Arc::new(logs)));
        (told, kills)
    };
    let ((told, kills), breaks) = join(story, join_all(watching)).await;
    let breaks: usize = breaks.into_iter().map(|watcher| watcher.expect("a watcher holds")).sum();
    let events: usize = told.values().map(|game| game.log.len()).sum();
    println!(
        "{} games with {events} events, {breaks} breaks of {WATCHERS} watchers, {kills} replicas \
         killed, {} hints dropped",
        told.len(),
        proxy.dropped()
    );
    assert!(breaks >= WATCHERS && kills > 0, "there was trouble");
    assert!(hints != Hints::Lost || proxy.dropped() > 0, "hints were lost");
    players::check_coverage(told.values());
    feed.check(&told).await;
}

/// Nobody connects again here, so it is the service that must find what it was not told of.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn news_whose_hints_are_all_lost_come_all_the_same() {
    let redis = RedisServer::start();
    let proxy = StoreProxy::to(redis.port(), 100).await;
    let replicas = Replicas::start(&proxy.url(), 0).await;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let id = players::create(&replicas, &mut random).await;
    let (tell_logs, logs) = watch::channel(None);
    let watching = (0..replicas::COUNT)
        .map(|replica| watch_on_one_stream(&replicas, replica, &id, logs.clone()));
    let play = async {
        let end = Instant::now() + Duration::from_secs(1);
        play_until(Arc::clone(&replicas), id.clone(), end, random).await;
        let game = players::end(&replicas, &id).await;
        tell_logs.send_replace(Some(Arc::new([(id.clone(), game.log)].into())));
    };
    join(play, join_all(watching)).await;
    assert!(proxy.dropped() > 0, "hints were lost");
}

/// Kills replicas, and cuts what hints arrive on, until the end; answers how many replicas were killed.
async fn trouble(
    replicas: &Replicas,
    redis: &RedisServer,
    hints: Hints,
    end: Instant,
    seed: u64,
) -> usize {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut kills = 0;
    let mut connection = redis.connection().await;
    while Instant::now() < end {
        for _ in 0..10 {
            sleep(Duration::from_millis(random.random_range(50..150))).await;
            if hints == Hints::Cut {
                let mut kill = redis::cmd("CLIENT");
                kill.arg("KILL").arg("TYPE").arg("pubsub");
                let _: u32 = kill.query_async(&mut connection).await.expect("an answer");
            }
        }
        replicas.kill_and_restart(random.random_range(0..replicas::COUNT)).await;
        kills += 1;
    }
    kills
}
