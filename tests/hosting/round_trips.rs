//! A game that is exported, imported and exported again is the same: random games of every preset,
//! begun elsewhere, played on by the service, over or not.

use banqi::api::export::GameDocument;
use banqi::api::proto::v1;
use banqi::rules::{Deal, GameRecord, LeaveReason, Preset, Scribe, Seat};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};

use crate::adjudication::adjudicate;
use crate::exports::{export, export_document};
use crate::imports::{import, of_record};
use crate::offers::Calls;
use crate::table::{Table, shuffled, to_move};
use crate::world::{Backing, Replica, World};

const GAMES: u64 = 1000;
const SEED: u64 = 20_261_130;

/// A game of named players up to somewhere, and what lies where in it.
fn begun(preset: Preset, random: &mut Xoshiro256PlusPlus) -> (GameRecord, Deal) {
    let rules = preset.rules();
    let board = rules.board_size();
    let deal = Deal::parse(board, &shuffled(board, random)).expect("a deal");
    let mut scribe = Scribe::new(&rules, None);
    for _ in 0..random.random_range(0..150) {
        if scribe.referee().outcome().is_some() {
            break;
        }
        if random.random_bool(0.005) {
            let seats: Vec<Seat> = Seat::first(rules.seats()).collect();
            let seat = *seats.choose(random).expect("a seat");
            let reason = *LeaveReason::ALL.choose(random).expect("a reason");
            // One that is out already cannot leave.
            let _ = scribe.leave(seat, reason);
            continue;
        }
        let action = *scribe.referee().legal_actions().choose(random).expect("a legal action");
        scribe.play(action, |square| deal.at(square)).expect("it is legal");
    }
    let mut record = scribe.into_record();
    for seat in Seat::first(rules.seats()) {
        record.name_seat(seat, format!("player-{seat}")).expect("a name");
    }
    record
        .set_header("Event", format!("\"{preset}\" \\ {}", random.random::<u16>()))
        .expect("a header");
    (record, deal)
}

/// A request for the game of a record, with what it does not tell of the deal.
fn request(record: &GameRecord, deal: &Deal) -> v1::ImportGameRequest {
    let end = record.replay().expect("it was played");
    let hidden =
        end.position().face_down_squares().into_iter().filter_map(|square| deal.at(square));
    let hidden: Vec<String> = hidden.map(|piece| piece.to_string()).collect();
    let hidden = if record.deal().is_some() { String::new() } else { hidden.join(" ") };
    v1::ImportGameRequest { hidden, ..of_record(record) }
}

/// Plays on for a while, takes something back, and perhaps ends the game.
async fn play_on(replica: &Replica, table: &Table, random: &mut Xoshiro256PlusPlus) {
    let mut game = replica.get(&table.id).await;
    for _ in 0..random.random_range(0..8) {
        if game.result.is_some() {
            return;
        }
        let action = game.legal_actions.choose(random).expect("a legal action").text.clone();
        let request = table.act(to_move(&game), &action);
        game = table.send(replica, request).await.expect("it is legal");
        // What turned something up or put a seat out cannot be taken back.
        let Some(asking) =
            (game.result.is_none() && random.random_bool(0.3)).then(|| to_move(&game))
        else {
            continue;
        };
        if Calls(table, asking).request_takeback().send(replica).await.is_ok() {
            for seat in others(&game, asking) {
                game = Calls(table, seat)
                    .answer_takeback(true)
                    .send(replica)
                    .await
                    .expect("granted")
                    .game;
            }
        }
    }
    if game.result.is_some() {
        return;
    }
    let by = to_move(&game);
    match random.random_range(0..5) {
        0 => drop(table.resign(replica, by).await),
        1 => {
            Calls(table, by).offer_draw().send(replica).await.expect("offered");
            for seat in others(&game, by) {
                Calls(table, seat).answer_draw(true).send(replica).await.expect("accepted");
            }
        }
        2 if game.seats.len() == 2 => {
            drop(adjudicate(replica, &table.id, &[2, 1]).await.expect("ended"));
        }
        // Refused where all have acted.
        3 => drop(Calls(table, by).abort().send(replica).await),
        _ => {}
    }
}

/// The seats that are still in, but for one.
fn others(game: &v1::Game, but: u32) -> Vec<u32> {
    let seats = game.seats.iter().filter(|seat| !seat.out && seat.number != but);
    seats.map(|seat| seat.number).collect()
}

/// What a document says of the game itself, and not of where it was played.
fn of_the_game(document: GameDocument) -> impl PartialEq + std::fmt::Debug {
    let GameDocument { rules, start, actions, position, result, labels, state, .. } = document;
    let seats: Vec<_> =
        document.seats.into_iter().map(|s| (s.player_id, s.colours, s.out)).collect();
    let deal = document.proof.deal;
    (rules, start.position, actions, position, result, labels, (state, seats, deal))
}

#[tokio::test]
async fn a_thousand_games_are_the_same_after_export_and_import() {
    println!("seed {SEED}");
    let world = World::start(Backing::Memory, 1).await;
    let replica = world.any();
    let (mut finished, mut entries) = (0, 0);
    for number in 0..GAMES {
        let preset = Preset::ALL[number as usize % Preset::ALL.len()];
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED + number);
        let (record, deal) = begun(preset, &mut random);
        let (table, _) = import(replica, request(&record, &deal)).await.expect("imported");
        play_on(replica, &table, &mut random).await;

        let text = export(replica, &table.id, v1::ExportFormat::Record).await;
        let exported: GameRecord = text.parse().expect("a game record");
        assert!(exported.deal().is_none_or(|told| *told == deal), "game {number}: another deal");
        let document = export_document(replica, &table.id).await;
        // Replayed by the library, it comes to the same position and result.
        let replayed = exported.replay().unwrap_or_else(|fault| panic!("game {number}: {fault}"));
        assert_eq!(replayed.position().to_string(), document.position, "game {number}");
        assert_eq!(replayed.outcome().is_some(), document.result.is_some(), "game {number}");
        if document.result.is_some() {
            finished += 1;
            let restored = document.restore().unwrap_or_else(|fault| panic!("{number}: {fault}"));
            assert_eq!(GameDocument::of(&restored), document, "game {number}");
        }
        entries += exported.entries().len();

        let (again, _) =
            import(replica, request(&exported, &deal)).await.unwrap_or_else(|status| {
                panic!("game {number}: {status:?}\n{text}");
            });
        let second = export(replica, &again.id, v1::ExportFormat::Record).await;
        assert_eq!(second, text, "game {number}");
        let second = export_document(replica, &again.id).await;
        assert_eq!(second.actions, document.actions, "game {number}");
        assert_eq!(of_the_game(second), of_the_game(document), "game {number}");
    }
    println!("{GAMES} games, {finished} of them over, {entries} entries");
    assert!(finished > 200 && finished < 900, "{finished} games were over");
}
