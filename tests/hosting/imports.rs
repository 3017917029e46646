//! Games that come from elsewhere: from a board, and from the record of a game.

use std::collections::BTreeSet;

use banqi::api::export::EventDocument;
use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::api::proto::v1::log_entry::Event as Told;
use banqi::rules::{
    Deal, EndReason, GameRecord, LeaveReason, Preset, RuleSet, Scribe, Seat, Setup,
};
use prost_types::Duration;
use rstest::rstest;
use tonic::Status;

use crate::exports::{export, export_document, export_record};
use crate::offers::Calls;
use crate::support::{board, cells};
use crate::table::{Table, assigned, to_move};
use crate::vector_games;
use crate::world::{Backing, Replica, World, reason, request_id};
use crate::writes::Write;

/// Asks for a game from a record.
pub(crate) fn of_record(text: impl ToString) -> v1::ImportGameRequest {
    v1::ImportGameRequest { start: Some(Start::Record(text.to_string())), ..Default::default() }
}

pub(crate) fn of_board(board: v1::Board) -> v1::ImportGameRequest {
    v1::ImportGameRequest {
        seats: assigned("TAIWANESE"),
        start: Some(Start::Board(board)),
        ..Default::default()
    }
}

/// Imports a game.
pub(crate) async fn import(
    replica: &Replica,
    request: v1::ImportGameRequest,
) -> Result<(Table, v1::Game), Status> {
    let answer = replica.platform().import_game(request).await?.into_inner();
    let game = answer.game.clone().expect("a game");
    Ok((Table::of(answer.game, answer.seat_tokens), game))
}

/// A game of two players that was written down up to here, on a deal of pieces in their set's order.
pub(crate) fn written(actions: &[&str]) -> (GameRecord, Deal) {
    let (scribe, deal) = begun(actions);
    let mut record = scribe.into_record();
    for (seat, name) in Seat::first(2).zip(["anna", "bert"]) {
        record.name_seat(seat, name).expect("a name");
    }
    (record, deal)
}

pub(crate) fn begun(actions: &[&str]) -> (Scribe, Deal) {
    let pieces = "K A A E E R R H H C C P P P P P k a a e e r r h h c c p p p p p";
    let deal = Deal::parse(RuleSet::TAIWANESE.board_size(), pieces).expect("a deal");
    let mut scribe = Scribe::new(&RuleSet::TAIWANESE, None);
    for action in actions {
        let action = action.parse().expect("an action");
        scribe.play(action, |square| deal.at(square)).expect("a legal action");
    }
    (scribe, deal)
}

/// What of a record was played: without its headers.
fn actions(record: &GameRecord) -> Vec<String> {
    record.entries().iter().map(|entry| entry.event.to_string()).collect()
}

fn position(game: &v1::Game) -> &str {
    &game.position.as_ref().expect("a position").text
}

#[rstest]
#[case::in_the_cells("?k", "")]
#[case::apart("?", "k")]
#[tokio::test]
async fn a_board_begins_with_the_pieces_that_are_given(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[case] cell: &str,
    #[case] hidden: &str,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let board = v1::Board {
        quiet_turns: 7,
        ..board(&cells(&[("a1", "P"), ("h4", cell), ("b4", "c")]), 2, &["r", "b"])
    };
    let request = v1::ImportGameRequest { hidden: hidden.to_owned(), ..of_board(board) };
    let (table, game) = import(one, request).await.expect("imported");
    assert_eq!(position(&game), "1c5X/8/8/P7 2 r,b k1 7 1");
    assert_eq!((game.state(), game.revision), (v1::GameState::Active, 1));
    assert!(game.commitment.is_empty(), "a deal that was given is no promise");
    let flipped = table.play(other, "h4").await;
    assert_eq!(flipped.last_action.expect("an action").text, "h4(k)");
    // What is taken back leads to the board again, and not to a full one.
    table.play(one, "a1-a2").await;
    Calls(&table, 1).request_takeback().send(other).await.expect("asked");
    let back = Calls(&table, 2).answer_takeback(true).send(one).await.expect("granted").game;
    assert_eq!(position(&back), "1c5k/8/8/P7 1 r,b - 0 2");

    table.resign(one, 1).await;
    let record = export_record(other, &table.id).await;
    assert_eq!(record.start().expect("a start").to_string(), "1c5X/8/8/P7 2 r,b k1 7 1");
    assert_eq!(actions(&record), ["h4(k)", "1!RESIGNATION"]);
    let document = export_document(other, &table.id).await;
    assert!(document.start.given && document.proof.commitment.is_none());
    assert_eq!(document.restore().expect("it replays").position().to_string(), document.position);
}

