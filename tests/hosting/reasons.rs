//! Every reason that calls about hosted games can be refused for, provoked and looked at.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::error::Reason;
use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::game::{Etag, GameId};
use banqi::rules::{BoardSize, full_set};
use banqi::server::Config;
use rstest::rstest;
use tonic::Status;
use tonic::codegen::http::uri::PathAndQuery;
use tonic_prost::ProstCodec;
use tonic_types::ErrorDetails;

use crate::adjudication::adjudicate;
use crate::illegal;
use crate::meddling::{Meddling, Trouble};
use crate::offers;
use crate::stored::{self, Spoilt};
use crate::support::refusal;
use crate::table::{Table, assigned, seat};
use crate::world::{Backing, Replica, World, request_id, trusting};
use crate::writes::Write;

/// Reasons that no call about a hosted game can be made to give here, and why.
const ELSEWHERE: [(Reason, &str); 17] = [
    (Reason::Unimplemented, "of a service or method that there is not: tests/serving.rs"),
    (Reason::ServiceNotFound, "of the health check alone: tests/serving.rs"),
    (Reason::DeadlineExceeded, "of the layer around every service: tests/serving.rs"),
    (Reason::CredentialsMalformed, KEYS),
    (Reason::ApiKeyMissing, KEYS),
    (Reason::ApiKeyWrong, KEYS),
    (Reason::RoleTooLow, KEYS),
    (Reason::PlayerTokenWrong, KEYS),
    (Reason::PlayerTokenExpired, KEYS),
    (Reason::OtherPlayer, KEYS),
    (Reason::NoServiceKey, "of no game: tests/hosting/player_tokens.rs"),
    (Reason::Overloaded, LIMITS),
    (Reason::RateLimited, LIMITS),
    (Reason::TooManyStreams, LIMITS),
    (Reason::StreamExpired, "of old streams: tests/hosting/stream_age.rs"),
    (Reason::SpectatorsHidden, "of callers that are not trusted: tests/hosting/spectators.rs"),
    (Reason::Internal, "a fault of the service, which no call should be able to cause"),
];

/// Why a service without keys, as it is here, does not tell them.
const KEYS: &str = "of callers of a service with keys: tests/hosting/roles.rs, player_tokens.rs";
/// Why a service without limits, as it is here, does not tell them.
const LIMITS: &str = "of callers that want too much: tests/limits.rs";
/// A cursor of a reader of all eight shards who read the last one in 1970.
const OLD_CURSOR: &str = "EAEaCAAAAAAAAAAAIggAAAAAAAAAAA";

