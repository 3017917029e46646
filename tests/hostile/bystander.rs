//! A client that keeps to the rules and calls while others flood.

use std::thread;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use tokio::runtime;
use tokio::sync::watch;
use tokio::task::block_in_place;
use tokio::time::{Instant, timeout};

use crate::support::memory;
use crate::target::{State, Target, create};

/// What one call in a hundred may take at most while a flood goes on; what every one may.
const MOST_OF_99: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_secs(5);

/// How long a flood lasts at least that is over fast, so that others call while it goes on.
pub(crate) const LASTS: Duration = Duration::from_secs(2);

/// What a client saw while others flooded.
#[derive(Debug)]
pub(crate) struct Seen {
    /// How long calls took, the shortest first.
    took: Vec<Duration>,
    /// The most bytes of memory that the service had.
    memory: u64,
}

/// Floods, while another client plays over fresh connections and looks at the probes, and until it
/// has done so a few times; checks that it was served, and answers what the flood came to.
pub(crate) fn flood<T>(
    target: &Target,
    name: &str,
    before: State,
    most_memory: u64,
    flood: impl Future<Output = T>,
) -> T {
    let (stop, stopped) = watch::channel(false);
    // On a thread of its own, so that it waits for the service and not for the flood's own work.
    let play = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(play(target, stopped))
    };
    let (came_to, seen) = block_in_place(|| {
        thread::scope(|scope| {
            let playing = scope.spawn(play);
            let came_to = runtime::Handle::current().block_on(flood);
            stop.send_replace(true);
            (came_to, playing.join().expect("it was served"))
        })
    });
    let p99 = seen.took[seen.took.len() * 99 / 100];
    let grown = seen.memory.saturating_sub(before.memory);
    println!(
        "{name}: {} calls, p99 {p99:?}, slowest {:?}; memory grew by {} KiB",
        seen.took.len(),
        seen.took.last().expect("there are some"),
        grown / 1024
    );
    assert!(p99 <= MOST_OF_99, "{name}: p99 {p99:?}");
    assert!(grown <= most_memory, "{name}: memory grew by {grown} bytes, at most {most_memory}");
    came_to
}

/// Plays a short game again and again until it is told to stop, and at least five times.
async fn play(target: &Target, stopped: watch::Receiver<bool>) -> Seen {
    let mut seen = Seen { took: Vec::new(), memory: 0 };
    let mut rounds = 0;
    while rounds < 5 || !*stopped.borrow() {
        rounds += 1;
        for path in ["/livez", "/readyz"] {
            let answer = seen.time(path, target.probe(path)).await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
        }
        let channel = seen.time("connecting", target.channel()).await;
        let mut games = GameServiceClient::new(channel);
        let mut game = seen.time("CreateGame", create(&mut games)).await;
        for _ in 0..4 {
            let request = v1::PlayActionRequest {
                game_id: game.game_id.clone(),
                seat: game.position.as_ref().expect("a position").to_move,
                action: game.legal_actions[0].text.clone(),
                ..Default::default()
            };
            let played = seen.time("PlayAction", games.play_action(request)).await;
            game = played.expect("played").into_inner().game.expect("a game");
            let request =
                v1::GetGameRequest { game_id: game.game_id.clone(), ..Default::default() };
            seen.time("GetGame", games.get_game(request)).await.expect("a game");
        }
        seen.memory = seen.memory.max(memory(target.replica.id()));
    }
    seen.took.sort();
    seen
}

impl Seen {
    async fn time<T>(&mut self, name: &str, call: impl Future<Output = T>) -> T {
        let begun = Instant::now();
        let answer = timeout(MOST, call).await;
        self.took.push(begun.elapsed());
        answer.unwrap_or_else(|_| panic!("{name} was not answered within {MOST:?}"))
    }
}
