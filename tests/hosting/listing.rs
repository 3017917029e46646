//! Lists of games: whole, in order, and over in the end.

use std::collections::BTreeSet;

use banqi::api::proto::v1;
use banqi::server::Config;
use rstest::rstest;
use tokio::time::{Duration, Instant};
use tonic::Status;

use crate::meddling::{Meddling, Trouble};
use crate::support::bad_fields;
use crate::table::{Table, assigned, seat};
use crate::world::{Backing, Replica, World, eventually, reason, trusting};
use crate::writes::Write;

/// How many games there are from the first page to the last.
const GAMES: usize = 1_000;

/// After how long a player's list is right at the latest, also where a replica died.
const LAG: Duration = Duration::from_secs(15);

pub(crate) async fn page(
    replica: &Replica,
    request: &v1::ListGamesRequest,
) -> Result<v1::ListGamesResponse, Status> {
    Ok(replica.games().list_games(request.clone()).await?.into_inner())
}

/// The ids of all games that a request lists.
pub(crate) async fn list(replica: &Replica, request: &v1::ListGamesRequest) -> Vec<String> {
    let mut request = request.clone();
    let mut ids = Vec::new();
    loop {
        let answer = page(replica, &request).await.expect("a page");
        ids.extend(answer.games.into_iter().map(|game| game.game_id));
        request.page_token = answer.next_page_token;
        if request.page_token.is_empty() {
            return ids;
        }
    }
}

pub(crate) fn of_player(player: &str) -> v1::ListGamesRequest {
    v1::ListGamesRequest { player_id: player.to_owned(), ..Default::default() }
}

async fn create(replica: &Replica, player: &str, labels: &[(&str, &str)]) -> Table {
    let mut seats = assigned("TAIWANESE");
    seats[0].player_id = player.to_owned();
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let request = v1::CreateGameRequest { seats, labels: labels.collect(), ..Default::default() };
    let answer = replica.games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

/// Waits until a player's list has so many games.
async fn until_listed(replica: &Replica, player: &str, count: usize) {
    let request = v1::ListGamesRequest { page_size: 100, ..of_player(player) };
    eventually("listed", || list(replica, &request), |ids| ids.len() == count).await;
}

#[rstest]
#[tokio::test]
async fn every_game_comes_once_while_others_come_and_go(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values("anna", "")] player: &str,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let mut lasting = Vec::new();
    for _ in 0..GAMES {
        lasting.push(create(one, "anna", &[]).await);
    }
    until_listed(other, "anna", GAMES).await;

    let mut request = v1::ListGamesRequest { page_size: 1, ..of_player(player) };
    let mut told = Vec::new();
    let mut fleeting = Vec::new();
    for count in 0.. {
        let answer =
            page(if count % 2 == 0 { one } else { other }, &request).await.expect("a page");
        assert!(answer.games.len() <= 1);
        told.extend(answer.games.into_iter().map(|game| game.game_id));
        request.page_token = answer.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
        // Some are created meanwhile, some of all end, and some of the new ones are gone again.
        match count % 8 {
            0 => fleeting.push(create(other, "anna", &[]).await),
            4 => {
                lasting[(count * 7) % GAMES].resign_if_it_goes_on(one).await;
            }
            6 => {
                let table = &fleeting[count % fleeting.len()];
                let request =
                    v1::DeleteGameRequest { game_id: table.id.clone(), ..Default::default() };
                // It may be gone already.
                let _ = one.platform().delete_game(request).await;
            }
            _ => {}
        }
        assert!(count <= 2 * GAMES, "it never ends");
    }
    let distinct: BTreeSet<_> = told.iter().collect();
    assert_eq!(distinct.len(), told.len(), "a game came twice");
    let missed: Vec<_> = lasting.iter().filter(|table| !distinct.contains(&table.id)).collect();
    assert!(missed.is_empty(), "{missed:?}");
    // Newest first: as they were created, one after the other.
    let order: Vec<_> =
        told.iter().filter_map(|id| lasting.iter().position(|t| t.id == *id)).collect();
    let shards_apart = order.windows(2).filter(|pair| pair[0] < pair[1]).count();
    // Shards' clocks may be some milliseconds apart, so neighbours may change places.
    assert!(shards_apart <= GAMES / 2, "{shards_apart} pairs out of order");
}

impl Table {
    async fn resign_if_it_goes_on(&self, replica: &Replica) {
        match Write::Resign(self.resignation(1)).send(replica).await {
            Ok(_) => {}
            Err(status) => assert_eq!(reason(&status), "GAME_OVER"),
        }
    }
}

