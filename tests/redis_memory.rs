//! What a game costs in Redis (docs/performance.md).

#[path = "support/redis_server.rs"]
#[allow(dead_code, reason = "what tests of other things do with a server")]
mod redis_server;

use banqi::game::{
    Command, DealSource, Game, GameKey, History, Limits, Millis, NewGame, NewSeat, Request,
    Seating, ServerSeed, Spectators, TimeControl, decide,
};
use banqi::rules::Preset;
use banqi::store::codec::{self, IndexTask};
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
                let task = IndexTask { player: player.clone(), entry };
                commit = commit.with_outbox_entry(task.to_bytes());
            }
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
             outbox {}",
            shelf.bytes(&fresh, "clock").await,
            shelf.bytes(&fresh, "deadlines").await,
            shelf.bytes(&fresh, "outbox").await,
        );
        assert!(bytes <= FRESH, "{bytes} bytes for a fresh game; at most {FRESH}");

        shelf.put(&played, Some(&fresh)).await;
        let bytes = shelf.bytes(&played, &format!("game:{}", played.id())).await;
        let value = codec::write(played.stored()).stored_length();
        println!("200 turns: {bytes} bytes of memory, {value} of value");
        assert!(bytes <= OF_200_TURNS, "{bytes} bytes for 200 turns; at most {OF_200_TURNS}");
    }
}
