//! Games written down: what an export tells, to whom, and when.

use banqi::api::export::{EventDocument, GameDocument, StateDocument};
use banqi::api::proto::v1;
use banqi::rules::{EndReason, GameRecord, RuleSet};
use banqi::server::Config;
use rstest::rstest;
use tonic::{Code, Status};

use crate::guarded::{Metadata, bearer, with};
use crate::offers::Calls;
use crate::support::{bad_fields, refusal};
use crate::table::{Table, assigned, seat, to_move};
use crate::world::{Backing, Replica, World, reason, trusting};
use crate::writes::Write;

pub(crate) const FORMATS: [v1::ExportFormat; 3] =
    [v1::ExportFormat::Record, v1::ExportFormat::Cdc, v1::ExportFormat::Json];

/// Asks for an export with the metadata of a caller.
pub(crate) async fn try_export(
    replica: &Replica,
    id: &str,
    format: v1::ExportFormat,
    metadata: &Metadata,
) -> Result<String, Status> {
    let request = v1::ExportGameRequest { game_id: id.to_owned(), format: format.into() };
    Ok(replica.games().export_game(with(request, metadata)).await?.into_inner().text)
}

/// The export of a game that everyone may see.
pub(crate) async fn export(replica: &Replica, id: &str, format: v1::ExportFormat) -> String {
    try_export(replica, id, format, &Vec::new()).await.expect("an export")
}

pub(crate) async fn export_record(replica: &Replica, id: &str) -> GameRecord {
    export(replica, id, v1::ExportFormat::Record).await.parse().expect("a game record")
}

pub(crate) async fn export_document(replica: &Replica, id: &str) -> GameDocument {
    GameDocument::read(&export(replica, id, v1::ExportFormat::Json).await).expect("a document")
}

/// Checks that every export of a game that nothing was taken back of tells this state, and nothing of
/// a later one.
pub(crate) async fn check_exports(replica: &Replica, expected: &v1::Game) {
    let id = &expected.game_id;
    let document = export_document(replica, id).await;
    assert_eq!((&document.etag, document.revision), (&expected.etag, expected.revision));
    let etags: Vec<&str> = document.log.iter().map(|entry| entry.etag.as_str()).collect();
    assert_eq!(etags, expected.log.iter().map(|entry| entry.etag.as_str()).collect::<Vec<_>>());
    assert_eq!(document.position, expected.position.as_ref().expect("a position").text);
    let ended = expected.result.is_some();
    let proof = &document.proof;
    assert_eq!((proof.server_seed.is_some(), proof.deal.is_some()), (ended, ended));
    assert_eq!(document.result.is_some(), ended);

    let played: Vec<String> = expected
        .log
        .iter()
        .filter_map(|entry| match &entry.event {
            Some(v1::log_entry::Event::Played(record)) => Some(record.text.clone()),
            _ => None,
        })
        .collect();
    let acted = |texts: Vec<String>| -> Vec<String> {
        texts.into_iter().filter(|text| !text.contains('!')).collect()
    };
    assert_eq!(acted(document.actions), played);
    let record = export_record(replica, id).await;
    let entries = record.entries().iter().map(|entry| entry.event.to_string()).collect();
    assert_eq!(acted(entries), played);
    assert_eq!((record.outcome().is_some(), record.deal().is_some()), (ended, ended));
    let cdc = export(replica, id, v1::ExportFormat::Cdc).await;
    let cdc = GameRecord::from_cdc(&cdc, &RuleSet::TAIWANESE).expect("a tournament record");
    assert_eq!((cdc.entries(), cdc.deal()), (record.entries(), record.deal()));
}

/// What a seat's holder is given, in every format.
async fn of_a_seat(replica: &Replica, table: &Table) -> Vec<String> {
    let mut all = Vec::new();
    for format in FORMATS {
        let text = try_export(replica, &table.id, format, &bearer(&table.token(1))).await;
        all.push(text.expect("its own game"));
    }
    all
}

async fn of_a_spectator(replica: &Replica, id: &str) -> Result<Vec<String>, Status> {
    let mut all = Vec::new();
    for format in FORMATS {
        all.push(try_export(replica, id, format, &Vec::new()).await?);
    }
    Ok(all)
}

/// Without keys, so that nobody is more than a spectator who shows no token.
async fn strict(backing: Backing) -> World {
    World::with(backing, 2, Config { callers: Default::default(), ..trusting() }).await
}