#[rstest]
#[tokio::test]
async fn lists_are_filtered_by_state_and_labels(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let one = world.any();
    let cup = ("event", "cup");
    let first = create(one, "anna", &[cup, ("round", "1")]).await;
    let second = create(one, "anna", &[cup, ("round", "2")]).await;
    let friendly = create(one, "anna", &[]).await;
    let others = create(one, "bert", &[cup]).await;
    second.resign(one, 1).await;
    let open = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Open, ""), seat(v1::SeatClaim::Reserved, "anna")],
        ..Default::default()
    };
    let waiting = Write::Create(open).send(one).await.expect("created").game.game_id;
    until_listed(one, "anna", 4).await;
    until_listed(one, "bert", 1).await;

    let labels = |labels: &[(&str, &str)]| {
        labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    };
    let listed = async |request: v1::ListGamesRequest| {
        list(one, &request).await.into_iter().collect::<BTreeSet<_>>()
    };
    let ids = |tables: &[&Table]| tables.iter().map(|table| table.id.clone()).collect();
    let with_cup = v1::ListGamesRequest { labels: labels(&[cup]), ..Default::default() };
    assert_eq!(listed(with_cup.clone()).await, ids(&[&first, &second, &others]));
    let annas = v1::ListGamesRequest { player_id: "anna".to_owned(), ..with_cup.clone() };
    assert_eq!(listed(annas.clone()).await, ids(&[&first, &second]));
    let state = v1::GameState::Active.into();
    assert_eq!(listed(v1::ListGamesRequest { state, ..annas.clone() }).await, ids(&[&first]));
    let state = v1::GameState::Finished.into();
    assert_eq!(listed(v1::ListGamesRequest { state, ..Default::default() }).await, ids(&[&second]));
    let state = v1::GameState::Waiting.into();
    let expected = BTreeSet::from([waiting.clone()]);
    assert_eq!(listed(v1::ListGamesRequest { state, ..of_player("anna") }).await, expected);
    let both = labels(&[cup, ("round", "2")]);
    assert_eq!(listed(v1::ListGamesRequest { labels: both, ..annas }).await, ids(&[&second]));
    let neither = labels(&[("event", "league")]);
    let request = v1::ListGamesRequest { labels: neither, ..Default::default() };
    assert_eq!(listed(request).await, BTreeSet::new());
    assert!(listed(of_player("anna")).await.contains(&friendly.id));
    assert_eq!(listed(of_player("nobody")).await, BTreeSet::new());
    let games = page(one, &of_player("bert")).await.expect("a page").games;
    let [game] = &games[..] else { panic!("{games:?}") };
    let mut expected = one.get(&others.id).await;
    expected.log.clear();
    (expected.server_time, expected.etag) = (game.server_time, game.etag.clone());
    assert_eq!(*game, expected, "as it is read, without its log");
}

#[rstest]
#[tokio::test]
async fn a_call_looks_at_a_bounded_number_of_games(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let one = world.any();
    let wanted = create(one, "anna", &[("wanted", "yes")]).await;
    for _ in 0..600 {
        create(one, "anna", &[]).await;
    }
    let labels = [("wanted".to_owned(), "yes".to_owned())].into();
    let request = v1::ListGamesRequest { labels, ..Default::default() };
    let first = page(one, &request).await.expect("a page");
    assert_eq!((first.games.len(), first.next_page_token.is_empty()), (0, false));
    assert_eq!(list(one, &request).await, [wanted.id]);
    // A page is never larger than 100.
    let request = v1::ListGamesRequest { page_size: 5_000, ..Default::default() };
    assert_eq!(page(one, &request).await.expect("a page").games.len(), 100);
    let request = v1::ListGamesRequest::default();
    assert_eq!(page(one, &request).await.expect("a page").games.len(), 50);
}

#[tokio::test]
async fn a_page_token_goes_on_with_its_own_request_only() {
    let world = World::start(Backing::Memory, 1).await;
    let one = world.any();
    for _ in 0..3 {
        create(one, "anna", &[]).await;
    }
    until_listed(one, "anna", 3).await;
    let request = v1::ListGamesRequest { page_size: 1, ..of_player("anna") };
    let token = page(one, &request).await.expect("a page").next_page_token;
    let with_token = v1::ListGamesRequest { page_token: token.clone(), ..request.clone() };
    let larger = v1::ListGamesRequest { page_size: 10, ..with_token.clone() };
    assert_eq!(page(one, &larger).await.expect("a page").games.len(), 2);
    let changed = [
        v1::ListGamesRequest { player_id: "bert".to_owned(), ..with_token.clone() },
        v1::ListGamesRequest { player_id: String::new(), ..with_token.clone() },
        v1::ListGamesRequest { state: v1::GameState::Active.into(), ..with_token.clone() },
        v1::ListGamesRequest {
            labels: [("a".to_owned(), "b".to_owned())].into(),
            ..with_token.clone()
        },
        v1::ListGamesRequest { page_token: format!("{token}A"), ..request.clone() },
        v1::ListGamesRequest { page_token: "next".to_owned(), ..request.clone() },
    ];
    for request in changed {
        let status = page(one, &request).await.expect_err("another request");
        assert_eq!(bad_fields(&status), ["page_token"], "{request:?}");
    }
    let status = page(one, &v1::ListGamesRequest { state: 9, ..request.clone() }).await;
    assert_eq!(bad_fields(&status.expect_err("no state")), ["state"]);
    let strict = Replica::on(std::sync::Arc::clone(&world.store), Config::default()).await;
    let status = page(&strict, &request).await.expect_err("not for everyone");
    assert_eq!(reason(&status), "PLATFORM_ONLY");
}

#[rstest]
#[tokio::test]
async fn lists_are_right_soon_after_a_replica_died_between_a_write_and_its_outbox(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::with(backing, 2, trusting()).await;
    let meddling = Meddling::with(std::sync::Arc::clone(&world.store));
    let dying = Replica::on(std::sync::Arc::clone(&meddling) as _, trusting()).await;
    let create = v1::CreateGameRequest {
        game_id: "orphan".to_owned(),
        seats: vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Open, "")],
        ..Default::default()
    };
    meddling.make(Trouble::AwayAfterWriting);
    Write::Create(create).send(&dying).await.expect_err("it dies");
    meddling.make(Trouble::Away);
    drop(dying);
    let died = Instant::now();
    // The list of all games needs nobody.
    assert_eq!(list(world.any(), &v1::ListGamesRequest::default()).await, ["orphan"]);
    until_listed(world.any(), "anna", 1).await;
    assert!(died.elapsed() <= LAG, "{:?}", died.elapsed());
}
