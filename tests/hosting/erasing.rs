//! A player's id is erased from his games, which go on.

use banqi::api::proto::v1;
use banqi::server::Config;
use rstest::rstest;
use std::sync::Arc;

use crate::listing::{list, of_player};
use crate::stored::{Spoilt, spoil};
use crate::support::bad_fields;
use crate::table::{Table, seat};
use crate::world::{Backing, Replica, World, eventually, reason};
use crate::writes::Write;

const PLAYER: &str = "anna-to-be-forgotten";

/// Erases the player from all games; answers in how many, and which failed.
async fn erase(replica: &Replica, player: &str) -> (u32, Vec<String>) {
    let mut request =
        v1::ErasePlayerRequest { player_id: player.to_owned(), page_token: String::new() };
    let (mut changed, mut failed) = (0, Vec::new());
    loop {
        let answer = replica.platform().erase_player(request.clone()).await.expect("erased");
        let answer = answer.into_inner();
        assert!(answer.games_changed <= 50);
        changed += answer.games_changed;
        failed.extend(answer.failed_game_ids);
        assert_eq!(answer.done, answer.next_page_token.is_empty());
        if answer.done {
            return (changed, failed);
        }
        request.page_token = answer.next_page_token;
    }
}

async fn create(replica: &Replica, players: [&str; 2]) -> Table {
    let seats = players.map(|player| seat(v1::SeatClaim::Assigned, player)).to_vec();
    let request = v1::CreateGameRequest { seats, ..Default::default() };
    let answer = replica.games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

fn players(game: &v1::Game) -> Vec<&str> {
    game.seats.iter().map(|seat| seat.player_id.as_str()).collect()
}

#[rstest]
#[tokio::test]
async fn an_erased_id_stays_gone_also_where_a_replica_still_has_the_game_ready(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::start(backing, 2).await;
    let table = create(&world.replicas[0], [PLAYER, "bert"]).await;
    let ended = create(&world.replicas[0], ["bert", PLAYER]).await;
    let both = create(&world.replicas[0], [PLAYER, PLAYER]).await;
    let before = table.play_on(&world.replicas[1], 2).await;
    ended.resign(&world.replicas[1], 1).await;
    // This one has both ready as they were, and writes next.
    assert_eq!(players(&world.replicas[1].get(&table.id).await), [PLAYER, "bert"]);
    let log = world.replicas[1].get(&table.id).await.log;

    assert_eq!(erase(&world.replicas[0], PLAYER).await, (3, Vec::new()));
    let other = &world.replicas[1];
    let stale = Write::Play(table.act(1, "h4")).with_etag(&before.etag).send(other).await;
    assert_eq!(reason(&stale.expect_err("it has changed")), "ETAG_MISMATCH");
    let played = table.play_on(other, 1).await;
    assert_eq!(players(&played), ["", "bert"]);
    ended.resign_again(other).await;
    world.add_replica().await;
    for replica in &world.replicas {
        let game = replica.get(&table.id).await;
        assert_eq!(players(&game), ["", "bert"]);
        // What was before stands as it did, and one entry tells what was done.
        assert_eq!(game.log[..log.len()], log[..]);
        let entry = game.log[log.len()].event.as_ref().expect("an event");
        let v1::log_entry::Event::PlayerErased(erased) = entry else { panic!("{entry:?}") };
        assert_eq!(erased.seat, 1);
        assert_eq!(players(&replica.get(&ended.id).await), ["bert", ""]);
        assert_eq!(players(&replica.get(&both.id).await), ["", ""]);
        eventually("none", async || list(replica, &of_player(PLAYER)).await, Vec::is_empty).await;
    }
    eventually(
        "bert's",
        async || list(world.any(), &of_player("bert")).await,
        |ids| ids.len() == 2,
    )
    .await;
    // Tokens are the seats' own: who has one plays on.
    table.play_on(&world.replicas[2], 2).await;
    assert_eq!(erase(&world.replicas[2], PLAYER).await, (0, Vec::new()), "nothing is left");
    in_no_key(&world).await;
}

impl Table {
    /// A write on a game that is over, by a replica that has it ready as it was.
    async fn resign_again(&self, replica: &Replica) {
        let status = Write::Resign(self.resignation(2)).send(replica).await.expect_err("over");
        assert_eq!(reason(&status), "GAME_OVER");
    }
}

/// The id is in no key, and in nothing that a key holds.
async fn in_no_key(world: &World) {
    let Some(redis) = &world.redis else { return };
    let dump = async || {
        let mut connection = redis.connection().await;
        let keys: Vec<String> =
            redis::cmd("KEYS").arg("*").query_async(&mut connection).await.expect("the keys");
        let mut found = Vec::new();
        for key in keys {
            let dumped: Option<Vec<u8>> =
                redis::cmd("DUMP").arg(&key).query_async(&mut connection).await.expect("a value");
            let holds = dumped.unwrap_or_default();
            let within = holds.windows(PLAYER.len()).any(|window| window == PLAYER.as_bytes());
            if within || key.contains(PLAYER) {
                found.push(key);
            }
        }
        found
    };
    eventually("gone from the store", dump, Vec::is_empty).await;
}

#[rstest]
#[tokio::test]
async fn many_games_are_done_some_at_a_time_and_calls_can_be_repeated(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    for _ in 0..120 {
        create(one, [PLAYER, ""]).await;
    }
    let spoilt = create(one, [PLAYER, ""]).await;
    eventually("listed", async || list(one, &of_player(PLAYER)).await, |ids| ids.len() == 121)
        .await;
    spoil(&world, &spoilt.id, Spoilt::Header).await;
    let request = v1::ErasePlayerRequest { player_id: PLAYER.to_owned(), ..Default::default() };
    let first = one.platform().erase_player(request.clone()).await.expect("erased").into_inner();
    assert!(!first.done && first.games_changed >= 49);
    // Begun anew on another replica, it does the rest.
    let (changed, failed) = erase(other, PLAYER).await;
    assert_eq!(first.games_changed + changed, 120);
    assert_eq!(failed, std::slice::from_ref(&spoilt.id));
    for game in one
        .games()
        .list_games(v1::ListGamesRequest::default())
        .await
        .expect("a page")
        .into_inner()
        .games
    {
        assert_eq!(players(&game), ["", ""]);
    }
}

#[rstest]
#[tokio::test]
async fn a_join_that_was_just_made_is_found(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    for _ in 0..20 {
        let seats = vec![seat(v1::SeatClaim::Open, ""), seat(v1::SeatClaim::Open, "")];
        let create = v1::CreateGameRequest { seats, ..Default::default() };
        let id = Write::Create(create).send(one).await.expect("created").game.game_id;
        let join = v1::JoinGameRequest {
            game_id: id.clone(),
            player_id: PLAYER.to_owned(),
            ..Default::default()
        };
        Write::Join(join).send(one).await.expect("joined");
        assert_eq!(erase(other, PLAYER).await, (1, Vec::new()));
        assert_eq!(players(&one.get(&id).await), ["", ""]);
    }
    in_no_key(&world).await;
}

#[tokio::test]
async fn erasing_is_for_the_platform_and_needs_a_player() {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::ErasePlayerRequest { page_token: "x".to_owned(), ..Default::default() };
    let status = world.any().platform().erase_player(request.clone()).await.expect_err("nobody");
    assert_eq!(bad_fields(&status), ["player_id", "page_token"]);
    let strict = Replica::on(Arc::clone(&world.store), Config::default()).await;
    let status = strict.platform().erase_player(request).await.expect_err("not for everyone");
    assert_eq!(reason(&status), "PLATFORM_ONLY");
}