/// The reasons seen so far.
#[derive(Default)]
pub(crate) struct Provoked(BTreeSet<&'static str>);

impl Provoked {
    /// Checks all that a refusal for this reason must tell.
    pub(crate) fn note(&mut self, reason: Reason, status: &Status) {
        let (code, told, details) = refusal(status);
        assert_eq!((code, told.as_str()), (reason.code(), reason.name()), "{status:?}");
        let metadata = &details.error_info().expect("an ErrorInfo").metadata;
        match code {
            tonic::Code::FailedPrecondition => check_precondition(reason, &details),
            tonic::Code::Aborted => {
                let etag: Etag = metadata["etag"].parse().expect("an etag");
                assert_eq!(metadata["revision"], etag.0.revision.to_string());
            }
            _ => {}
        }
        match reason {
            Reason::InvalidFields => {
                let fields = &details.bad_request().expect("a BadRequest").field_violations;
                assert!(!fields.is_empty() && fields.iter().all(|f| !f.description.is_empty()));
            }
            Reason::ShuttingDown => {
                let retry = details.retry_info().expect("a RetryInfo").retry_delay;
                assert!(retry.is_some_and(|delay| delay <= Duration::from_secs(1)), "{retry:?}");
            }
            Reason::StoreUnavailable => {
                let retry = details.retry_info().expect("a RetryInfo").retry_delay;
                assert!(retry.is_some_and(|delay| !delay.is_zero()));
            }
            _ => {}
        }
        let about_a_game = matches!(code, tonic::Code::FailedPrecondition | tonic::Code::Aborted)
            || matches!(
                reason,
                Reason::GameNotFound
                    | Reason::GameIdTaken
                    | Reason::RecordBroken
                    | Reason::RecordNewer
                    | Reason::RecordSealed
            );
        if about_a_game {
            metadata["game_id"].parse::<GameId>().expect("the game's id");
        }
        self.0.insert(reason.name());
    }

    pub(crate) async fn by(&mut self, reason: Reason, replica: &Replica, write: Write) {
        let status = write.send(replica).await.expect_err(reason.name());
        self.note(reason, &status);
    }

    fn check_that_all_were(&self) {
        for reason in Reason::ALL {
            let elsewhere = ELSEWHERE.iter().any(|(other, _)| other == reason);
            assert_ne!(
                self.0.contains(reason.name()),
                elsewhere,
                "{reason}: either a call here provokes it, or ELSEWHERE says why none can"
            );
        }
    }
}

fn check_precondition(reason: Reason, details: &ErrorDetails) {
    let failure = details.precondition_failure().expect("a PreconditionFailure");
    let [violation] = &failure.violations[..] else { panic!("{failure:?}") };
    let kind = if illegal::REASONS.contains(&reason) { "ILLEGAL_ACTION" } else { reason.name() };
    assert_eq!(violation.r#type, kind);
    assert!(!violation.description.is_empty());
    let metadata = &details.error_info().expect("an ErrorInfo").metadata;
    assert_eq!(violation.subject, metadata["game_id"]);
}

#[rstest]
#[tokio::test]
async fn every_reason_is_given_with_what_belongs_to_it(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let mut world = World::start(backing, 1).await;
    let mut provoked = Provoked::default();
    requests(&mut provoked, &world).await;
    credentials(&mut provoked, &world).await;
    games(&mut provoked, &world).await;
    versions(&mut provoked, &world).await;
    seats(&mut provoked, &world).await;
    play(&mut provoked, &world).await;
    illegal::provoke(&mut provoked, world.any()).await;
    offers::provoke(&mut provoked, world.any()).await;
    store(&mut provoked, &world).await;
    stopping(&mut provoked, &mut world).await;
    provoked.check_that_all_were();
}

async fn requests(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let create = Write::Create(v1::CreateGameRequest {
        preset: "CHESS".to_owned(),
        seating: 9,
        ..Default::default()
    });
    provoked.by(Reason::InvalidFields, one, create).await;

    let labels = [("large".to_owned(), "x".repeat(2 << 20))].into();
    let create = Write::Create(v1::CreateGameRequest { labels, ..Default::default() });
    provoked.by(Reason::MessageTooLarge, one, create).await;

    let request =
        v1::StreamLifecycleRequest { after_cursor: OLD_CURSOR.to_owned(), ..Default::default() };
    let status = one.platform().stream_lifecycle(request).await.expect_err("too old");
    provoked.note(Reason::CursorExpired, &status);

    // Bytes that are no text where the id should be.
    let message = v1::GetFairnessProofResponse { commitment: vec![0xff], ..Default::default() };
    let mut grpc = tonic::client::Grpc::new(one.channel.clone());
    grpc.ready().await.expect("connected");
    let codec = ProstCodec::<v1::GetFairnessProofResponse, v1::GetGameResponse>::default();
    let path = PathAndQuery::from_static("/banqi.v1.GameService/GetGame");
    let status = grpc.unary(tonic::Request::new(message), path, codec).await;
    provoked.note(Reason::MalformedMessage, &status.expect_err("no message"));
}

async fn credentials(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let table = Table::create(one, "TAIWANESE").await;
    let other = Table::create(one, "TAIWANESE").await;
    let with_token = |token: &str| {
        Write::Play(v1::PlayActionRequest { seat_token: token.to_owned(), ..table.act(1, "a1") })
    };
    provoked.by(Reason::SeatTokenMissing, one, with_token("")).await;
    for token in ["nonsense", &other.token(1), &format!("bqs_{}", "A".repeat(44))] {
        provoked.by(Reason::SeatTokenWrong, one, with_token(token)).await;
    }

    let strict = Replica::on(Arc::clone(&world.store), Config::default()).await;
    let mut by_seat = table.act(1, "a1");
    by_seat.seat_token.clear();
    by_seat.seat = 1;
    provoked.by(Reason::PlatformOnly, &strict, Write::Play(by_seat)).await;
    let import = Write::Import(v1::ImportGameRequest::default());
    provoked.by(Reason::PlatformOnly, &strict, import).await;
}

async fn games(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let nowhere = |id: &str| id.to_owned();
    let status = one.try_get("nowhere").await.expect_err("no such game");
    provoked.note(Reason::GameNotFound, &status);
    let request =
        v1::BatchGetGamesRequest { game_ids: vec![nowhere("nowhere")], ..Default::default() };
    let status = one.games().batch_get_games(request).await.expect_err("no such game");
    provoked.note(Reason::GameNotFound, &status);
    let request = v1::ListLegalActionsRequest { game_id: nowhere("nowhere") };
    let status = one.games().list_legal_actions(request).await.expect_err("no such game");
    provoked.note(Reason::GameNotFound, &status);
    let request = v1::GetFairnessProofRequest { game_id: nowhere("nowhere") };
    let status = one.games().get_fairness_proof(request).await.expect_err("no such game");
    provoked.note(Reason::GameNotFound, &status);
    let request = v1::ExportGameRequest { game_id: nowhere("nowhere"), ..Default::default() };
    let status = one.games().export_game(request).await.expect_err("no such game");
    provoked.note(Reason::GameNotFound, &status);
    let status = one.watch("nowhere", "").await.expect_err("no such game");
    provoked.note(Reason::GameNotFound, &status);
    let join = v1::JoinGameRequest { game_id: nowhere("nowhere"), ..Default::default() };
    provoked.by(Reason::GameNotFound, one, Write::Join(join)).await;

    let request = v1::CreateGameRequest { game_id: "taken".to_owned(), ..Default::default() };
    let create = Write::Create(request);
    create.send(one).await.expect("created");
    provoked.by(Reason::GameIdTaken, one, create.clone()).await;
    provoked.by(Reason::GameIdTaken, one, create.with_request_id(&request_id())).await;
}

async fn versions(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let table = Table::create(one, "TAIWANESE").await;
    let before = one.get(&table.id).await.etag;
    let play = Write::Play(table.act(1, "a1")).with_request_id("used");
    play.send(one).await.expect("played");
    provoked.by(Reason::RequestIdReused, one, play.changed()).await;
    let play = Write::Play(table.act(2, "b1"));
    provoked.by(Reason::EtagMismatch, one, play.clone().with_etag(&before)).await;
    for lost in [format!("9.{}", "0".repeat(16)), format!("2.{}", "0".repeat(16))] {
        provoked.by(Reason::HistoryLost, one, play.clone().with_etag(&lost)).await;
    }
}

async fn seats(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let create = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Reserved, "anna"), seat(v1::SeatClaim::Open, "")],
        ..Default::default()
    };
    let id = Write::Create(create).send(one).await.expect("created").game.game_id;
    let join = |seat, player: &str| {
        Write::Join(v1::JoinGameRequest {
            game_id: id.clone(),
            seat,
            player_id: player.to_owned(),
            ..Default::default()
        })
    };
    let entropy = |seat| {
        Write::AddEntropy(v1::AddEntropyRequest {
            game_id: id.clone(),
            seat,
            entropy: vec![1],
            ..Default::default()
        })
    };
    provoked.by(Reason::SeatReserved, one, join(1, "bert")).await;
    provoked.by(Reason::NoSuchSeat, one, join(3, "bert")).await;
    provoked.by(Reason::NoSuchSeat, one, entropy(4)).await;
    provoked.by(Reason::SeatNotJoined, one, entropy(2)).await;
    join(2, "bert").send(one).await.expect("joined");
    provoked.by(Reason::SeatTaken, one, join(2, "carl")).await;
    provoked.by(Reason::NoSeatOpen, one, join(0, "carl")).await;
    provoked.by(Reason::AlreadySeated, one, join(0, "bert")).await;
    let play = v1::PlayActionRequest {
        game_id: id.clone(),
        seat: 2,
        action: "a1".to_owned(),
        ..Default::default()
    };
    provoked.by(Reason::GameNotStarted, one, Write::Play(play.clone())).await;
    entropy(2).send(one).await.expect("added");
    provoked.by(Reason::EntropyAdded, one, entropy(2)).await;
    join(0, "anna").send(one).await.expect("joined");
    Write::Play(v1::PlayActionRequest { seat: 1, ..play }).send(one).await.expect("played");
    provoked.by(Reason::DealFixed, one, entropy(1)).await;

    let deal: Vec<String> = full_set(BoardSize::Single).iter().map(ToString::to_string).collect();
    let import = v1::ImportGameRequest {
        seats: assigned("TAIWANESE"),
        start: Some(Start::Deal(deal.join(" "))),
        ..Default::default()
    };
    let given = Write::Import(import).send(one).await.expect("imported").game.game_id;
    let entropy =
        v1::AddEntropyRequest { game_id: given, seat: 1, entropy: vec![1], ..Default::default() };
    provoked.by(Reason::DealGiven, one, Write::AddEntropy(entropy)).await;
}

