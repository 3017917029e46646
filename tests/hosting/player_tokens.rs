//! Player tokens: issued by the platform, taken by every replica.

use banqi::api::callers::Role;
use banqi::api::proto::v1;
use tonic::{Code, Status};

use crate::guarded::{Guarded, Metadata, bearer, by_key, call, of, with};
use crate::support::{PATIENCE, bad_fields, refusal};
use crate::table::seat;
use crate::world::{Backing, World, eventually, reason};

#[tokio::test]
async fn player_tokens_are_taken_by_every_replica_until_they_expire() {
    let guarded = Guarded::start(Backing::Memory).await;
    let [one, other] = &guarded.world.replicas[..] else { panic!("two replicas") };
    let issue = |lifetime: Option<prost_types::Duration>| {
        let request = v1::IssuePlayerTokenRequest { player_id: "anna".to_owned(), lifetime };
        let request = with(request, &by_key(of(Role::Platform)));
        let mut platform = one.platform();
        async move { platform.issue_player_token(request).await.map(tonic::Response::into_inner) }
    };
    let millis = |millis: i32| prost_types::Duration { seconds: 0, nanos: millis * 1_000_000 };
    let told = |token: String| {
        let metadata = [by_key(of(Role::Reader)), bearer(&token)].concat();
        async move {
            let path = "/banqi.v1.RulesService/ListPresets";
            call(other, path, (), &metadata).await.err().map(|status| reason(&status))
        }
    };
    let answer = issue(None).await.expect("issued");
    assert!(answer.token.starts_with("bqp_") && answer.expire_time.is_some());
    assert_eq!(told(answer.token.clone()).await, None);
    let changed = answer.token.replacen("bqp_A", "bqp_B", 1);
    assert_ne!(changed, answer.token);
    assert_eq!(told(changed).await, Some("PLAYER_TOKEN_WRONG".to_owned()));
    assert_eq!(told("bqp_".to_owned()).await, Some("PLAYER_TOKEN_WRONG".to_owned()));
    // It proves a player, and is no key.
    let path = "/banqi.v1.RulesService/ListPresets";
    let status = call(other, path, (), &bearer(&answer.token)).await.expect_err("no key");
    assert_eq!(reason(&status), "API_KEY_MISSING");

    let short = issue(Some(millis(1))).await.expect("issued").token;
    let expired = Some("PLAYER_TOKEN_EXPIRED".to_owned());
    eventually("expired", || told(short.clone()), |told| *told == expired).await;

    let days = |days: i64| prost_types::Duration { seconds: days * 86_400, nanos: 0 };
    issue(Some(days(30))).await.expect("the longest");
    let over = prost_types::Duration { nanos: 1_000_000, ..days(30) };
    for lifetime in [days(0), days(-1), over, millis(-5)] {
        let status = issue(Some(lifetime)).await.expect_err("no lifetime");
        assert_eq!(bad_fields(&status), ["lifetime"], "{lifetime}");
    }
}