#[tokio::test]
async fn what_a_board_leaves_open_is_drawn_from_what_it_does_not_have() {
    let world = World::start(Backing::Memory, 1).await;
    // All is there but the two cannons and a soldier, of which two lie face down.
    let rest = "K A A E E R R H H P P P P P k a a e e r r h h c c p p p p";
    let mut cells = vec!["?", "?"];
    cells.extend(rest.split(' '));
    cells.push(".");
    let mut drawn = BTreeSet::new();
    for _ in 0..40 {
        let board = board(&cells.join(" "), 1, &["r", "b"]);
        let (table, game) = import(world.any(), of_board(board)).await.expect("imported");
        let face_down = v1::Cell::FaceDown as i32;
        let shown = &game.position.as_ref().expect("a position").cells[..2];
        assert_eq!(shown, [face_down; 2]);
        table.play(world.any(), "a1").await;
        let game = table.play(world.any(), "b1").await;
        let log = world.any().get(&game.game_id).await.log;
        let turned_up: Vec<String> = log.into_iter().filter_map(text_of_play).collect();
        drawn.insert(turned_up.join(" "));
    }
    let all = ["a1(C) b1(C)", "a1(C) b1(p)", "a1(p) b1(C)"].map(str::to_owned);
    assert_eq!(drawn, all.into(), "each of the three ways, within 40 draws");
}

fn text_of_play(entry: v1::LogEntry) -> Option<String> {
    match entry.event {
        Some(Told::Played(record)) => Some(record.text),
        _ => None,
    }
}

#[tokio::test]
async fn a_board_that_is_over_is_a_game_that_is_over() {
    let world = World::start(Backing::Memory, 1).await;
    let board = board(&cells(&[("a1", "P")]), 2, &["r", "b"]);
    let (table, game) = import(world.any(), of_board(board)).await.expect("imported");
    assert_eq!(game.state(), v1::GameState::Finished);
    assert_eq!(game.result.expect("a result").reason(), v1::EndReason::AllCaptured);
    let record = export_record(world.any(), &table.id).await;
    let again = import(world.any(), of_record(&record)).await.expect("imported again").0;
    assert_eq!(export_record(world.any(), &again.id).await, record);
}

#[rstest]
#[tokio::test]
async fn a_record_that_goes_on_is_played_on(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let (mut record, deal) = written(&["a1", "a3", "b1"]);
    record.set_created("2020-02-29T12:00:00Z").expect("a time");
    record.set_header("Event", "a cup").expect("a header");
    let hidden: Vec<String> = deal
        .pieces()
        .enumerate()
        .filter(|(index, _)| ![0, 1, 16].contains(index))
        .map(|(_, piece)| piece.to_string())
        .collect();
    let request = v1::ImportGameRequest {
        hidden: hidden.join(" "),
        labels: [("table".to_owned(), "7".to_owned())].into(),
        time_control: Some(v1::TimeControl {
            clock: Some(v1::time_control::Clock::SuddenDeath(v1::time_control::SuddenDeath {
                main_time: Some(Duration { seconds: 600, nanos: 0 }),
            })),
            ..Default::default()
        }),
        ..of_record(&record)
    };
    let (table, game) = import(one, request).await.expect("imported");
    assert_eq!((game.state(), game.revision), (v1::GameState::Active, 4));
    assert_eq!(table.tokens.len(), 2, "the players that the record names are seated");
    let players: Vec<&str> = game.seats.iter().map(|seat| seat.player_id.as_str()).collect();
    assert_eq!(players, ["anna", "bert"]);
    let labels = [("Event", "a cup"), ("table", "7")].map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(game.labels, labels.into());
    for clock in &game.clocks {
        let left = clock.remaining.expect("a clock");
        assert!(left.seconds >= 595, "what was played before took no time: {clock:?}");
    }
    let seen = other.get(&table.id).await;
    assert_eq!(seen.log.iter().filter(|entry| entry.imported).count(), 3);
    let created = seen.log[0].time;
    assert!(seen.log.iter().all(|entry| entry.time == created), "they have the import's time");

    let game = table.play(other, "d1").await;
    assert_eq!(game.last_action.expect("an action").text, "d1(E)");
    table.resign(one, 1).await;
    let exported = export_record(other, &table.id).await;
    assert_eq!(actions(&exported), ["a1(K)", "a3(k)", "b1(A)", "d1(E)", "1!RESIGNATION"]);
    assert_eq!(exported.deal(), Some(&deal), "what was given is what was played");
    assert_eq!(exported.created(), Some("2020-02-29T12:00:00Z"));
    let document = export_document(one, &table.id).await;
    let imported = document.log.iter().filter(|entry| entry.imported).count();
    assert_eq!((imported, document.log.len()), (3, 6));
    assert!(matches!(document.log[1].event, EventDocument::Played { seat: 1, turn: 1, .. }));
    assert_eq!(document.start.created.as_deref(), Some("2020-02-29T12:00:00Z"));
}

