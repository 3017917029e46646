//! What somebody without a seat sees: all of a game, some turns less, or nothing.

use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use banqi::server::Config;
use rstest::rstest;
use tokio::time::timeout;
use tonic::{Status, Streaming};

use crate::exports::check_exports;
use crate::guarded::{bearer, reads, with};
use crate::support::{PATIENCE, refusal};
use crate::table::{Table, assigned, seat};
use crate::world::{Backing, Replica, World, reason, trusting};

/// Replicas that trust nobody.
async fn start(backing: Backing) -> World {
    World::with(backing, 2, Config { callers: Default::default(), ..trusting() }).await
}

fn spectators(mode: v1::SpectatorMode, delay_turns: u32) -> Option<v1::Spectators> {
    Some(v1::Spectators { mode: mode.into(), delay_turns })
}

async fn create(world: &World, mode: v1::SpectatorMode, delay: u32) -> Table {
    let request = v1::CreateGameRequest {
        seats: assigned("TAIWANESE"),
        spectators: spectators(mode, delay),
        ..Default::default()
    };
    let answer = world.any().games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

/// The game as a seat's holder sees it, with its log and without the time of the answer.
async fn seen_by_a_seat(replica: &Replica, table: &Table) -> v1::Game {
    let request = v1::GetGameRequest { game_id: table.id.clone(), view: v1::GameView::Full.into() };
    let answer = replica.games().get_game(with(request, &bearer(&table.token(2)))).await;
    timeless(answer.expect("its own").into_inner().game)
}

fn timeless(game: Option<v1::Game>) -> v1::Game {
    v1::Game { server_time: None, ..game.expect("a game") }
}

/// Checks that every read of a spectator tells of this state and of nothing later.
async fn check_reads(replica: &Replica, expected: &v1::Game) {
    let game_id = || expected.game_id.clone();
    let mut games = replica.games();
    let view = v1::GameView::Full.into();
    let answer = games.get_game(v1::GetGameRequest { game_id: game_id(), view }).await;
    assert_eq!(&timeless(answer.expect("shown").into_inner().game), expected);

    let request = v1::BatchGetGamesRequest { game_ids: vec![game_id(), game_id()], view };
    let answer = games.batch_get_games(request).await.expect("shown").into_inner();
    assert_eq!(answer.games.len(), 2);
    for game in answer.games {
        assert_eq!(&timeless(Some(game)), expected);
    }

    let request = v1::ListLegalActionsRequest { game_id: game_id() };
    let answer = games.list_legal_actions(request).await.expect("shown").into_inner();
    assert_eq!((&answer.actions, answer.revision), (&expected.legal_actions, expected.revision));

    let request = v1::GetFairnessProofRequest { game_id: game_id() };
    let answer = games.get_fairness_proof(request).await.expect("shown").into_inner();
    assert_eq!(answer.commitment, expected.commitment);
    let added: Vec<bool> = answer.entropies.iter().map(|entropy| !entropy.is_empty()).collect();
    let expected_added: Vec<bool> = expected.seats.iter().map(|seat| seat.entropy_added).collect();
    assert_eq!(added, expected_added);
    let ended = expected.result.is_some();
    assert_eq!((!answer.server_seed.is_empty(), !answer.deal.is_empty()), (ended, ended));

    let request = v1::PollGameRequest { game_id: game_id(), ..Default::default() };
    let answer = games.poll_game(request).await.expect("shown").into_inner();
    let basic = v1::Game { log: Vec::new(), ..expected.clone() };
    assert_eq!((timeless(answer.game), answer.events), (basic, Vec::new()));

    check_exports(replica, expected).await;

    let mut watch = replica.watch(&expected.game_id, "").await.expect("shown");
    let Message::Snapshot(snapshot) = next(&mut watch).await else { panic!("no snapshot") };
    assert_eq!(snapshot.game.expect("a game").etag, expected.etag);
}

async fn next(watch: &mut Streaming<v1::WatchGameResponse>) -> Message {
    let message = timeout(PATIENCE, watch.message()).await.expect("in time").expect("a message");
    message.expect("not the end").message.expect("something")
}

/// The etag of the next thing that a watch tells, and whether it is news.
async fn told(watch: &mut Streaming<v1::WatchGameResponse>) -> (String, bool) {
    loop {
        match next(watch).await {
            Message::Event(event) => return (event.game.expect("a game").etag, true),
            Message::KeepAlive(alive) => return (alive.etag, false),
            Message::Presence(_) => {}
            Message::Snapshot(snapshot) => panic!("a snapshot: {snapshot:?}"),
        }
    }
}

/// The etag of the next news of a watch; whatever it says meanwhile must be of `until_then`.
async fn news(watch: &mut Streaming<v1::WatchGameResponse>, until_then: &str) -> String {
    loop {
        match told(watch).await {
            (etag, true) => return etag,
            (etag, false) => assert_eq!(etag, until_then),
        }
    }
}

#[rstest]
#[tokio::test]
async fn delayed_spectators_see_each_state_so_many_turns_late_and_the_end_at_once(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values(1, 3)] delay: usize,
) {
    const TURNS: usize = 8;
    let world = start(backing).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = create(&world, v1::SpectatorMode::Delayed, delay as u32).await;
    let mut states = vec![seen_by_a_seat(one, &table).await];
    let mut watch = other.watch(&table.id, "").await.expect("a watch");
    let Message::Snapshot(first) = next(&mut watch).await else { panic!("no snapshot") };
    assert_eq!(first.game.expect("a game").etag, states[0].etag);
    for turn in 0..TURNS {
        let game = states.last().expect("a state");
        let action = &game.legal_actions[0].text.clone();
        let seat = crate::table::to_move(game);
        let played = table.send(one, table.act(seat, action)).await.expect("a legal action");
        assert_eq!(played.revision, states.len() as u64 + 1, "the player sees it at once");
        states.push(seen_by_a_seat(other, &table).await);
        let shown = &states[(turn + 1).saturating_sub(delay)];
        for replica in [one, other] {
            check_reads(replica, shown).await;
        }
        if turn + 1 > delay {
            let etag = news(&mut watch, &states[turn - delay].etag).await;
            assert_eq!(etag, shown.etag, "an event when it may be known, and not before");
        }
    }
    let shown = states[TURNS - delay].clone();
    assert_eq!(told(&mut watch).await, (shown.etag.clone(), false), "and nothing more");

    // Whoever knows a later state has lost no history, and is told nothing until it is shown.
    let newest = states.last().expect("a state").etag.clone();
    let mut later = one.watch(&table.id, &newest).await.expect("a watch");
    assert_eq!(told(&mut later).await, (shown.etag.clone(), false));

    let request =
        v1::PollGameRequest { game_id: table.id.clone(), after_etag: newest, ..Default::default() };
    let answer = other.games().poll_game(request).await.expect("shown").into_inner();
    assert_eq!(answer.game.expect("a game").etag, shown.etag);
    assert!(answer.events.is_empty() && !answer.history_lost);

    let ended = table.resign(one, 1).await;
    states.push(seen_by_a_seat(one, &table).await);
    check_reads(other, states.last().expect("the end")).await;
    for (before, state) in states.iter().zip(&states[1..]).skip(TURNS - delay) {
        assert_eq!(news(&mut watch, &before.etag).await, state.etag, "every event, in order");
    }
    assert_eq!(news(&mut later, &shown.etag).await, ended.etag);
}

