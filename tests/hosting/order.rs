//! What is checked first is told first: caller, syntax, existence, seat, request id, etag, state.

use banqi::api::proto::v1;
use banqi::server::Config;
use rstest::rstest;

use crate::table::Table;
use crate::world::{Backing, Replica, World, reason, request_id};
use crate::writes::Write;

/// A write that is right in everything but what the game's state says, and the ways to make it
/// wrong in more.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Play,
    Resign,
    AddEntropy,
    Join,
}

/// A finished game, so that every write on it is refused for its state.
struct Over {
    table: Table,
    stale: String,
    current: String,
}

impl Over {
    async fn new(replica: &Replica, used: &str) -> Self {
        let table = Table::create(replica, "TAIWANESE").await;
        let stale = replica.get(&table.id).await.etag;
        // One request of seat 1 that had an effect.
        Write::Play(table.act(1, "a1")).with_request_id(used).send(replica).await.expect("played");
        let current = table.resign(replica, 2).await.etag;
        Self { table, stale, current }
    }

    fn write(&self, kind: Kind) -> Write {
        let game_id = self.table.id.clone();
        let seat_token = self.table.token(1);
        match kind {
            Kind::Play => Write::Play(self.table.act(1, "b1")),
            Kind::Resign => Write::Resign(self.table.resignation(1)),
            Kind::AddEntropy => Write::AddEntropy(v1::AddEntropyRequest {
                game_id,
                seat_token,
                entropy: vec![1],
                ..Default::default()
            }),
            Kind::Join => {
                Write::Join(v1::JoinGameRequest { game_id, seat: 1, ..Default::default() })
            }
        }
    }
}

fn malformed(mut write: Write) -> Write {
    match &mut write {
        Write::Play(request) => request.action = "king takes".to_owned(),
        Write::Resign(request) => request.etag = "yesterday".to_owned(),
        Write::AddEntropy(request) => request.entropy.clear(),
        Write::Join(request) => request.seat = 9,
        Write::Create(request) => request.seating = 9,
        Write::Import(request) => request.start = None,
        other => return other.clone().with_etag("yesterday"),
    }
    write
}

/// With the token of no seat, or of a seat that there is not.
fn without_seat(mut write: Write) -> Write {
    let token = match &mut write {
        Write::Play(request) => &mut request.seat_token,
        Write::Resign(request) => &mut request.seat_token,
        Write::AddEntropy(request) => &mut request.seat_token,
        _ => panic!("needs no token"),
    };
    *token = "stolen".to_owned();
    write
}

async fn told(replica: &Replica, write: Write) -> String {
    reason(&write.send(replica).await.expect_err("it is wrong in two ways"))
}

#[rstest]
#[tokio::test]
async fn the_first_of_two_faults_is_told(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values(Kind::Play, Kind::Resign, Kind::AddEntropy, Kind::Join)] kind: Kind,
) {
    let world = World::start(backing, 2).await;
    let used = request_id();
    let over = Over::new(&world.replicas[0], &used).await;
    let write = over.write(kind);
    let acts_for_a_seat = !matches!(kind, Kind::Join);
    // The one that wrote last and has a copy, and the one that never saw the game.
    for replica in &world.replicas {
        assert_eq!(
            told(replica, malformed(write.clone().with_game("nowhere"))).await,
            "INVALID_FIELDS"
        );
        if acts_for_a_seat {
            let call = without_seat(write.clone()).with_game("nowhere");
            assert_eq!(told(replica, call).await, "GAME_NOT_FOUND");
            let call = without_seat(write.clone().with_request_id(&used));
            assert_eq!(told(replica, call).await, "SEAT_TOKEN_WRONG");
            let call = write.clone().with_request_id(&used).with_etag(&over.stale);
            assert_eq!(told(replica, call).await, "REQUEST_ID_REUSED");
        } else {
            let call =
                write.clone().with_request_id(&used).with_etag(&over.stale).with_game("nowhere");
            assert_eq!(told(replica, call).await, "GAME_NOT_FOUND");
        }
        assert_eq!(told(replica, write.clone().with_etag(&over.stale)).await, "ETAG_MISMATCH");
        let lost = format!("3.{}", "0".repeat(16));
        assert_eq!(told(replica, write.clone().with_etag(&lost)).await, "HISTORY_LOST");
        assert_eq!(told(replica, write.clone().with_etag(&over.current)).await, "GAME_OVER");
    }
}

#[rstest]
#[tokio::test]
async fn a_joins_request_id_comes_before_its_etag(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let create = Write::Create(v1::CreateGameRequest::default());
    let created = create.send(world.any()).await.expect("created").game;
    let join = Write::Join(v1::JoinGameRequest {
        game_id: created.game_id,
        etag: created.etag,
        request_id: request_id(),
        ..Default::default()
    });
    let first = join.send(&world.replicas[0]).await.expect("joined");
    // Its etag is stale by its own doing, and a repetition is answered all the same.
    assert_eq!(join.send(&world.replicas[1]).await.expect("repeated"), first);
    assert_eq!(told(&world.replicas[1], join.changed()).await, "REQUEST_ID_REUSED");
}

#[rstest]
#[tokio::test]
async fn state_is_turn_before_rules(#[values(Backing::Memory, Backing::Redis)] backing: Backing) {
    let world = World::start(backing, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let stale = world.any().get(&table.id).await.etag;
    table.play(world.any(), "a1").await;
    // Not this seat's turn, and illegal besides.
    let illegal = Write::Play(table.act(1, "a1"));
    assert_eq!(told(world.any(), illegal.clone()).await, "NOT_YOUR_TURN");
    assert_eq!(told(world.any(), illegal.with_etag(&stale)).await, "ETAG_MISMATCH");
    let illegal = Write::Play(table.act(2, "a1"));
    assert_eq!(told(world.any(), illegal.clone()).await, "NOT_FACE_DOWN");
    assert_eq!(told(world.any(), illegal.with_etag(&stale)).await, "ETAG_MISMATCH");
}

#[tokio::test]
async fn the_caller_comes_before_the_syntax() {
    let world = World::with(Backing::Memory, 1, Config::default()).await;
    let import = Write::Import(v1::ImportGameRequest::default());
    assert_eq!(told(world.any(), malformed(import)).await, "PLATFORM_ONLY");
    let table = Table::create(world.any(), "TAIWANESE").await;
    let mut by_seat = table.act(1, "a1");
    by_seat.seat_token.clear();
    by_seat.seat = 4;
    // That there is no seat 4 is told to none but trusted callers.
    assert_eq!(told(world.any(), Write::Play(by_seat)).await, "PLATFORM_ONLY");
}