#[tokio::test]
async fn what_a_record_leaves_open_is_drawn_from_what_is_left() {
    let world = World::start(Backing::Memory, 1).await;
    let (record, _) = written(&["a1", "a3", "b1"]);
    let mut deals = BTreeSet::new();
    for _ in 0..8 {
        let (table, _) = import(world.any(), of_record(&record)).await.expect("imported");
        table.resign(world.any(), 1).await;
        let deal = export_record(world.any(), &table.id).await.deal().expect("over").to_string();
        let pieces: Vec<&str> = deal.split(' ').collect();
        assert_eq!([pieces[0], pieces[16], pieces[1]], ["K", "k", "A"], "as it was turned up");
        let mut all = pieces.clone();
        all.sort_unstable();
        let mut set: Vec<String> = banqi::rules::full_set(banqi::rules::BoardSize::Single)
            .iter()
            .map(ToString::to_string)
            .collect();
        set.sort_unstable();
        assert_eq!(all, set);
        deals.insert(deal);
    }
    assert_eq!(deals.len(), 8, "another one each time");
}

#[rstest]
#[tokio::test]
async fn a_repeated_import_is_the_same_game_whatever_would_be_drawn(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let (record, _) = written(&["a1", "a3", "b1"]);
    let request = v1::ImportGameRequest { request_id: request_id(), ..of_record(&record) };
    let first = Write::Import(request.clone()).send(world.any()).await.expect("imported");
    let table = Table::of(Some(first.game.clone()), first.tokens.clone());
    table.play(world.any(), "h4").await;
    let again = Write::Import(request.clone()).send(&world.replicas[1]).await.expect("repeated");
    assert_eq!(again, first);
    let changed = Write::Import(request).changed();
    let status = changed.send(world.any()).await.expect_err("another request");
    assert_eq!(reason(&status), "REQUEST_ID_REUSED");
}

#[tokio::test]
async fn a_record_of_players_who_are_not_named_waits_for_them() {
    let world = World::start(Backing::Memory, 1).await;
    let (scribe, _) = begun(&["a1", "a3", "b1"]);
    let record = scribe.into_record();
    let (table, game) = import(world.any(), of_record(&record)).await.expect("imported");
    assert_eq!((game.state(), table.tokens.len()), (v1::GameState::Waiting, 0));
    let mut tokens = Vec::new();
    for seat in [1, 2] {
        let join = v1::JoinGameRequest { game_id: table.id.clone(), seat, ..Default::default() };
        tokens.extend(Write::Join(join).send(world.any()).await.expect("joined").tokens);
    }
    let table = Table::of(Some(game), tokens);
    assert_eq!(table.play(world.any(), "d1").await.state(), v1::GameState::Active);
    assert_eq!(actions(&export_record(world.any(), &table.id).await).len(), 4);
}

/// What was played elsewhere is no newer than what is played here.
#[tokio::test]
async fn late_spectators_of_an_imported_game_see_it_as_late_as_any_other() {
    let world = World::start(Backing::Memory, 1).await;
    let config = banqi::server::Config { callers: Default::default(), ..crate::world::trusting() };
    let strict = Replica::on(std::sync::Arc::clone(&world.store), config).await;
    let (record, _) = written(&["a1", "a3", "b1"]);
    let request = v1::ImportGameRequest {
        spectators: Some(v1::Spectators {
            mode: v1::SpectatorMode::Delayed.into(),
            delay_turns: 2,
        }),
        ..of_record(&record)
    };
    let (table, game) = import(world.any(), request).await.expect("imported");
    assert_eq!(game.revision, 4);
    for shown in [1, 2, 3] {
        let seen = strict.get(&table.id).await;
        assert_eq!(seen.log.len(), shown + 1, "{seen:?}");
        assert_eq!(actions(&export_record(&strict, &table.id).await).len(), shown);
        table.play_on(world.any(), 1).await;
    }
}

/// A soldier that is shut in by the last action.
fn no_legal_turn() -> GameRecord {
    let setup: Setup = "8/8/r7/P1a5 2 r,b - 0 1".parse().expect("a position");
    let start = setup.into_position(&RuleSet::TAIWANESE).expect("a position");
    let mut scribe = Scribe::new(&RuleSet::TAIWANESE, Some(start.clone()));
    scribe.play("c1-b1".parse().expect("an action"), |_| None).expect("a legal action");
    let mut record = scribe.into_record();
    record.reveal(Deal::under(&start, &[]).expect("nothing is hidden")).expect("it is over");
    record
}