#[rstest]
#[tokio::test]
async fn open_games_are_shown_as_they_are_played(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = start(backing).await;
    let table = create(&world, v1::SpectatorMode::Open, 0).await;
    for _ in 0..4 {
        table.play_on(world.any(), 1).await;
        let state = seen_by_a_seat(world.any(), &table).await;
        check_reads(&world.replicas[1], &state).await;
    }
}

#[rstest]
#[tokio::test]
async fn hidden_games_are_shown_to_their_seats_alone_until_they_have_ended(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = start(backing).await;
    let table = create(&world, v1::SpectatorMode::None, 0).await;
    table.send(world.any(), table.act(1, "a1")).await.expect("played");
    for replica in &world.replicas {
        for (path, outcome) in reads(replica, &table.id, &Vec::new()).await {
            let status = outcome.expect_err(path);
            let (_, reason, details) = refusal(&status);
            assert_eq!(reason, "SPECTATORS_HIDDEN", "{path}");
            let metadata = &details.error_info().expect("an ErrorInfo").metadata;
            assert_eq!((metadata.len(), &metadata["game_id"]), (1, &table.id), "{path}");
        }
        for seat in [1, 2] {
            for (path, outcome) in reads(replica, &table.id, &bearer(&table.token(seat))).await {
                outcome.unwrap_or_else(|status| panic!("{path}: {status:?}"));
            }
        }
    }
    let request = v1::PlayActionRequest {
        seat_token: String::new(),
        validate_only: true,
        ..table.act(2, "b1")
    };
    let status = world.any().games().play_action(request).await.expect_err("nobody's");
    assert_eq!(reason(&status), "SEAT_TOKEN_MISSING");

    table.resign(world.any(), 2).await;
    check_reads(world.any(), &seen_by_a_seat(world.any(), &table).await).await;
}

