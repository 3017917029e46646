//! A replica that is told to stop while games are played over it and watched, and while some of its
//! peers say nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::log_entry::Event;
use banqi::api::proto::v1::watch_game_response::Message;
use futures_util::future::join_all;
use prost::Message as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::{Channel, Endpoint};
use tonic_types::StatusExt as _;

use crate::frames::{
    END_HEADERS, HEADERS, call, call_headers, connect, connect_and_send, frame, opening,
};
use crate::players::{self, Played};
use crate::replicas::{COUNT, Replicas, in_time, is_a_break};
use crate::support::PATIENCE;
use crate::support::redis_server::RedisServer;
use crate::support::signal;

const GAMES: usize = 20;
const WATCHES: usize = 1_000;

/// Over how many connections the watches go.
const CONNECTIONS: usize = 4;

/// The replica that is told to stop.
const STOPPED: usize = 0;

/// `--stop-grace`, and how much longer the process may take on a busy machine.
const GRACE: Duration = Duration::from_secs(3);
const SLACK: Duration = Duration::from_secs(2);

/// What a watcher was told.
#[derive(Default)]
struct Told {
    first: Option<u64>,
    after: String,
    events: Vec<v1::LogEntry>,
    /// At how many replicas it has been.
    visits: usize,
    /// How many streams ended with a word of the replica that it stops.
    farewells: usize,
}

impl Told {
    fn note(&mut self, message: Message) {
        match message {
            Message::Snapshot(snapshot) => {
                assert!(self.first.is_none() && !snapshot.history_lost, "a second snapshot");
                let game = snapshot.game.expect("a game");
                self.first = Some(game.revision);
                self.after = game.etag;
            }
            Message::Event(event) => {
                let entry = event.entry.expect("an entry");
                let next = self.first.expect("a snapshot first") + self.events.len() as u64 + 1;
                assert_eq!(entry.revision, next, "every event once and in order");
                self.after.clone_from(&entry.etag);
                self.events.push(entry);
            }
            Message::KeepAlive(_) | Message::Presence(_) => {}
        }
    }
}

/// Watches a game over this connection until it breaks, then elsewhere, until the game has ended.
async fn watch_to_the_end(
    first: Channel,
    replicas: Arc<Replicas>,
    id: String,
    mut random: Xoshiro256PlusPlus,
) -> Told {
    let mut told = Told::default();
    let mut games = GameServiceClient::new(first);
    loop {
        told.visits += 1;
        let after_etag = told.after.clone();
        let request =
            v1::WatchGameRequest { game_id: id.clone(), after_etag, ..Default::default() };
        let ended = match in_time(games.watch_game(request)).await {
            Err(status) => status,
            Ok(stream) => {
                let mut stream = stream.into_inner();
                loop {
                    match stream.message().await {
                        Ok(Some(response)) => {
                            let message = response.message.expect("a message says something");
                            let last = match &message {
                                Message::Snapshot(snapshot) => snapshot.game.as_ref(),
                                Message::Event(event) => event.game.as_ref(),
                                Message::KeepAlive(_) | Message::Presence(_) => None,
                            };
                            let is_over =
                                last.is_some_and(|it| it.state() == v1::GameState::Finished);
                            told.note(message);
                            if is_over {
                                return told;
                            }
                        }
                        Ok(None) => panic!("{id}: a stream ended without a word"),
                        Err(status) => break status,
                    }
                }
            }
        };
        let details = ended.get_error_details();
        if details.error_info().is_some_and(|info| info.reason == "SHUTTING_DOWN") {
            told.farewells += 1;
            let delay = details.retry_info().and_then(|info| info.retry_delay);
            sleep(delay.expect("a delay")).await;
        } else {
            assert!(is_a_break(&ended), "{ended:?}");
            sleep(Duration::from_millis(50)).await;
        }
        games = replicas.games(random.random_range(STOPPED + 1..COUNT));
    }
}

/// The log of a game, which both replicas that go on tell alike.
async fn log(replicas: &Replicas, id: &str) -> Vec<v1::LogEntry> {
    let mut told = Vec::new();
    for replica in STOPPED + 1..COUNT {
        let request =
            v1::GetGameRequest { game_id: id.to_owned(), view: v1::GameView::Full.into() };
        let answer = in_time(replicas.games(replica).get_game(request)).await.expect("a game");
        told.push(answer.into_inner().game.expect("a game").log);
    }
    assert_eq!(told[0], told[1]);
    told.swap_remove(0)
}