#[tokio::test]
async fn without_a_service_key_there_are_no_player_tokens() {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::IssuePlayerTokenRequest { player_id: "anna".to_owned(), lifetime: None };
    let status = world.any().platform().issue_player_token(request).await.expect_err("no key");
    let (code, told, details) = refusal(&status);
    assert_eq!((code, told.as_str()), (Code::FailedPrecondition, "NO_SERVICE_KEY"));
    let failure = details.precondition_failure().expect("a PreconditionFailure");
    assert_eq!(failure.violations[0].r#type, "NO_SERVICE_KEY");
    assert_eq!(failure.violations[0].subject, "--service-key");
    let path = "/banqi.v1.RulesService/ListPresets";
    let status = call(world.any(), path, (), &bearer("bqp_AAAA")).await.expect_err("no key");
    assert_eq!(reason(&status), "PLAYER_TOKEN_WRONG");
}

#[tokio::test]
async fn a_player_watches_its_own_games_and_nobody_elses() {
    let guarded = Guarded::start(Backing::Memory).await;
    let mut platform = guarded.any().platform();
    let request = v1::IssuePlayerTokenRequest { player_id: "anna".to_owned(), lifetime: None };
    let answer = platform.issue_player_token(with(request, &by_key(of(Role::Platform)))).await;
    let token = bearer(&answer.expect("issued").into_inner().token);
    let watch = |player: &str, metadata: Metadata| {
        let request = v1::WatchPlayerRequest { player_id: player.to_owned(), ..Default::default() };
        let mut games = guarded.any().games();
        async move { games.watch_player(with(request, &metadata)).await.map(|_| ()) }
    };
    watch("anna", token.clone()).await.expect("her own");
    watch("bert", by_key(of(Role::Platform))).await.expect("anyone's");
    let both = [by_key(of(Role::Platform)), token.clone()].concat();
    watch("bert", both).await.expect("anyone's");
    let keyed = [by_key(of(Role::Player)), token.clone()].concat();
    for metadata in [token, keyed] {
        let status = watch("bert", metadata).await.expect_err("not hers");
        let (code, reason, _) = refusal(&status);
        assert_eq!((code, reason.as_str()), (Code::PermissionDenied, "OTHER_PLAYER"));
    }
    let status = watch("anna", by_key(of(Role::Player))).await.expect_err("no token");
    assert_eq!(reason(&status), "ROLE_TOO_LOW");
}

#[tokio::test]
async fn a_stream_ends_when_its_player_token_expires() {
    let guarded = Guarded::start(Backing::Memory).await;
    let lifetime = Some(prost_types::Duration { seconds: 1, nanos: 0 });
    let request = v1::IssuePlayerTokenRequest { player_id: "anna".to_owned(), lifetime };
    let request = with(request, &by_key(of(Role::Platform)));
    let answer = guarded.any().platform().issue_player_token(request).await.expect("issued");
    let token = bearer(&answer.into_inner().token);
    let request = v1::WatchPlayerRequest { player_id: "anna".to_owned(), ..Default::default() };
    let mut games = guarded.any().games();
    let stream = games.watch_player(with(request, &token)).await.expect("not expired yet");
    let mut stream = stream.into_inner();
    let ended = async {
        loop {
            match stream.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the stream ends without a word"),
                Err(status) => return status,
            }
        }
    };
    let status = tokio::time::timeout(PATIENCE, ended).await.expect("it ends in time");
    assert_eq!(reason(&status), "PLAYER_TOKEN_EXPIRED");
}

#[tokio::test]
async fn a_player_lists_its_own_games_and_nobody_elses() {
    let guarded = Guarded::start(Backing::Memory).await;
    let platform = by_key(of(Role::Platform));
    let issue = v1::IssuePlayerTokenRequest { player_id: "anna".to_owned(), lifetime: None };
    let answer = guarded.any().platform().issue_player_token(with(issue, &platform)).await;
    let token = bearer(&answer.expect("issued").into_inner().token);
    // Hidden from spectators, but not from whoever sits in it.
    let mode = v1::SpectatorMode::None.into();
    let create = v1::CreateGameRequest {
        seats: ["anna", "bert"].map(|player| seat(v1::SeatClaim::Assigned, player)).to_vec(),
        spectators: Some(v1::Spectators { mode, ..Default::default() }),
        ..Default::default()
    };
    let created = guarded.any().games().create_game(with(create, &platform)).await;
    let id = created.expect("created").into_inner().game.expect("a game").game_id;
    let list = async |player: &str, metadata: &Metadata| {
        let request = v1::ListGamesRequest { player_id: player.to_owned(), ..Default::default() };
        let answer = guarded.any().games().list_games(with(request, metadata)).await?.into_inner();
        Ok::<Vec<_>, Status>(answer.games.into_iter().map(|game| game.game_id).collect())
    };
    let own = async || list("anna", &token).await.expect("her own");
    eventually("listed", own, |ids| *ids == [id.clone()]).await;
    assert_eq!(list("", &platform).await.expect("all"), [id]);
    for player in ["bert", ""] {
        let refused = list(player, &token).await.expect_err("not hers");
        assert_eq!(reason(&refused), "OTHER_PLAYER", "{player}");
    }
    for player in ["anna", ""] {
        let refused = list(player, &by_key(of(Role::Player))).await.expect_err("no token");
        assert_eq!(reason(&refused), "ROLE_TOO_LOW", "{player}");
    }
}