/// What a refused join tells of the game's version.
async fn version_told(world: &World, id: &str, etag: &str) -> (String, Option<String>) {
    let request =
        v1::JoinGameRequest { game_id: id.to_owned(), etag: etag.to_owned(), ..Default::default() };
    let status: Status = world.any().games().join_game(request).await.expect_err("stale");
    let (_, reason, details) = refusal(&status);
    let metadata = &details.error_info().expect("an ErrorInfo").metadata;
    assert_eq!(metadata.contains_key("etag"), metadata.contains_key("revision"));
    (reason, metadata.get("etag").cloned())
}

#[rstest]
#[tokio::test]
async fn a_refused_join_tells_no_version_that_its_caller_may_not_know(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = start(backing).await;
    for (mode, delay) in [
        (v1::SpectatorMode::None, 0),
        (v1::SpectatorMode::Delayed, 2),
        (v1::SpectatorMode::Open, 0),
    ] {
        let table = create(&world, mode, delay).await;
        let mut states = vec![seen_by_a_seat(world.any(), &table).await.etag];
        for _ in 0..4 {
            let game = seen_by_a_seat(world.any(), &table).await;
            let action = &game.legal_actions[0].text;
            let request = table.act(crate::table::to_move(&game), action);
            states.push(table.send(world.any(), request).await.expect("legal").etag);
        }
        let expected = match mode {
            v1::SpectatorMode::None => None,
            v1::SpectatorMode::Delayed => Some(states[2].clone()),
            _ => Some(states[4].clone()),
        };
        let stale = version_told(&world, &table.id, &states[0]).await;
        assert_eq!(stale, ("ETAG_MISMATCH".to_owned(), expected.clone()));
        let lost = version_told(&world, &table.id, &format!("2.{}", "0".repeat(16))).await;
        assert_eq!(lost, ("HISTORY_LOST".to_owned(), expected));
    }
}

#[tokio::test]
async fn whoever_joins_a_hidden_game_sees_it() {
    let world = start(Backing::Memory).await;
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned, ""), seat(v1::SeatClaim::Open, "")],
        spectators: spectators(v1::SpectatorMode::None, 0),
        ..Default::default()
    };
    let created = world.any().games().create_game(request).await.expect("created").into_inner();
    let game_id = created.game.expect("a game").game_id;
    let request = v1::JoinGameRequest { game_id: game_id.clone(), ..Default::default() };
    let joined = world.any().games().join_game(request).await.expect("joined").into_inner();
    assert_eq!(joined.game.expect("a game").state(), v1::GameState::Active);
    for (path, outcome) in reads(world.any(), &game_id, &bearer(&joined.seat_token)).await {
        outcome.unwrap_or_else(|status| panic!("{path}: {status:?}"));
    }
}

#[tokio::test]
async fn a_batch_with_one_hidden_game_is_refused_and_names_it() {
    let world = start(Backing::Memory).await;
    let open = create(&world, v1::SpectatorMode::Open, 0).await;
    let hidden = create(&world, v1::SpectatorMode::None, 0).await;
    let game_ids = vec![open.id, hidden.id.clone()];
    let request = v1::BatchGetGamesRequest { game_ids, ..Default::default() };
    let status = world.any().games().batch_get_games(request).await.expect_err("hidden");
    let (_, reason, details) = refusal(&status);
    assert_eq!(reason, "SPECTATORS_HIDDEN");
    assert_eq!(details.error_info().expect("an ErrorInfo").metadata["game_id"], hidden.id);
}
