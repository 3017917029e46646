//! Games written as JSON, one a line.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::rules::{
    Action, ColourSet, Deal, Layout, Preset, Referee, RuleChanges, RuleFault, RuleSet, Seat,
};

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

/// A line that is no game.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum LineError {
    #[error("not the JSON of a game: {0}")]
    Json(#[from] serde_json::Error),
    #[error("`{field}`: {fault}")]
    Field { field: &'static str, fault: String },
}

/// A line as it is written.
#[derive(Deserialize)]
struct Line {
    name: Option<String>,
    preset: Option<String>,
    #[serde(default)]
    rules: BTreeMap<String, Value>,
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
            Some(name) => Preset::from_name(name).ok_or_else(|| {
                field(
                    "preset",
                    format!("`{name}` is none of {}", Preset::ALL.map(Preset::name).join(", ")),
                )
            })?,
        };
        let (mut changes, mut faults) = (RuleChanges::default(), Vec::new());
        for (name, value) in &self.rules {
            let value = match value {
                Value::Bool(true) => "on".to_owned(),
                Value::Bool(false) => "off".to_owned(),
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            faults.extend(changes.set(name, &value).err());
        }
        match preset.rules().with(&changes) {
            Ok(rules) if faults.is_empty() => return Ok(rules),
            Ok(_) => {}
            Err(more) => faults.extend(more),
        }
        let told: Vec<_> = faults.iter().map(RuleFault::to_string).collect();
        Err(field("rules", told.join("; ")))
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

fn field(field: &'static str, fault: impl ToString) -> LineError {
    LineError::Field { field, fault: fault.to_string() }
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
        "`rules`: `cannon` is FLY, but must be one of JUMP, "
    )]
    #[case(
        r#"{"rules":{"cannons":"JUMP"},"deal":"K","actions":""}"#,
        "`field` is cannons, but must be one of ladder, "
    )]
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
}