async fn watched(world: &World, mode: v1::SpectatorMode, delay_turns: u32) -> Table {
    let request = v1::CreateGameRequest {
        seats: assigned("TAIWANESE"),
        spectators: Some(v1::Spectators { mode: mode.into(), delay_turns }),
        labels: [("Event".to_owned(), "a \"cup\"".to_owned())].into(),
        ..Default::default()
    };
    let answer = world.any().games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

#[rstest]
#[tokio::test]
async fn a_late_spectators_export_is_byte_for_byte_what_a_seats_was_so_many_turns_ago(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values(1, 3)] delay: usize,
) {
    let world = strict(backing).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = watched(&world, v1::SpectatorMode::Delayed, delay as u32).await;
    let mut seen = vec![of_a_seat(one, &table).await];
    for turn in 0..8 {
        let request = v1::GetGameRequest { game_id: table.id.clone(), ..Default::default() };
        let game = one.games().get_game(with(request, &bearer(&table.token(1)))).await;
        let game = game.expect("its own").into_inner().game.expect("a game");
        let action = game.legal_actions[turn % game.legal_actions.len()].text.clone();
        table.send(one, table.act(to_move(&game), &action)).await.expect("a legal action");
        seen.push(of_a_seat(other, &table).await);
        for replica in [one, other] {
            let shown = of_a_spectator(replica, &table.id).await.expect("shown");
            assert_eq!(shown, seen[(turn + 1).saturating_sub(delay)], "after turn {turn}");
        }
    }
    // What is no turn is shown with the turn before it, at the earliest.
    Calls(&table, 1).offer_draw().send(one).await.expect("offered");
    assert_eq!(of_a_spectator(other, &table.id).await.expect("shown"), seen[8 - delay]);
    table.resign(one, 2).await;
    let end = of_a_seat(one, &table).await;
    assert_eq!(of_a_spectator(other, &table.id).await.expect("shown"), end);
    assert!(end.iter().all(|text| text.contains("RESIGNATION")), "{end:?}");
}

#[rstest]
#[tokio::test]
async fn open_games_are_exported_as_they_are_played(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = strict(backing).await;
    let table = watched(&world, v1::SpectatorMode::Open, 0).await;
    for _ in 0..3 {
        table.play_on(world.any(), 1).await;
        let shown = of_a_spectator(&world.replicas[1], &table.id).await.expect("shown");
        assert_eq!(shown, of_a_seat(world.any(), &table).await);
    }
}

#[rstest]
#[tokio::test]
async fn hidden_games_are_exported_to_their_seats_alone_until_the_end(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = strict(backing).await;
    let table = watched(&world, v1::SpectatorMode::None, 0).await;
    table.send(world.any(), table.act(1, "a1")).await.expect("played");
    for replica in &world.replicas {
        for format in FORMATS {
            let status = try_export(replica, &table.id, format, &Vec::new()).await;
            assert_eq!(reason(&status.expect_err("hidden")), "SPECTATORS_HIDDEN", "{format:?}");
        }
        assert!(of_a_seat(replica, &table).await[0].contains("1. a1("));
    }
    let other = watched(&world, v1::SpectatorMode::None, 0).await;
    let foreign = bearer(&other.token(1));
    let status = try_export(world.any(), &table.id, v1::ExportFormat::Json, &foreign).await;
    assert_eq!(reason(&status.expect_err("of another game")), "SEAT_TOKEN_WRONG");
    table.resign(world.any(), 1).await;
    let shown = of_a_spectator(&world.replicas[1], &table.id).await.expect("shown");
    assert_eq!(shown, of_a_seat(world.any(), &table).await);
}

/// Plays until both seats have moved without turning anything up, so that it can be taken back.
async fn play_until_quiet(table: &Table, replica: &Replica) -> v1::Game {
    loop {
        let game = replica.get(&table.id).await;
        if game.position.as_ref().expect("a position").quiet_turns >= 2 {
            return game;
        }
        let quiet = |action: &&v1::LegalAction| action.kind() == v1::ActionKind::Move;
        let action = game.legal_actions.iter().find(quiet).or(game.legal_actions.first());
        table.play(replica, &action.expect("a legal action").text).await;
    }
}

