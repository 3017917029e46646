//! The lives of games are told at least once and in order, over breaks and replicas.

use std::collections::BTreeMap;

use banqi::api::proto::v1;
use banqi::api::proto::v1::stream_lifecycle_response::Message;
use banqi::game::GameId;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use tokio::time::timeout;

use crate::support::PATIENCE;
use crate::table::{Table, seat};
use crate::world::{Backing, World, options, reason, request_id};
use crate::writes::Write;

const GAMES: usize = 40;

/// What a reader has been told of each game, in order.
type Told = BTreeMap<String, Vec<v1::LifecycleKind>>;

/// Reads until every game that is wanted has ended, breaking off at random and going on, on another
/// replica, after the last cursor.
async fn read(world: &World, request: v1::StreamLifecycleRequest, wanted: &[String]) -> Told {
    let seed = rand::random();
    println!("seed of the breaks: {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut told = Told::new();
    let mut after = request.after_cursor.clone();
    let ended = |told: &Told, id: &String| {
        told.get(id).is_some_and(|kinds| kinds.contains(&v1::LifecycleKind::Ended))
    };
    while !wanted.iter().all(|id| ended(&told, id)) {
        let replica = &world.replicas[random.random_range(0..world.replicas.len())];
        let request = v1::StreamLifecycleRequest { after_cursor: after.clone(), ..request.clone() };
        let mut stream =
            replica.platform().stream_lifecycle(request).await.expect("a stream").into_inner();
        for _ in 0..random.random_range(1..40) {
            let next = timeout(PATIENCE, stream.message()).await.expect("a message in time");
            let message = next.expect("no error").expect("no end");
            if !message.cursor.is_empty() {
                after = message.cursor;
            }
            if let Some(Message::Event(event)) = message.message {
                check(&event);
                told.entry(event.game_id.clone()).or_default().push(event.kind());
            }
            if wanted.iter().all(|id| ended(&told, id)) {
                break;
            }
        }
    }
    told
}

/// An event tells the game as it stands, which is at least as far.
fn check(event: &v1::LifecycleEvent) {
    let game = event.game.as_ref().expect("the game is there");
    assert!(game.game_id == event.game_id && game.revision >= event.revision);
    if event.kind() == v1::LifecycleKind::Ended {
        let result = game.result.as_ref().expect("an ended game has its result");
        assert_eq!(result.reason(), v1::EndReason::Resignation);
        assert_eq!(result.winners, [2]);
        assert_eq!(game.seats[1].player_id, "bert");
    }
}

/// Without what was told again after a break, the order must be that of a life.
fn check_order(told: &Told, wanted: &[String]) {
    for id in wanted {
        let mut first: Vec<_> = Vec::new();
        for kind in &told[id] {
            if !first.contains(kind) {
                first.push(*kind);
            }
        }
        let life =
            [v1::LifecycleKind::Created, v1::LifecycleKind::Started, v1::LifecycleKind::Ended];
        assert_eq!(first, life, "{id}");
    }
}

async fn play_a_life(world: &World, number: usize) -> String {
    let (one, other) = (&world.replicas[0], &world.replicas[1]);
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Open, "")],
        request_id: request_id(),
        ..Default::default()
    };
    let created = one.games().create_game(request).await.expect("created").into_inner();
    let table = Table::of(created.game, created.seat_tokens);
    let join = v1::JoinGameRequest {
        game_id: table.id.clone(),
        player_id: "bert".to_owned(),
        ..Default::default()
    };
    Write::Join(join).send(other).await.expect("joined");
    if number.is_multiple_of(2) {
        table.play(other, "a1").await;
    }
    table.resign(one, 1).await;
    table.id
}

#[rstest]
#[tokio::test]
async fn every_life_is_told_in_order_over_breaks(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let mut games = Vec::new();
    for number in 0..GAMES {
        games.push(play_a_life(&world, number).await);
    }
    let told = read(&world, v1::StreamLifecycleRequest::default(), &games).await;
    check_order(&told, &games);

    // Each shard alone tells its own games and no others, each once.
    let shards = options().shards;
    let shard_of = |id: &String| shards.shard_of(&id.parse::<GameId>().expect("an id"));
    for shard in shards.iter() {
        let here: Vec<_> = games.iter().filter(|id| shard_of(id) == shard).cloned().collect();
        let request =
            v1::StreamLifecycleRequest { shard: Some(shard.number().into()), ..Default::default() };
        let told = read(&world, request, &here).await;
        check_order(&told, &here);
        assert!(told.keys().all(|id| shard_of(id) == shard));
        assert!(told.values().all(|kinds| kinds.len() <= 3), "{told:?}");
    }
}

#[rstest]
#[tokio::test]
async fn only_the_kinds_asked_for_are_told(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let game = play_a_life(&world, 0).await;
    let kinds = vec![v1::LifecycleKind::Ended.into()];
    let request = v1::StreamLifecycleRequest { kinds, ..Default::default() };
    let told = read(&world, request, std::slice::from_ref(&game)).await;
    assert!(told[&game].iter().all(|kind| *kind == v1::LifecycleKind::Ended));
}

#[tokio::test]
async fn what_is_no_cursor_of_the_stream_is_refused() {
    let world = World::start(Backing::Memory, 1).await;
    for (shard, after_cursor) in [(None, "yesterday"), (None, "AAAA"), (Some(1), "CAIQBw")] {
        let request = v1::StreamLifecycleRequest {
            shard,
            after_cursor: after_cursor.to_owned(),
            ..Default::default()
        };
        let status = world.any().platform().stream_lifecycle(request).await;
        assert_eq!(reason(&status.expect_err("no cursor")), "INVALID_FIELDS");
    }
    for request in [
        v1::StreamLifecycleRequest { shard: Some(8), ..Default::default() },
        v1::StreamLifecycleRequest { kinds: vec![0, 9], ..Default::default() },
    ] {
        let status = world.any().platform().stream_lifecycle(request).await;
        assert_eq!(reason(&status.expect_err("malformed")), "INVALID_FIELDS");
    }
}
