//! Games written as JSON, one a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::rules::{
    Action, BoardRule, CannonRule, ChariotRule, ColourSet, Deal, EqualsRule, FaceDownRule,
    HorseRule, Layout, Preset, Referee, RepetitionRule, RuleChanges, RuleSet, Seat,
};

/// The longest line that is read, in bytes.
const MAX_LINE: u64 = 16 * 1024 * 1024;

/// A game to be played again.
#[derive(Debug)]
pub(super) struct Game {
    /// What it is called.
    pub(super) name: Option<String>,
    /// The referee at its start.
    pub(super) referee: Referee,
    /// What lies face down.
    pub(super) deal: Deal,
    /// What is played.
    pub(super) actions: Vec<Action>,
    /// What the file says that the actions did; empty where it does not.
    pub(super) records: Vec<String>,
    /// What the file says the last position is.
    pub(super) final_position: Option<String>,
}

/// A file that has no such game.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum FileError {
    #[error("{}: cannot be read: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}: there is no line {line}; it has {lines}", path.display())]
    NoLine { path: PathBuf, line: u64, lines: u64 },
    #[error("{} line {line}: {fault}", path.display())]
    Line { path: PathBuf, line: u64, fault: LineError },
}

/// A line that is no game.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum LineError {
    #[error("not the JSON of a game: {0}")]
    Json(#[from] serde_json::Error),
    #[error("`{field}`: {fault}")]
    Field { field: &'static str, fault: String },
}

/// Reads one game: line `number`, from 1, of the file, or of standard input for `-`.
pub(super) fn read(path: &Path, number: u64) -> Result<Game, FileError> {
    let path = path.to_owned();
    let line = if path.as_os_str() == "-" {
        find_line(io::stdin().lock(), number)
    } else {
        File::open(&path).and_then(|file| find_line(BufReader::new(file), number))
    };
    match line {
        Err(source) => Err(FileError::Read { path, source }),
        Ok(Err(lines)) => Err(FileError::NoLine { path, line: number, lines }),
        Ok(Ok(text)) => {
            Game::parse(&text).map_err(|fault| FileError::Line { path, line: number, fault })
        }
    }
}

/// The line with this number, or how many lines there are.
fn find_line(mut input: impl BufRead, number: u64) -> io::Result<Result<String, u64>> {
    let mut line = String::new();
    for read in 0..number {
        line.clear();
        if io::Read::take(&mut input, MAX_LINE).read_line(&mut line)? == 0 {
            return Ok(Err(read));
        }
    }
    Ok(Ok(line))
}

/// A line as it is written.
#[derive(Deserialize)]
struct Line {
    name: Option<String>,
    preset: Option<String>,
    #[serde(default)]
    rules: Rules,
    deal: Option<String>,
    board: Option<String>,
    to_move: Option<u8>,
    // A seat that has no colours yet is `-` or null.
    colours: Option<Vec<Option<String>>>,
    #[serde(default)]
    quiet: u16,
    actions: String,
    #[serde(default)]
    records: String,
    r#final: Option<String>,
}

/// The fields of a rule set as they are written.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
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

impl Game {
    /// Reads a game from its line.
    pub(super) fn parse(text: &str) -> Result<Self, LineError> {
        let line: Line = serde_json::from_str(text)?;
        let rules = line.rule_set()?;
        let (referee, deal) = line.start(&rules)?;
        let actions = line
            .actions
            .split_ascii_whitespace()
            .map(|action| action.parse().map_err(|fault| field("actions", fault)))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            name: line.name,
            referee,
            deal,
            actions,
            records: line.records.split_ascii_whitespace().map(str::to_owned).collect(),
            final_position: line.r#final,
        })
    }
}

impl Line {
    fn rule_set(&self) -> Result<RuleSet, LineError> {
        let preset = match self.preset.as_deref() {
            None => Preset::Taiwanese,
            Some(name) => named("preset", name, Preset::from_name(name), Preset::ALL.iter())?,
        };
        preset.rules().with(&self.rules.changes()?).map_err(|faults| {
            let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
            field("rules", told.join("; "))
        })
    }

    fn start(&self, rules: &RuleSet) -> Result<(Referee, Deal), LineError> {
        let board = rules.board_size();
        match (&self.deal, &self.board) {
            (Some(deal), None) => {
                let deal = Deal::parse(board, deal).map_err(|fault| field("deal", fault))?;
                Ok((Referee::new(rules), deal))
            }
            (None, Some(cells)) => {
                let layout = Layout::parse(board, cells).map_err(|fault| field("board", fault))?;
                let setup = layout.setup(self.seat()?, &self.seat_colours(rules)?, self.quiet);
                let position = setup.into_position(rules).map_err(|faults| {
                    let told: Vec<_> = faults.iter().map(ToString::to_string).collect();
                    field("board", told.join("; "))
                })?;
                Ok((Referee::from_position(rules, position), layout.deal().clone()))
            }
            _ => Err(field("deal", "expected either `deal` or `board`")),
        }
    }