/// A game that did not end on the board, with a deal and two turns.
pub(crate) fn ended_by(end: impl FnOnce(&mut Scribe)) -> GameRecord {
    let (mut scribe, deal) = begun(&["a1", "a3"]);
    end(&mut scribe);
    let mut record = scribe.into_record();
    record.reveal(deal).expect("it is over");
    record
}

/// A record for every end that there is.
fn ends() -> Vec<GameRecord> {
    let mut records: Vec<GameRecord> = LeaveReason::ALL
        .into_iter()
        .map(|reason| ended_by(|scribe| scribe.leave(Seat::FIRST, reason).expect("it is in")))
        .collect();
    records.push(ended_by(Scribe::agree));
    records.push(ended_by(Scribe::abort));
    records.push(ended_by(|scribe| scribe.adjudicate(&[2, 1]).expect("places")));
    records.push(no_legal_turn());
    for mut game in vector_games::games() {
        // The vectors' own name is none that a player can have.
        game.record.name_seat(Seat::FIRST, "ana").expect("seat 1");
        records.push(game.record);
    }
    records
}

#[rstest]
#[tokio::test]
async fn a_finished_record_is_a_finished_game_whatever_ended_it(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let mut seen = BTreeSet::new();
    let mut imported = 0;
    for record in ends() {
        let outcome = record.outcome().expect("over").clone();
        let often = seen.iter().filter(|(reason, _)| *reason == outcome.reason.name()).count();
        if often >= 6 {
            continue;
        }
        seen.insert((outcome.reason.name(), imported));
        imported += 1;
        let (table, game) = import(one, of_record(&record)).await.expect("imported");
        assert_eq!(game.state(), v1::GameState::Finished, "{record}");
        let result = game.result.as_ref().expect("a result");
        assert!(result.reason().as_str_name().ends_with(outcome.reason.name()), "{result:?}");
        let places: Vec<u8> =
            result.placements.iter().map(|placement| placement.place as u8).collect();
        assert_eq!(places[..], outcome.places[..], "{record}");
        let exported = export_record(other, &table.id).await;
        if record.created().is_some() {
            assert_eq!(exported.to_string(), record.to_string());
        } else {
            let parts = |record: &GameRecord| {
                (actions(record), record.outcome().cloned(), record.deal().cloned())
            };
            assert_eq!(parts(&exported), parts(&record));
        }
        let document = export_document(other, &table.id).await;
        let restored = document.restore().expect("it replays");
        assert_eq!(restored.outcome(), Some(&outcome));
        let join = v1::JoinGameRequest { game_id: table.id.clone(), ..Default::default() };
        let status = Write::Join(join).send(one).await.expect_err("it is over");
        assert_eq!(reason(&status), "GAME_OVER");
    }
    let reasons: BTreeSet<&str> = seen.iter().map(|(reason, _)| *reason).collect();
    assert_eq!(reasons, EndReason::ALL.map(EndReason::name).into());
}

#[tokio::test]
async fn tournament_records_are_told_by_their_headers() {
    let world = World::start(Backing::Memory, 1).await;
    let (record, _) = written(&["a1", "a3", "b1", "b3"]);
    let text = record.to_cdc().expect("a tournament record");
    let (table, _) = import(world.any(), of_record(&text)).await.expect("imported");
    let cdc = export(world.any(), &table.id, v1::ExportFormat::Cdc).await;
    let read = GameRecord::from_cdc(&cdc, &RuleSet::TAIWANESE).expect("a tournament record");
    assert_eq!(actions(&read), actions(&record));
    assert_eq!(actions(&export_record(world.any(), &table.id).await), actions(&record));
}

/// A preset that the record names holds, also where another would be the default.
#[tokio::test]
async fn a_record_brings_its_rules() {
    let world = World::start(Backing::Memory, 1).await;
    let record = Scribe::new(&Preset::HongKong.rules(), None).into_record();
    let (table, _) = import(world.any(), of_record(&record)).await.expect("imported");
    let exported = export_record(world.any(), &table.id).await;
    assert_eq!(exported.rules(), &Preset::HongKong.rules());
    assert_eq!(to_move(&world.any().get(&table.id).await), 1);
}

#[tokio::test]
async fn a_record_that_starts_too_late_for_its_turns_to_be_told_apart_is_refused() {
    let world = World::start(Backing::Memory, 1).await;
    let record =
        |turn: u64| format!("[RuleSet \"TAIWANESE\"]\n[Position \"K7/8/8/7k 1 r,b - 3 {turn}\"]\n");
    import(world.any(), of_record(record(1_000_000_000))).await.expect("early enough");
    let refused =
        import(world.any(), of_record(record(1_000_000_001))).await.expect_err("too late");
    assert_eq!(crate::support::bad_fields(&refused), ["record"]);
    assert!(refused.message().contains("1000000000"), "{refused:?}");
}
