//! What a game costs in Redis (docs/performance.md).

#[path = "support/redis_server.rs"]
#[allow(dead_code, reason = "what tests of other things do with a server")]
mod redis_server;

use banqi::game::{
    Command, DealSource, Game, GameKey, History, Limits, Millis, NewGame, NewSeat, Request,
    Seating, ServerSeed, Spectators, TimeControl, decide,
};
use banqi::rules::Preset;
use banqi::store::codec::{self, IndexChange, IndexTask};
use banqi::store::{self, Change, Commit, IndexEntry, Options, Outcome, Write};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use redis::aio::MultiplexedConnection;
use redis_server::RedisServer;

/// The most bytes that the key of a game may take, as `MEMORY USAGE` tells it: one that was just
/// created, and one of 200 turns.
const FRESH: usize = 600;
const OF_200_TURNS: usize = 1_690;

/// How many games are looked at.
const GAMES: usize = 16;

const NOW: Millis = Millis(1_767_225_600_000);

fn create(random: &mut StdRng) -> Game {
    let uuid = |random: &mut StdRng| {
        uuid::Builder::from_random_bytes(random.random()).into_uuid().to_string()
    };
    let player = |random: &mut StdRng| NewSeat::Assigned(uuid(random).parse().ok());
    let new = NewGame {
        id: uuid(random).parse().expect("an id"),
        rules: Preset::Taiwanese.rules(),
        seats: vec![player(random), player(random)],
        seating: Seating::AsGiven,
        deal: DealSource::Derived(ServerSeed::new(random.random())),
        key: GameKey::new(random.random()),
        origin: History(random.random()),
        entropy_required: false,
        spectators: Spectators::Open,
        time_control: TimeControl::default(),
        labels: Default::default(),
        request: Some(Request::new(b"caller", None, "create", b"body")),
    };
    Game::create(new, NOW).expect("a game")
}

/// A game that was just created, and the same game after 200 turns. Every action has a request id
/// and comes half a second to half a minute after the one before.
fn two_ages(seed: u64) -> Option<(Game, Game)> {
    let mut random = StdRng::seed_from_u64(seed);
    let fresh = create(&mut random);
    let (mut game, mut now) = (fresh.clone(), NOW);
    while game.position().turn_number() <= 200 {
        let actions = game.referee().legal_actions();
        let action = *actions.get(random.random_range(0..actions.len().max(1)))?;
        let seat = game.position().to_move();
        now = Millis(now.0 + random.random_range(500..30_000));
        let change = decide(&game, &Command::Play { seat, action }, now, &Limits::default());
        let request = Request::new(&[seat.number()], Some(seat), &now.0.to_string(), b"body");
        game = game.after(&change.expect("it is legal"), Some(request)).expect("it can be done");
    }
    (game.outcome().is_none()).then_some((fresh, game))
}

/// Writes a game, and tells the bytes of one key of its shard.
struct Shelf {
    store: std::sync::Arc<dyn store::Store>,
    redis: MultiplexedConnection,
}

impl Shelf {
    async fn put(&self, game: &Game, before: Option<&Game>) {
        let shard = self.store.shards().shard_of(game.id());
        let schedule = game.schedule(&Limits::default());
        let write = Write {
            game: game.id().clone(),
            expected: before.map(Game::version),
            change: Change::Put {
                record: codec::write(game.stored()),
                deadline: schedule.deadline,
                expiry: schedule.keep,
            },
        };
        let present = self.store.now(shard).await.expect("the time");
        let mut commit = Commit::new(self.store.shards(), present, write);
        if before.is_none() {
            for player in game.seats().filter_map(|seat| game.player(seat)) {
                let entry = IndexEntry { created: game.created_at(), game: game.id().clone() };
                let task = IndexTask { change: IndexChange::Add, player: player.clone(), entry };
                commit = commit.with_outbox_entry(task.to_bytes());
            }
            let entry = IndexEntry { created: game.created_at(), game: game.id().clone() };
            commit = commit.with_listed(entry);
        }
        let outcome = self.store.commit(&commit).await.expect("an answer");
        assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    }