#[rstest]
#[tokio::test]
async fn a_record_has_what_counts_and_the_document_all_that_happened(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Assigned, "bert")],
        labels: [("Event", "a \"cup\""), ("no name", "left out"), ("Result", "mine")]
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..Default::default()
    };
    let answer = one.games().create_game(request).await.expect("created").into_inner();
    let commitment = answer.game.as_ref().expect("a game").commitment.clone();
    let table = Table::of(answer.game, answer.seat_tokens);
    let add = v1::AddEntropyRequest {
        game_id: table.id.clone(),
        seat: 2,
        entropy: vec![0, 255],
        ..Default::default()
    };
    Write::AddEntropy(add).send(one).await.expect("added");
    let before = play_until_quiet(&table, one).await;
    let asking = to_move(&before);
    let (asks, answers) = (Calls(&table, asking), Calls(&table, 3 - asking));
    asks.request_takeback().send(one).await.expect("asked");
    answers.answer_takeback(true).send(one).await.expect("granted");
    let quiet = export_document(other, &table.id).await;
    assert_eq!((quiet.state, &quiet.result), (StateDocument::Active, &None));
    assert_eq!((&quiet.proof.server_seed, &quiet.proof.deal), (&None, &None));
    asks.offer_draw().send(one).await.expect("offered");
    answers.answer_draw(true).send(one).await.expect("a draw");

    let record = export_record(other, &table.id).await;
    let game = one.get(&table.id).await;
    let texts: Vec<String> = record.entries().iter().map(|entry| entry.event.to_string()).collect();
    let played = |entry: &v1::LogEntry| match &entry.event {
        Some(v1::log_entry::Event::Played(record)) => Some(record.text.clone()),
        _ => None,
    };
    let all: Vec<String> = game.log.iter().filter_map(played).collect();
    assert_eq!(texts[..], all[..all.len() - 2], "the two last turns were taken back");
    assert_eq!(record.replay().expect("a game").position().to_string(), quiet.position);
    assert_eq!(record.outcome().expect("over").reason, EndReason::Agreement);
    let seats = banqi::rules::Seat::first(2).map(|seat| record.seat(seat)).collect::<Vec<_>>();
    assert_eq!(seats, [Some("anna"), Some("bert")]);
    assert_eq!(record.other_headers().collect::<Vec<_>>(), [("Event", "a \"cup\"")]);
    assert!(record.created().is_some() && record.deal().is_some());

    let document = export_document(one, &table.id).await;
    assert_eq!(document.actions, texts);
    assert_eq!(document.labels.len(), 3);
    assert_eq!(document.log.len() as u64, game.revision);
    let has = |wanted: fn(&EventDocument) -> bool| {
        document.log.iter().filter(|entry| wanted(&entry.event)).count()
    };
    assert_eq!(has(|event| matches!(event, EventDocument::Played { .. })), all.len());
    assert_eq!(has(|event| matches!(event, EventDocument::EntropyAdded { seat: 2, .. })), 1);
    assert_eq!(has(|event| matches!(event, EventDocument::TakebackRequested { .. })), 1);
    assert_eq!(has(|event| matches!(event, EventDocument::TakebackAnswered { undone: 2, .. })), 1);
    assert_eq!(has(|event| matches!(event, EventDocument::DrawOffered { .. })), 1);
    assert_eq!(has(|event| matches!(event, EventDocument::DrawAnswered { accepted: true, .. })), 1);
    assert_eq!(document.proof.commitment.as_ref().expect("dealt").0, commitment);
    assert_eq!(document.proof.entropies[1].0, [0, 255]);
    let result = document.result.as_ref().expect("over");
    assert_eq!((result.reason.as_str(), &result.places[..]), ("AGREEMENT", &[1, 1][..]));
    // The document alone is enough to come to the same game.
    let restored = document.restore().expect("it replays");
    assert_eq!(restored.position().to_string(), document.position);
    assert_eq!(GameDocument::of(&restored), document);
}

#[tokio::test]
async fn a_format_that_is_not_said_is_the_record() {
    let world = World::start(Backing::Memory, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    table.play_on(world.any(), 3).await;
    let unsaid = export(world.any(), &table.id, v1::ExportFormat::Unspecified).await;
    assert_eq!(unsaid, export(world.any(), &table.id, v1::ExportFormat::Record).await);
}

#[rstest]
#[case::no_game("", 1, &["game_id"])]
#[case::no_id("a b", 1, &["game_id"])]
#[case::no_format("nowhere", 4, &["format"])]
#[case::negative_format("nowhere", -1, &["format"])]
#[case::both("", 9, &["game_id", "format"])]
#[tokio::test]
async fn what_cannot_be_exported_is_told_by_its_field(
    #[case] id: &str,
    #[case] format: i32,
    #[case] fields: &[&str],
) {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::ExportGameRequest { game_id: id.to_owned(), format };
    let status = world.any().games().export_game(request).await.expect_err("bad input");
    assert_eq!(bad_fields(&status), fields);
}

#[tokio::test]
async fn a_game_that_is_not_there_is_not_found_in_any_format() {
    let world = World::start(Backing::Memory, 1).await;
    for format in FORMATS {
        let status = try_export(world.any(), "nowhere", format, &Vec::new()).await;
        assert_eq!(reason(&status.expect_err("nowhere")), "GAME_NOT_FOUND", "{format:?}");
    }
}

#[rstest]
#[case::double("DOUBLE", Default::default(), "board")]
#[case::four_seats("DOUBLE_FOUR", Default::default(), "board")]
#[case::chain("TAIWANESE_CHAIN", Default::default(), "chain")]
#[case::probe(
    "TAIWANESE",
    v1::RuleSet { face_down: Some(v1::FaceDownRule::Probe.into()), ..Default::default() },
    "face_down"
)]
#[tokio::test]
async fn rules_that_have_no_tournament_record_are_told_by_their_fields(
    #[case] preset: &str,
    #[case] rules: v1::RuleSet,
    #[case] fields: &str,
) {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::CreateGameRequest {
        preset: preset.to_owned(),
        rules: Some(rules),
        ..Default::default()
    };
    let game = Write::Create(request).send(world.any()).await.expect("created").game;
    let cdc = v1::ExportFormat::Cdc;
    let status = try_export(world.any(), &game.game_id, cdc, &Vec::new()).await;
    let (code, reason, details) = refusal(&status.expect_err("no such form"));
    assert_eq!((code, reason.as_str()), (Code::FailedPrecondition, "NO_TOURNAMENT_RECORD"));
    assert_eq!(details.error_info().expect("an ErrorInfo").metadata["fields"], fields);
}
