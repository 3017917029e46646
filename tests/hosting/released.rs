//! Records as releases have stored them: read for ever, as they were meant.
//!
//! `tests/records` has a file for each format: games as the store had them, each with what
//! `ExportGame` told of it. A file is never changed once its format was released; `UPDATE_RECORDS=1`
//! writes that of the newest format anew until then. The keys of sealed ones stand beside them.

use std::path::PathBuf;
use std::sync::Arc;

use banqi::api::export::Hexadecimal;
use banqi::api::proto::v1;
use banqi::game::GameId;
use banqi::rules::Preset;
use banqi::store::codec::{RecordCodec, RecordFormat, SealKeys};
use banqi::store::{Change, Commit, Options, Outcome, Record, Store, Write as Stored, open};
use serde::{Deserialize, Serialize};

use crate::adjudication::adjudicate;
use crate::exports::export;
use crate::hidden::StandingTime;
use crate::imports::{import, of_record, written};
use crate::offers::Calls;
use crate::table::{Table, seat, to_move};
use crate::world::{Replica, options, request_id, trusting};
use crate::writes::Write;

/// A game as a release stored it, and as it told it.
#[derive(Serialize, Deserialize)]
struct Released {
    game_id: String,
    /// Header and message.
    record: Hexadecimal,
    /// The JSON document of `ExportGame`.
    document: String,
}

fn file(format: RecordFormat) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/records/format-{format}.jsonl"))
}

/// Writes the newest format, and reads every format.
fn records() -> RecordCodec {
    let path = file(RecordFormat::Two).with_extension("keys");
    let text = std::fs::read_to_string(path).expect("keys beside the records");
    let keys = SealKeys::read(&text).expect("keys");
    RecordCodec::new(RecordFormat::NEWEST, Some(keys)).expect("there are keys")
}

#[tokio::test]
async fn records_of_every_released_format_are_read_as_they_were_meant() {
    if std::env::var_os("UPDATE_RECORDS").is_some() {
        write_anew().await;
    }
    let (store, replica) = standing().await;
    for format in RecordFormat::ALL {
        let text = std::fs::read_to_string(file(format)).expect("a file for each format");
        let games: Vec<Released> =
            text.lines().map(|line| serde_json::from_str(line).expect("a game")).collect();
        assert!(games.len() >= 20, "format {format}: {} games", games.len());
        for game in games {
            let record = Record::from_stored(game.record.0.into()).expect("a record");
            assert_eq!(record.format, format.number());
            let id: GameId = game.game_id.parse().expect("an id");
            put(&*store, &id, record).await;
            let told = export(&replica, &game.game_id, v1::ExportFormat::Json).await;
            assert_eq!(told, game.document, "{id}");
        }
    }
}

/// A replica for which no time passes, so that no clock runs out.
async fn standing() -> (Arc<dyn Store>, Replica) {
    let options = Options { time: Arc::new(StandingTime), records: records(), ..options() };
    let store = open("memory:", options).await.expect("a store");
    let replica = Replica::on(Arc::clone(&store), trusting()).await;
    (store, replica)
}

async fn put(store: &dyn Store, id: &GameId, record: Record) {
    let change = Change::Put { record, deadline: None, expiry: None };
    let write = Stored { game: id.clone(), expected: None, change };
    let present = store.now(store.shards().shard_of(id)).await.expect("the time");
    let outcome = store.commit(&Commit::new(store.shards(), present, write)).await;
    assert!(matches!(outcome, Ok(Outcome::Applied { .. })), "{outcome:?}");
}

/// Plays games with everything in them, and writes down what is stored.
async fn write_anew() {
    let (store, replica) = standing().await;
    let mut lines = String::new();
    for id in games(&replica).await {
        let parsed: GameId = id.parse().expect("an id");
        let record = store.load(&parsed).await.expect("an answer").expect("a record");
        let stored = [&record.header()[..], &record.payload[..]].concat();
        let document = export(&replica, &id, v1::ExportFormat::Json).await;
        let released = Released { game_id: id, record: Hexadecimal(stored), document };
        lines += &serde_json::to_string(&released).expect("JSON");
        lines.push('\n');
    }
    std::fs::write(file(RecordFormat::NEWEST), lines).expect("written");
}

/// Games that have everything in them that a record can hold, some of them still going on.
async fn games(replica: &Replica) -> Vec<String> {
    let mut ids = Vec::new();
    for preset in Preset::ALL.map(Preset::name) {
        let table = Table::create(replica, preset).await;
        table.play_on(replica, 30).await;
        ids.push(table.id.clone());
        let ended = Table::create(replica, preset).await;
        ended.play_on(replica, 9).await;
        // A seat that leaves ends a game of two, and not one of four.
        Calls(&ended, 1).resign().send(replica).await.expect("resigned");
        ids.push(ended.id);
    }
    ids.push(clocked(replica).await);
    ids.push(bargained(replica).await);
    ids.extend(rematched(replica).await);
    ids.extend(ended_by_the_platform(replica).await);
    let (record, _) = written(&["a1", "b1"]);
    ids.push(import(replica, of_record(record)).await.expect("imported").0.id);
    ids
}

