//! How callers are told apart: keys, seat tokens, and both while they change.

use std::fs;
use std::time::Duration;

use banqi::api::callers::Role;
use banqi::api::proto::v1;
use banqi::api::proto::v1::watch_game_response::Message;
use rstest::rstest;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use crate::guarded::{
    Guarded, bearer, by_key, call, key, line, of, reads, refused_for_its_caller, with,
};
use crate::table::assigned;
use crate::world::{Backing, eventually, reason, request_id};

#[tokio::test]
async fn a_key_may_come_as_either_metadata() {
    let guarded = Guarded::start(Backing::Memory).await;
    let path = "/banqi.v1.RulesService/ListPresets";
    for metadata in [by_key(1), bearer(key(1).expose())] {
        call(guarded.any(), path, (), &metadata).await.expect("a reader");
    }
}

#[tokio::test]
async fn health_and_reflection_are_open() {
    let guarded = Guarded::start(Backing::Memory).await;
    let mut health =
        tonic_health::pb::health_client::HealthClient::new(guarded.any().channel.clone());
    let request = tonic_health::pb::HealthCheckRequest { service: String::new() };
    health.check(request).await.expect("open to all");
    let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let message_request = Some(MessageRequest::ListServices(String::new()));
    let request = ServerReflectionRequest { host: String::new(), message_request };
    call(guarded.any(), path, request, &Vec::new()).await.expect("open to all");
}

#[rstest]
#[tokio::test]
async fn a_seat_token_alone_suffices_for_its_own_game(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let guarded = Guarded::start(backing).await;
    let table = guarded.table(v1::SpectatorMode::None).await;
    let other = guarded.table(v1::SpectatorMode::Open).await;
    for replica in &guarded.world.replicas {
        for seat in [1, 2] {
            let own = bearer(&table.token(seat));
            for (path, outcome) in reads(replica, &table.id, &own).await {
                outcome.unwrap_or_else(|status| panic!("{path}: {status:?}"));
            }
            for (path, outcome) in reads(replica, &other.id, &own).await {
                assert_eq!(reason(&outcome.expect_err(path)), "SEAT_TOKEN_WRONG", "{path}");
            }
        }
    }
    table.send(guarded.any(), table.act(1, "a1")).await.expect("as a field");
    let request = v1::PlayActionRequest { seat_token: String::new(), ..table.act(2, "b1") };
    let request = with(request, &bearer(&table.token(2)));
    guarded.any().games().play_action(request).await.expect("as metadata");
    // The field comes before the metadata.
    let request = with(table.act(1, "c1"), &bearer(&other.token(1)));
    guarded.any().games().play_action(request).await.expect("the field's");
}

#[tokio::test]
async fn only_the_platform_acts_by_seat_number_and_sees_hidden_games() {
    let guarded = Guarded::start(Backing::Memory).await;
    let table = guarded.table(v1::SpectatorMode::None).await;
    let by_number = |action: &str, seat| v1::PlayActionRequest {
        seat_token: String::new(),
        seat,
        ..table.act(1, action)
    };
    let mut games = guarded.any().games();
    for role in [Role::Reader, Role::Player] {
        let status = games.play_action(with(by_number("a1", 1), &by_key(of(role)))).await;
        assert_eq!(reason(&status.expect_err("by number")), "ROLE_TOO_LOW");
        for (path, outcome) in reads(guarded.any(), &table.id, &by_key(of(role))).await {
            assert_eq!(reason(&outcome.expect_err(path)), "SPECTATORS_HIDDEN", "{path}");
        }
        // A key takes nothing from a seat token.
        let both = [by_key(of(role)), bearer(&table.token(1))].concat();
        for (path, outcome) in reads(guarded.any(), &table.id, &both).await {
            outcome.unwrap_or_else(|status| panic!("{path}: {status:?}"));
        }
    }
    let platform = by_key(of(Role::Platform));
    games.play_action(with(by_number("a1", 1), &platform)).await.expect("the platform");
    for (path, outcome) in reads(guarded.any(), &table.id, &platform).await {
        outcome.unwrap_or_else(|status| panic!("{path}: {status:?}"));
    }
    let status = games.play_action(by_number("b1", 2)).await.expect_err("nobody");
    assert_eq!(reason(&status), "API_KEY_MISSING");
    let status = games.play_action(with(by_number("b1", 0), &platform)).await.expect_err("no seat");
    assert_eq!(reason(&status), "SEAT_TOKEN_MISSING");
}

