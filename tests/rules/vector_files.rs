//! Reads `tests/vectors`, whose README describes every field.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use banqi::rules::{
    BoardRule, CannonRule, ChariotRule, Colour, ColourSet, Deal, EqualsRule, FaceDownRule,
    HorseRule, Layout, Referee, RepetitionRule, RuleChanges, RuleSet, Seat,
};
use serde::Deserialize;

/// One line of a file. A field that is not known here fails the reading: nothing a vector says
/// goes uncompared.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vector {
    pub(crate) name: String,
    rules: RuleFields,
    deal: Option<String>,
    board: Option<String>,
    to_move: Option<u8>,
    #[serde(default)]
    colours: Vec<Option<String>>,
    #[serde(default)]
    quiet: u16,
    pub(crate) actions: String,
    pub(crate) records: String,
    pub(crate) legal_counts: Option<Vec<usize>>,
    pub(crate) legal: LegalLists,
    #[serde(rename = "final")]
    pub(crate) final_position: String,
    pub(crate) result: Option<ResultFields>,
    pub(crate) out: Option<Vec<OutFields>>,
    pub(crate) places: Option<Vec<u8>>,
}

/// Sorted lists of legal actions: the one at the end, or some by the actions played before.
#[derive(Deserialize)]
#[serde(untagged)]
pub(crate) enum LegalLists {
    AtEnd(Vec<String>),
    ByPly(BTreeMap<String, Vec<String>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultFields {
    pub(crate) winner: Option<u8>,
    pub(crate) reason: String,
}

/// The seats that one action put out, and why.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OutFields {
    pub(crate) seats: Vec<u8>,
    pub(crate) reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFields {
    ladder: Option<String>,
    cannon: Option<String>,
    equals: Option<String>,
    face_down: Option<String>,
    chain: Option<bool>,
    chariot: Option<String>,
    horse: Option<String>,
    quiet_limit: Option<u32>,
    repetition: Option<String>,
    repetition_count: Option<u32>,
    chase_limit: Option<u32>,
    board: Option<String>,
    seats: Option<u32>,
}

impl RuleFields {
    fn rule_set(&self) -> RuleSet {
        fn value<T>(name: &Option<String>, from_name: fn(&str) -> Option<T>) -> Option<T> {
            name.as_deref().map(|name| from_name(name).unwrap_or_else(|| panic!("unknown {name}")))
        }
        let changes = RuleChanges {
            ladder: self.ladder.clone(),
            cannon: value(&self.cannon, CannonRule::from_name),
            equals: value(&self.equals, EqualsRule::from_name),
            face_down: value(&self.face_down, FaceDownRule::from_name),
            chain: self.chain,
            chariot: value(&self.chariot, ChariotRule::from_name),
            horse: value(&self.horse, HorseRule::from_name),
            quiet_limit: self.quiet_limit,
            repetition: value(&self.repetition, RepetitionRule::from_name),
            repetition_count: self.repetition_count,
            chase_limit: self.chase_limit,
            board: value(&self.board, BoardRule::from_name),
            seats: self.seats,
        };
        RuleSet::TAIWANESE.with(&changes).expect("vectors have rule sets that make sense")
    }
}

impl Vector {
    /// The game before its first action, and what is hidden in it.
    pub(crate) fn start(&self) -> (Referee, Deal) {
        let rules = self.rules.rule_set();
        match (&self.deal, &self.board) {
            (Some(deal), None) => {
                let deal = Deal::parse(rules.board_size(), deal).expect("a full deal");
                (Referee::new(&rules), deal)
            }
            (None, Some(board)) => {
                let layout = Layout::parse(rules.board_size(), board).expect("a board");
                let to_move = self.to_move.and_then(Seat::new).expect("a seat to move");
                let colours: Vec<_> = self.colours.iter().map(colour_set).collect();
                let position = layout
                    .setup(to_move, &colours, self.quiet)
                    .into_position(&rules)
                    .expect("a legal position");
                (Referee::from_position(&rules, position), layout.deal().clone())
            }
            _ => panic!("{}: either a deal or a board", self.name),
        }
    }
}

fn colour_set(letters: &Option<String>) -> ColourSet {
    letters.iter().flat_map(|letters| letters.chars()).fold(ColourSet::EMPTY, |set, letter| {
        set.with(Colour::from_letter(letter).expect("a colour's letter"))
    })
}

/// Every line of a file of `tests/vectors`.
pub(crate) fn read(file: &str) -> Vec<Vector> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let parse = |(index, line)| {
        serde_json::from_str(line).unwrap_or_else(|e| panic!("{file}, line {}: {e}", index + 1))
    };
    text.lines().enumerate().map(parse).collect()
}