async fn play(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let table = Table::create(one, "DOUBLE_FOUR").await;
    provoked.by(Reason::NotYourTurn, one, Write::Play(table.act(2, "a1"))).await;
    let request =
        v1::ExportGameRequest { game_id: table.id.clone(), format: v1::ExportFormat::Cdc.into() };
    let status = one.games().export_game(request).await.expect_err("the double board");
    provoked.note(Reason::NoTournamentRecord, &status);
    table.resign(one, 3).await;
    provoked.by(Reason::SeatOut, one, Write::Play(table.act(3, "a1"))).await;
    provoked.by(Reason::SeatOut, one, Write::Resign(table.resignation(3))).await;
    for seat in [1, 2] {
        table.resign(one, seat).await;
    }
    for seat in [1, 4] {
        provoked.by(Reason::GameOver, one, Write::Play(table.act(seat, "a1"))).await;
        provoked.by(Reason::GameOver, one, Write::Resign(table.resignation(seat))).await;
    }
    let join = v1::JoinGameRequest { game_id: table.id.clone(), ..Default::default() };
    provoked.by(Reason::GameOver, one, Write::Join(join)).await;
    let four = Table::create(one, "DOUBLE_FOUR").await;
    let status = adjudicate(one, &four.id, &[1, 2]).await.expect_err("four seats");
    provoked.note(Reason::PlacementsWrong, &status);
}