    async fn bytes(&self, game: &Game, key: &str) -> usize {
        let shard = self.store.shards().shard_of(game.id());
        let key = format!("banqi:{{{shard}}}:{key}");
        let mut redis = self.redis.clone();
        let mut command = redis::cmd("MEMORY");
        let bytes: Option<usize> =
            command.arg("USAGE").arg(&key).query_async(&mut redis).await.expect("an answer");
        bytes.unwrap_or_else(|| panic!("{key} is not there"))
    }
}

#[tokio::test]
async fn a_game_is_small_in_redis() {
    let server = RedisServer::start();
    let store = store::open(&server.url(), Options::default()).await.expect("a store");
    let shelf = Shelf { store, redis: server.connection().await };
    for (fresh, played) in (1..).filter_map(two_ages).take(GAMES) {
        shelf.put(&fresh, None).await;
        let bytes = shelf.bytes(&fresh, &format!("game:{}", fresh.id())).await;
        let value = codec::write(fresh.stored()).stored_length();
        println!(
            "fresh: {bytes} bytes of memory, {value} of value; its shard's clock {}, deadlines {}, \
             outbox {}, games {}",
            shelf.bytes(&fresh, "clock").await,
            shelf.bytes(&fresh, "deadlines").await,
            shelf.bytes(&fresh, "outbox").await,
            shelf.bytes(&fresh, "games").await,
        );
        assert!(bytes <= FRESH, "{bytes} bytes for a fresh game; at most {FRESH}");

        shelf.put(&played, Some(&fresh)).await;
        let bytes = shelf.bytes(&played, &format!("game:{}", played.id())).await;
        let value = codec::write(played.stored()).stored_length();
        println!("200 turns: {bytes} bytes of memory, {value} of value");
        assert!(bytes <= OF_200_TURNS, "{bytes} bytes for 200 turns; at most {OF_200_TURNS}");
    }
}

/// What the lists and deadlines of so many games take, and what a page of all of them costs.
#[tokio::test]
#[ignore = "a measurement: cargo test --release --test redis_memory -- --ignored --nocapture"]
async fn what_lists_cost() {
    let server = RedisServer::start();
    let store = store::open(&server.url(), Options::default()).await.expect("a store");
    let mut redis = server.connection().await;
    let mut random = StdRng::seed_from_u64(1);
    let mut listed = 0_u64;
    for games in [10_000_u64, 100_000, 1_000_000] {
        let before = info(&mut redis, "memory", "used_memory:").await;
        let added = games - listed;
        while listed < games {
            let mut pipeline = redis::Pipeline::with_capacity(1_000);
            for _ in 0..1_000 {
                let uuid = uuid::Builder::from_random_bytes(random.random()).into_uuid();
                let id = uuid.to_string().parse().expect("an id");
                let shard = store.shards().shard_of(&id);
                let member = format!("{:016x}{id}", NOW.0 + listed * 37);
                let key = format!("banqi:{{{shard}}}:games");
                pipeline.cmd("ZADD").arg(key).arg(0).arg(member).ignore();
                listed += 1;
            }
            pipeline.query_async::<()>(&mut redis).await.expect("added");
        }
        let memory = info(&mut redis, "memory", "used_memory:").await - before;
        let cpu = info(&mut redis, "cpu", "used_cpu_user:").await;
        let begun = tokio::time::Instant::now();
        let mut last = None;
        for _ in 0..PAGES {
            let page = store.listing_page(last.as_ref(), 101).await.expect("a page");
            assert_eq!(page.len(), 101);
            assert!(page.is_sorted_by(|one, next| one > next));
            last = page.into_iter().last();
        }
        let each = begun.elapsed() / PAGES;
        let cpu = (info(&mut redis, "cpu", "used_cpu_user:").await - cpu) / f64::from(PAGES);
        println!(
            "{games} games: {:.0} bytes each; a page of 101 in {each:?}, {:.1} ms of the server",
            memory / added as f64,
            cpu * 1e3,
        );
    }
}

const PAGES: u32 = 50;

async fn info(redis: &mut MultiplexedConnection, section: &str, name: &str) -> f64 {
    let text: String = redis::cmd("INFO").arg(section).query_async(redis).await.expect("an answer");
    let value = text.lines().find_map(|line| line.strip_prefix(name)).expect("it is told");
    value.trim().parse().expect("a number")
}