/// With a clock, entropy, labels, late spectators and seats of all kinds.
async fn clocked(replica: &Replica) -> String {
    let seconds = |seconds| Some(prost_types::Duration { seconds, nanos: 0 });
    let clock = v1::time_control::Increment { main_time: seconds(600), increment: seconds(5) };
    let create = Write::Create(v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Open, ""), seat(v1::SeatClaim::Assigned, "anna")],
        labels: [("queue".to_owned(), "ranked".to_owned())].into(),
        entropy_required: true,
        time_control: Some(v1::TimeControl {
            clock: Some(v1::time_control::Clock::Increment(clock)),
            first_turn_limit: seconds(60),
        }),
        ..Default::default()
    });
    let created = create.send(replica).await.expect("created");
    let game_id = created.game.game_id;
    let join = v1::JoinGameRequest {
        game_id: game_id.clone(),
        player_id: "bert".to_owned(),
        entropy: vec![7; 5],
        request_id: request_id(),
        ..Default::default()
    };
    Write::Join(join).send(replica).await.expect("joined");
    let entropy = v1::AddEntropyRequest {
        game_id: game_id.clone(),
        seat: 2,
        entropy: vec![1, 2, 3],
        ..Default::default()
    };
    Write::AddEntropy(entropy).send(replica).await.expect("added");
    let reissue =
        v1::ReissueSeatTokenRequest { game_id: game_id.clone(), seat: 1, ..Default::default() };
    replica.games().reissue_seat_token(reissue).await.expect("reissued");
    game_id
}

/// With offers of draws and requests for takebacks, refused and granted.
async fn bargained(replica: &Replica) -> String {
    let table = Table::create(replica, "TAIWANESE").await;
    for accept in [false, true] {
        move_quietly(&table, replica).await;
        let next = to_move(&replica.get(&table.id).await);
        Calls(&table, 3 - next).request_takeback().send(replica).await.expect("asked for");
        Calls(&table, next).answer_takeback(accept).send(replica).await.expect("answered");
    }
    let (asks, answers) = (Calls(&table, 1), Calls(&table, 2));
    table.play_on(replica, 1).await;
    asks.offer_draw().send(replica).await.expect("offered");
    answers.answer_draw(false).send(replica).await.expect("declined");
    table.play_on(replica, 1).await;
    answers.offer_draw().send(replica).await.expect("offered");
    asks.answer_draw(true).send(replica).await.expect("agreed");
    table.id
}

/// Plays until somebody has moved without turning anything up.
async fn move_quietly(table: &Table, replica: &Replica) {
    // Only where something was taken is there room for an action that turns nothing up.
    loop {
        let game = replica.get(&table.id).await;
        let of = |kind| game.legal_actions.iter().find(|action| action.kind() == kind);
        if of(v1::ActionKind::Move).is_some() {
            break;
        }
        let action = of(v1::ActionKind::Capture).unwrap_or(&game.legal_actions[0]);
        table.play(replica, &action.text).await;
    }
    table.play_quietly(replica).await;
}

/// A game and its rematch.
async fn rematched(replica: &Replica) -> Vec<String> {
    let table = Table::create(replica, "TAIWANESE").await;
    table.play_on(replica, 4).await;
    table.resign(replica, 1).await;
    for seat in [1, 2] {
        let rematch = Calls(&table, seat).rematch(v1::RematchFirst::Swap);
        rematch.send(replica).await.expect("asked");
    }
    let rematch = replica.get(&table.id).await.rematch_game_id;
    vec![table.id, rematch]
}

/// Adjudicated, and with a player erased.
async fn ended_by_the_platform(replica: &Replica) -> Vec<String> {
    let table = Table::create(replica, "TAIWANESE").await;
    table.play_on(replica, 5).await;
    adjudicate(replica, &table.id, &[2, 1]).await.expect("adjudicated");
    let erased = Write::Create(v1::CreateGameRequest {
        seats: vec![
            seat(v1::SeatClaim::Assigned, "somebody else"),
            seat(v1::SeatClaim::Reserved, "cleo"),
        ],
        ..Default::default()
    });
    let erased = erased.send(replica).await.expect("created").game.game_id;
    let request =
        v1::ErasePlayerRequest { player_id: "somebody else".to_owned(), ..Default::default() };
    replica.platform().erase_player(request).await.expect("erased");
    vec![table.id, erased]
}
