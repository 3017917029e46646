//! `PollGame` tells what `WatchGame` tells, and `WatchPlayer` what a player has to do.

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_player_response::Message;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rstest::rstest;
use tokio::time::timeout;
use tonic::Streaming;

use crate::offers::Calls;
use crate::support::PATIENCE;
use crate::table::{Table, seat, to_move};
use crate::world::{Backing, Replica, World, reason};
use crate::writes::Write;

async fn poll(replica: &Replica, id: &str, after: &str, wait_ms: u64) -> v1::PollGameResponse {
    let request = v1::PollGameRequest {
        game_id: id.to_owned(),
        after_etag: after.to_owned(),
        wait: Some(Duration::from_millis(wait_ms).try_into().expect("short")),
    };
    replica.games().poll_game(request).await.expect("an answer").into_inner()
}

#[rstest]
#[tokio::test]
async fn polling_tells_every_revision_once(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let (one, other) = (&world.replicas[0], &world.replicas[1]);
    let table = Table::create(one, "TAIWANESE").await;
    let first = poll(other, &table.id, "", 0).await;
    assert!(first.events.is_empty() && !first.history_lost);
    let mut etag = first.game.expect("a game").etag;

    // Nothing new: the same state, whether waited for or not.
    for wait in [0, 50] {
        let answer = poll(other, &table.id, &etag, wait).await;
        assert!(answer.events.is_empty());
        let game = answer.game.expect("a game");
        assert!(game.etag == etag && game.server_time.is_some());
    }

    // More than one answer holds, in order, from either replica in turn.
    Calls(&table, 1).offer_draw().send(one).await.expect("offered");
    Calls(&table, 2).answer_draw(false).send(other).await.expect("declined");
    table.play_out(one, &mut Xoshiro256PlusPlus::seed_from_u64(1)).await;
    let last = one.get(&table.id).await;
    let mut told = Vec::new();
    while etag != last.etag {
        let replica = if told.len() % 2 == 0 { one } else { other };
        let answer = poll(replica, &table.id, &etag, 0).await;
        assert!((1..=100).contains(&answer.events.len()));
        let game = answer.game.expect("a game");
        let entry = answer.events.last().and_then(|event| event.entry.as_ref()).expect("an entry");
        assert_eq!(entry.etag, game.etag);
        etag = game.etag;
        told.extend(answer.events.into_iter().map(|event| event.entry.expect("an entry")));
    }
    assert_eq!(told, last.log[1..]);
}

#[rstest]
#[tokio::test]
async fn a_poll_ends_when_something_happens(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let (one, other) = (&world.replicas[0], &world.replicas[1]);
    let table = Table::create(one, "TAIWANESE").await;
    let etag = one.get(&table.id).await.etag;
    let waiting = poll(other, &table.id, &etag, 60_000);
    let acting = async {
        tokio::task::yield_now().await;
        table.play(one, "a1").await
    };
    let (answer, game) =
        timeout(PATIENCE, async { tokio::join!(waiting, acting) }).await.expect("in time");
    assert_eq!(answer.events.len(), 1);
    assert_eq!(answer.game.expect("a game").etag, game.etag);

    let lost = format!("1.{}", "0".repeat(16));
    let answer = poll(other, &table.id, &lost, 0).await;
    assert!(answer.history_lost && answer.events.is_empty());
    assert_eq!(answer.game.expect("a game").etag, game.etag);

    let request = v1::PollGameRequest {
        game_id: table.id.clone(),
        wait: Some(Duration::from_secs(61).try_into().expect("short")),
        ..Default::default()
    };
    let status = one.games().poll_game(request).await.expect_err("too long");
    assert_eq!(reason(&status), "INVALID_FIELDS");
}

/// What a player's stream tells, without its keep-alives, and its newest cursor.
struct Told {
    stream: Streaming<v1::WatchPlayerResponse>,
    cursor: String,
}

impl Told {
    async fn to(replica: &Replica, player: &str, after: &str) -> Self {
        let request =
            v1::WatchPlayerRequest { player_id: player.to_owned(), after_cursor: after.to_owned() };
        let stream = replica.games().watch_player(request).await.expect("a stream").into_inner();
        Self { stream, cursor: String::new() }
    }