#[rstest]
#[tokio::test]
async fn keys_are_read_again_while_serving(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let guarded = Guarded::start(backing).await;
    let before = fs::read_to_string(guarded.file()).expect("the file");
    let table = guarded.table(v1::SpectatorMode::Open).await;
    let list = "/banqi.v1.RulesService/ListPresets";
    let told = |number| {
        let replica = guarded.any();
        async move { call(replica, list, (), &by_key(number)).await.err().map(|status| reason(&status)) }
    };
    assert_eq!(told(9).await, Some("API_KEY_WRONG".to_owned()));
    fs::write(guarded.file(), format!("{before}\n{}", line("ninth", Role::Reader, 9)))
        .expect("written");
    eventually("a new key", || told(9), Option::is_none).await;
    assert_eq!(told(1).await, None);

    let request = v1::WatchGameRequest { game_id: table.id.clone(), ..Default::default() };
    let request = with(request, &by_key(9));
    let mut watch = guarded.any().games().watch_game(request).await.expect("a watch").into_inner();
    watch.message().await.expect("a snapshot");

    // For more than two looks at it, a broken file takes no key away.
    fs::write(guarded.file(), "ninth reader 12").expect("written");
    let until = tokio::time::Instant::now() + Duration::from_millis(2500);
    while tokio::time::Instant::now() < until {
        assert_eq!(told(9).await, None);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    fs::write(guarded.file(), &before).expect("written");
    eventually("a removed key", || told(9), |told| *told == Some("API_KEY_WRONG".to_owned())).await;
    assert_eq!(told(1).await, None);
    let status = loop {
        match watch.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the watch ends without a word"),
            Err(status) => break status,
        }
    };
    assert_eq!(reason(&status), "API_KEY_WRONG", "what watches with it is told no more");

    // A key whose role changes has the new one.
    let more = before.replace("reader reader", "reader platform");
    fs::write(guarded.file(), more).expect("written");
    let issue = "/banqi.v1.PlatformService/IssuePlayerToken";
    let told = || async { refused_for_its_caller(guarded.any(), issue, &by_key(1)).await };
    eventually("a higher role", told, Option::is_none).await;
}

#[rstest]
#[tokio::test]
async fn two_keys_with_one_request_id_are_two_callers(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let guarded = Guarded::start(backing).await;
    let [one, other] = &guarded.world.replicas[..] else { panic!("two replicas") };
    let id = request_id();
    let keys = [of(Role::Player), of(Role::Platform)];
    let mut created = Vec::new();
    for number in keys {
        let mut answers = Vec::new();
        for replica in [one, other] {
            let request = v1::CreateGameRequest {
                seats: assigned("TAIWANESE"),
                request_id: id.clone(),
                ..Default::default()
            };
            let answer = replica.games().create_game(with(request, &by_key(number))).await;
            let answer = answer.expect("created").into_inner();
            answers.push((answer.game.expect("a game").game_id, answer.seat_tokens));
        }
        assert_eq!(answers[0], answers[1], "a repetition");
        created.extend(answers.pop());
    }
    assert_ne!(created[0].0, created[1].0, "a game each");

    let request = with(v1::CreateGameRequest::default(), &by_key(keys[0]));
    let open = one.games().create_game(request).await.expect("created").into_inner();
    let game_id = open.game.expect("a game").game_id;
    let id = request_id();
    let mut joined = Vec::new();
    for number in keys {
        let mut answers = Vec::new();
        for replica in [one, other] {
            let (game_id, request_id) = (game_id.clone(), id.clone());
            let request = v1::JoinGameRequest { game_id, request_id, ..Default::default() };
            let answer = replica.games().join_game(with(request, &by_key(number))).await;
            let answer = answer.expect("joined").into_inner();
            answers.push((answer.seat, answer.seat_token));
        }
        assert_eq!(answers[0], answers[1], "a repetition");
        joined.extend(answers.pop());
    }
    assert_eq!([joined[0].0, joined[1].0], [1, 2], "a seat each");
}

#[tokio::test]
async fn a_replaced_seat_token_reads_and_watches_no_more() {
    let guarded = Guarded::start(Backing::Memory).await;
    let table = guarded.table(v1::SpectatorMode::Open).await;
    let old = bearer(&table.token(1));
    let request = v1::WatchGameRequest { game_id: table.id.clone(), ..Default::default() };
    let watch = guarded.any().games().watch_game(with(request, &old)).await;
    let mut watch = watch.expect("a watch").into_inner();
    watch.message().await.expect("a snapshot");
    let request =
        v1::ReissueSeatTokenRequest { game_id: table.id.clone(), seat: 1, ..Default::default() };
    let request = with(request, &by_key(of(Role::Platform)));
    guarded.any().games().reissue_seat_token(request).await.expect("reissued");
    // Who is present is told; that the token was replaced, never.
    let status = loop {
        match watch.message().await {
            Ok(Some(v1::WatchGameResponse { message: Some(Message::Presence(_)) })) => {}
            Ok(told) => panic!("a message for a dead token: {told:?}"),
            Err(status) => break status,
        }
    };
    assert_eq!(reason(&status), "SEAT_TOKEN_WRONG");
    for (path, outcome) in reads(guarded.any(), &table.id, &old).await {
        assert_eq!(reason(&outcome.expect_err(path)), "SEAT_TOKEN_WRONG", "{path}");
    }
}