    fn seat(&self) -> Result<Seat, LineError> {
        let number = self.to_move.unwrap_or(1);
        Seat::new(number).ok_or_else(|| {
            field("to_move", format!("{number} is no seat: seats are counted from 1"))
        })
    }

    fn seat_colours(&self, rules: &RuleSet) -> Result<Vec<ColourSet>, LineError> {
        match &self.colours {
            None => Ok(vec![ColourSet::EMPTY; rules.seats().into()]),
            Some(texts) => texts
                .iter()
                .map(|text| match text {
                    None => Ok(ColourSet::EMPTY),
                    Some(text) => text.parse().map_err(|fault| field("colours", fault)),
                })
                .collect(),
        }
    }
}

impl Rules {
    fn changes(&self) -> Result<RuleChanges, LineError> {
        /// Reads one named value.
        macro_rules! value {
            ($field:ident, $type:ident) => {
                match self.$field.as_deref() {
                    None => None,
                    Some(name) => {
                        let value = $type::from_name(name);
                        Some(named(stringify!($field), name, value, $type::ALL.iter())?)
                    }
                }
            };
        }
        Ok(RuleChanges {
            ladder: self.ladder.clone(),
            cannon: value!(cannon, CannonRule),
            equals: value!(equals, EqualsRule),
            face_down: value!(face_down, FaceDownRule),
            chain: self.chain,
            chariot: value!(chariot, ChariotRule),
            horse: value!(horse, HorseRule),
            quiet_limit: self.quiet_limit,
            repetition: value!(repetition, RepetitionRule),
            repetition_count: self.repetition_count,
            chase_limit: self.chase_limit,
            board: value!(board, BoardRule),
            seats: self.seats,
        })
    }
}

fn field(field: &'static str, fault: impl ToString) -> LineError {
    LineError::Field { field, fault: fault.to_string() }
}

/// The value with a name, or the fault that lists all names.
fn named<T>(
    name_of: &'static str,
    given: &str,
    value: Option<T>,
    all: impl Iterator<Item = impl ToString>,
) -> Result<T, LineError> {
    value.ok_or_else(|| {
        let names: Vec<_> = all.map(|value| value.to_string()).collect();
        field(name_of, format!("`{given}` is none of {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const CELLS: &str = "R . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . k";

    #[rstest]
    #[case(r#"{"deal":"K"}"#, "missing field `actions`")]
    #[case(r#"{"actions":""}"#, "`deal`: expected either `deal` or `board`")]
    #[case(r#"{"deal":"K","actions":""}"#, "`deal`: ")]
    #[case(
        r#"{"preset":"CHESS","deal":"K","actions":""}"#,
        "`preset`: `CHESS` is none of TAIWANESE, "
    )]
    #[case(
        r#"{"rules":{"cannon":"FLY"},"deal":"K","actions":""}"#,
        "`cannon`: `FLY` is none of JUMP, "
    )]
    #[case(r#"{"rules":{"cannons":"JUMP"},"deal":"K","actions":""}"#, "unknown field `cannons`")]
    #[case(r#"{"rules":{"seats":3},"deal":"K","actions":""}"#, "`rules`: `seats` is 3")]
    #[case(r#"{"board":"BOARD","to_move":9,"colours":["r","b"],"actions":""}"#, "`to_move`: 9 ")]
    #[case(r#"{"board":"BOARD","colours":["x","b"],"actions":""}"#, "`colours`: `x`")]
    #[case(r#"{"board":"BOARD","actions":""}"#, "`board`: colours ")]
    #[case(r#"{"board":"BOARD","colours":["r","b"],"actions":"z9"}"#, "`actions`: `z9`")]
    fn a_fault_names_its_field_and_what_would_be_right(#[case] line: &str, #[case] told: &str) {
        let fault = Game::parse(&line.replace("BOARD", CELLS)).expect_err(line).to_string();
        assert!(fault.contains(told), "{fault}");
    }

    #[test]
    fn a_seat_without_colours_is_null_or_a_dash() {
        let line = |colours: &str| {
            let rules = r#""rules":{"board":"DOUBLE","seats":4}"#;
            let cells = format!("K {}", ". ".repeat(63));
            format!(r#"{{{rules},"board":"{cells}","colours":{colours},"actions":""}}"#)
        };
        let read = [r#"["r",null,null,null]"#, r#"["r","-","-","-"]"#].map(|colours| {
            let game = Game::parse(&line(colours)).expect(colours);
            game.referee.position().to_string()
        });
        assert_eq!(read[0], read[1]);
    }

    #[test]
    fn a_line_that_is_not_there_is_told() {
        let lines = || io::Cursor::new("one\ntwo\n");
        assert_eq!(find_line(lines(), 2).expect("text"), Ok("two\n".to_owned()));
        assert_eq!(find_line(lines(), 3).expect("text"), Err(2));
    }
}
