//! The games of the vectors as game records.

// Each test file takes what it needs.
#![allow(dead_code)]

use banqi::rules::{Colour, ColourSet, Deal, GameRecord, Layout, Position, RuleSet, Scribe, Seat};
use serde_json::Value;

/// A game of the vectors as it was played, and what the vectors say of its end.
pub(crate) struct Played {
    pub(crate) name: String,
    pub(crate) record: GameRecord,
    pub(crate) final_position: String,
    pub(crate) records: Vec<String>,
}

pub(crate) fn games() -> Vec<Played> {
    let files = ["games.jsonl", "endgames.jsonl"];
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors/");
    let games: Vec<Played> = files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(format!("{path}{file}")).expect("a vector file");
            let lines: Vec<Value> =
                text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
            lines
        })
        .map(|game| play(&game))
        .collect();
    assert!(games.len() >= 368, "only {} games were found", games.len());
    games
}

/// The rule set of a game, through its text.
fn rules(fields: &Value) -> RuleSet {
    let mut text = "TAIWANESE".to_owned();
    for (field, value) in fields.as_object().expect("an object") {
        let value = match value {
            Value::Bool(true) => "on".to_owned(),
            Value::Bool(false) => "off".to_owned(),
            Value::String(name) => name.clone(),
            number => number.to_string(),
        };
        text.push_str(&format!(" {field}={value}"));
    }
    text.parse().expect("a rule set")
}

fn start(game: &Value, rules: &RuleSet) -> (Option<Position>, Deal) {
    let board = rules.board_size();
    if let Some(deal) = game["deal"].as_str() {
        return (None, Deal::parse(board, deal).expect("a deal"));
    }
    let layout = Layout::parse(board, game["board"].as_str().expect("a board")).expect("a layout");
    let colours: Vec<ColourSet> = game["colours"]
        .as_array()
        .expect("colours")
        .iter()
        .map(|text| {
            let letters = text.as_str().expect("letters").chars();
            letters.filter_map(Colour::from_letter).fold(ColourSet::EMPTY, ColourSet::with)
        })
        .collect();
    let number = |field: &str| game[field].as_u64().expect("a number");
    let seat = Seat::new(number("to_move") as u8).expect("a seat");
    let setup = layout.setup(seat, &colours, number("quiet") as u16);
    (Some(setup.into_position(rules).expect("a position")), layout.deal().clone())
}

fn play(game: &Value) -> Played {
    let text = |field: &str| game[field].as_str().expect("text").to_owned();
    let rules = rules(&game["rules"]);
    let (start, deal) = start(game, &rules);
    let mut scribe = Scribe::new(&rules, start);
    for action in text("actions").split_ascii_whitespace() {
        let action = action.parse().expect("an action");
        scribe.play(action, |square| deal.at(square)).expect("a legal action");
    }
    let mut record = scribe.into_record();
    record.name_seat(Seat::FIRST, "ana \"the \\ screen\"").expect("seat 1");
    record.set_created("2024-05-01T12:30:00.25Z").expect("a time");
    record.set_header("Event", "vectors").expect("a header");
    record.reveal(deal).expect("the deal of a game that has ended");
    Played {
        name: text("name"),
        record,
        final_position: text("final"),
        records: text("records").split_ascii_whitespace().map(str::to_owned).collect(),
    }
}