/// Checks that all that was acknowledged is in the log, once.
fn check_acknowledged(id: &str, log: &[v1::LogEntry], played: &Played) {
    let mut etags = BTreeSet::new();
    for answer in &played.acknowledged {
        assert!(etags.insert(&answer.etag), "{id}: two requests had one effect: {answer:?}");
        let entry = &log[usize::try_from(answer.revision).expect("few") - 1];
        assert_eq!(entry.etag, answer.etag, "{id}: lost: {answer:?}");
        assert!(matches!(entry.event, Some(Event::Played(_))), "{id}: {entry:?}");
    }
    let played_entries = log.iter().filter(|it| matches!(it.event, Some(Event::Played(_)))).count();
    assert_eq!(played_entries, played.acknowledged.len(), "{id}: nobody else played");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_stops_in_time_under_load_and_nothing_is_lost() {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut fork = || Xoshiro256PlusPlus::seed_from_u64(random.random());
    let redis = tokio::task::spawn_blocking(RedisServer::start).await.expect("it starts");
    let grace = GRACE.as_secs();
    let options = [format!("--store={}", redis.url()), format!("--stop-grace={grace}")];
    let replicas = Replicas::start_with([(); COUNT].map(|()| options.to_vec())).await;

    let mut calm = fork();
    let mut ids = Vec::new();
    for _ in 0..GAMES {
        ids.push(players::create(&replicas, &mut calm).await.id);
    }
    let address = replicas.address(STOPPED);
    let uri = format!("http://{address}");
    let endpoint = Endpoint::from_shared(uri).expect("a URI");
    let channels = join_all((0..CONNECTIONS).map(|_| endpoint.connect())).await;
    let channels: Vec<_> = channels.into_iter().map(|it| it.expect("a connection")).collect();
    let watching: Vec<_> = (0..WATCHES)
        .map(|number| {
            let channel = channels[number % CONNECTIONS].clone();
            let id = ids[number % GAMES].clone();
            let watcher = watch_to_the_end(channel, Arc::clone(&replicas), id, fork());
            AbortOnDropHandle::new(tokio::spawn(watcher))
        })
        .collect();
    // One that says nothing, one that stops in the middle of a frame, and one that asks for a
    // stream and never reads.
    let headers = frame(HEADERS, END_HEADERS, 1, &call_headers("/banqi.v1.GameService/GetGame"));
    let half = [opening(), headers[..headers.len() / 2].to_vec()].concat();
    let request = v1::WatchGameRequest { game_id: ids[0].clone(), ..Default::default() };
    let watch_path = "/banqi.v1.GameService/WatchGame";
    let unread = [opening(), call(1, watch_path, &request.encode_to_vec())].concat();
    let _silent = (
        connect(&address).await,
        connect_and_send(&address, &half).await,
        connect_and_send(&address, &unread).await,
    );

    let (stop, is_stopped) = watch::channel(false);
    let playing = ids.iter().map(|id| {
        let play = players::play(Arc::clone(&replicas), id.clone(), is_stopped.clone(), fork());
        AbortOnDropHandle::new(tokio::spawn(play))
    });
    let playing: Vec<_> = playing.collect();
    until_watched(&replicas).await;
    sleep(Duration::from_secs(1)).await;

    let told_to_stop = Instant::now();
    signal(replicas.process(STOPPED), "TERM");
    let ended = async {
        loop {
            match replicas.exit_status(STOPPED) {
                Some(status) => break status,
                None => sleep(Duration::from_millis(10)).await,
            }
        }
    };
    let status = timeout(GRACE + SLACK, ended).await.expect("it stops within its bound");
    let took = told_to_stop.elapsed();
    assert_eq!(status.code(), Some(0), "{status:?}");

    // All goes on at the others.
    sleep(Duration::from_secs(1)).await;
    stop.send_replace(true);
    let mut played = BTreeMap::new();
    for (id, player) in ids.iter().zip(playing) {
        let player = timeout(PATIENCE, player).await.expect("answered in time");
        played.insert(id.clone(), player.expect("a player holds"));
    }
    for id in &ids {
        let mut random = fork();
        timeout(PATIENCE, players::end(&replicas, id, &mut random)).await.expect("in time");
    }
    let mut logs = BTreeMap::new();
    for id in &ids {
        let log = log(&replicas, id).await;
        check_acknowledged(id, &log, &played[id]);
        logs.insert(id, log);
    }
    let watched = timeout(PATIENCE, join_all(watching)).await.expect("all are told to the end");
    let (mut events, mut farewells) = (0, 0);
    for (number, watcher) in watched.into_iter().enumerate() {
        let told = watcher.expect("a watcher holds");
        let id = &ids[number % GAMES];
        let first = usize::try_from(told.first.expect("a snapshot")).expect("few");
        assert_eq!(told.events, logs[id][first..], "what was told of {id}");
        assert!(told.visits > 1, "every watch was at the replica that stopped");
        events += told.events.len();
        farewells += told.farewells;
    }
    let answered: usize = played.values().map(|it| it.acknowledged.len()).sum();
    let repeated: usize = played.values().map(|it| it.repeated).sum();
    println!(
        "stopped after {took:?}; {answered} answered actions, {repeated} calls repeated; {WATCHES} \
         watches were told {events} events, {farewells} streams ended with SHUTTING_DOWN"
    );
    assert!(answered > 2 * GAMES && repeated > 0, "{answered} answered, {repeated} repeated");
    assert!(farewells >= WATCHES * 9 / 10, "{farewells} of {WATCHES} were told");
}

/// Waits until all watches are open.
async fn until_watched(replicas: &Replicas) {
    let probes = replicas.probes(STOPPED);
    let request = b"GET /metrics HTTP/1.1\r\nhost: probes\r\nconnection: close\r\n\r\n";
    let open = async {
        loop {
            let answer = crate::support::exchange(probes, request).await;
            let watchers = answer.lines().find_map(|line| line.strip_prefix("banqi_watchers "));
            if watchers.is_some_and(|it| it.parse::<usize>().is_ok_and(|it| it > WATCHES)) {
                break;
            }
            sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, open).await.expect("all watch in time");
}