async fn store(provoked: &mut Provoked, world: &World) {
    let one = world.any();
    let meddling = Meddling::with(Arc::clone(&world.store));
    let troubled = Replica::on(Arc::clone(&meddling) as _, trusting()).await;
    let table = Table::create(one, "TAIWANESE").await;
    let play = Write::Play(table.act(1, "a1")).with_request_id("in trouble");

    meddling.make(Trouble::Contended);
    provoked.by(Reason::Contention, &troubled, play.clone()).await;
    meddling.make(Trouble::Away);
    provoked.by(Reason::StoreUnavailable, &troubled, play.clone()).await;
    let status = troubled.try_get(&table.id).await.expect_err("away");
    provoked.note(Reason::StoreUnavailable, &status);
    let status = troubled.watch(&table.id, "").await.expect_err("away");
    provoked.note(Reason::StoreUnavailable, &status);

    // The outcome is unknown to the caller; repeating the call tells it.
    meddling.make(Trouble::AwayAfterWriting);
    provoked.by(Reason::StoreUnavailable, &troubled, play.clone()).await;
    meddling.make(Trouble::None);
    let answer = play.send(&troubled).await.expect("it had its effect");
    assert_eq!((answer.game.revision, one.get(&table.id).await.revision), (2, 2));

    for (spoilt, reason) in Spoilt::ALL {
        let table = Table::create(one, "TAIWANESE").await;
        stored::spoil(world, &table.id, spoilt).await;
        let status = troubled.try_get(&table.id).await.expect_err("unreadable");
        provoked.note(reason, &status);
    }
}

async fn stopping(provoked: &mut Provoked, world: &mut World) {
    let table = Table::create(world.any(), "TAIWANESE").await;
    let mut stream = world.any().watch(&table.id, "").await.expect("a watch");
    stream.message().await.expect("a snapshot").expect("a snapshot");
    world.replicas[0].server.ask_to_stop();
    let status = loop {
        match stream.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ends without a word"),
            Err(status) => break status,
        }
    };
    provoked.note(Reason::ShuttingDown, &status);
}