    async fn next(&mut self) -> (v1::PlayerEventKind, v1::PlayerEvent) {
        loop {
            let next = timeout(PATIENCE, self.stream.message()).await.expect("in time");
            let message = next.expect("no error").expect("no end");
            self.cursor = message.cursor;
            if let Some(Message::Event(event)) = message.message {
                return (event.kind(), event);
            }
        }
    }

    /// The next event of this kind about this game; others may be told in between.
    async fn until(&mut self, kind: v1::PlayerEventKind, id: &str) -> v1::PlayerEvent {
        loop {
            let (told, event) = self.next().await;
            if told == kind && event.game.as_ref().expect("a game").game_id == id {
                return event;
            }
        }
    }
}

async fn game_of(replica: &Replica, players: [&str; 2]) -> Table {
    let seats = players.map(|player| seat(v1::SeatClaim::Assigned, player)).to_vec();
    let request = v1::CreateGameRequest { seats, ..Default::default() };
    let answer = replica.games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

#[rstest]
#[tokio::test]
async fn a_bot_hears_of_its_games_its_turns_offers_and_ends(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    use v1::PlayerEventKind::{Ended, Game, Offer, YourTurn};
    let world = World::start(backing, 2).await;
    let (one, other) = (&world.replicas[0], &world.replicas[1]);
    let early = game_of(one, ["bot", "anna"]).await;
    // The index follows within moments of the write.
    let mut told = Told::to(other, "bot", "").await;
    told.until(YourTurn, &early.id).await;

    // A whole game by what the stream tells alone.
    let late = game_of(one, ["anna", "bot"]).await;
    assert_eq!(told.until(Game, &late.id).await.seat, 2);
    for _ in 0..5 {
        let game = one.get(&late.id).await;
        assert_eq!(to_move(&game), 1);
        late.play(one, &game.legal_actions[0].text).await;
        let event = told.until(YourTurn, &late.id).await;
        assert_eq!(event.seat, 2);
        let game = event.game.expect("a game");
        late.play(other, &game.legal_actions[0].text).await;
    }
    // Who comes and goes is no news to a bot: the next it hears is the offer.
    for seat in [1, 1] {
        let request = v1::WatchGameRequest {
            game_id: late.id.clone(),
            seat_token: late.token(seat),
            ..Default::default()
        };
        let mut watch = one.games().watch_game(request).await.expect("a watch").into_inner();
        watch.message().await.expect("no error").expect("a snapshot");
    }
    Calls(&late, 1).offer_draw().send(one).await.expect("offered");
    let (kind, event) = told.next().await;
    assert_eq!(kind, Offer, "{event:?}");
    assert_eq!(event.game.expect("a game").draw_offer.expect("an offer").seat, 1);

    // What happens during a break is told after it.
    let cursor = told.cursor.clone();
    drop(told);
    Calls(&late, 2).answer_draw(true).send(one).await.expect("agreed");
    let open = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Open, ""), seat(v1::SeatClaim::Assigned, "anna")],
        ..Default::default()
    };
    let open = Write::Create(open).send(one).await.expect("created").game.game_id;
    let join = v1::JoinGameRequest {
        game_id: open.clone(),
        player_id: "bot".to_owned(),
        ..Default::default()
    };
    Write::Join(join).send(one).await.expect("joined");
    let mut told = Told::to(one, "bot", &cursor).await;
    let event = told.until(Ended, &late.id).await;
    let result = event.game.expect("a game").result.expect("a result");
    assert_eq!(result.reason(), v1::EndReason::Agreement);
    let mut told = Told::to(other, "bot", &cursor).await;
    told.until(YourTurn, &open).await;
    early.resign(other, 2).await;
    told.until(Ended, &early.id).await;
}

#[tokio::test]
async fn only_the_platform_follows_a_player() {
    let world = World::start(Backing::Memory, 1).await;
    for (player_id, after_cursor) in [("", ""), ("bot", "yesterday")] {
        let request = v1::WatchPlayerRequest {
            player_id: player_id.to_owned(),
            after_cursor: after_cursor.to_owned(),
        };
        let status = world.any().games().watch_player(request).await.expect_err("malformed");
        assert_eq!(reason(&status), "INVALID_FIELDS");
    }
}
