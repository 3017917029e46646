//! Checking the document of a game: its deal, and everything that rests on it.

use serde_json::Value;

use super::document::GameDocument;
use super::hexadecimal::Hexadecimal;
use super::restore::DocumentFault;
use crate::game::{Entropy, derive_deal};

/// What a check comes to: `docs/fairness.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The deal is the one that was committed to, and all that happened agrees with it.
    Verified,
    /// Nothing contradicts that, but something that would prove it is missing: this.
    Unproven(&'static str),
    /// The first thing that contradicts it.
    Failed(DocumentFault),
}

impl Verdict {
    /// `VERIFIED`, `UNPROVEN` or `FAILED`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Verified => "VERIFIED",
            Self::Unproven(_) => "UNPROVEN",
            Self::Failed(_) => "FAILED",
        }
    }
}

impl GameDocument {
    /// Checks the commitment, the derivation of the deal, the chain of the log, that each entry of
    /// the log does what it says on this deal, and that all the rest is what the log comes to.
    /// `kept` is the commitment that a player kept. Linear in the log.
    pub fn verify(&self, kept: Option<&Hexadecimal>) -> Verdict {
        self.check(kept).unwrap_or_else(Verdict::Failed)
    }

    fn check(&self, kept: Option<&Hexadecimal>) -> Result<Verdict, DocumentFault> {
        if self.proof.game_id != self.game_id {
            return Err(DocumentFault::new("proof.game_id", &self.proof.game_id, &self.game_id));
        }
        // The chain is there from the first entry on; the rest is told once the game has ended.
        self.restore_log()?;
        if self.result.is_none() {
            return Ok(Verdict::Unproven("the game has not ended, so its seed is not told yet"));
        }
        if !self.start.given {
            self.check_derivation(kept)?;
        }
        let restored = self.restore()?;
        if let Some(difference) = difference(&as_json(self)?, &as_json(&Self::of(&restored))?) {
            return Err(difference);
        }
        Ok(if self.start.given {
            Verdict::Unproven("the deal was given and not drawn, which proves nothing")
        } else if kept.is_none() {
            Verdict::Unproven("all fits, but the commitment that a player kept was not given")
        } else {
            Verdict::Verified
        })
    }

    fn check_derivation(&self, kept: Option<&Hexadecimal>) -> Result<(), DocumentFault> {
        let proof = &self.proof;
        if let Some(kept) = kept {
            proof.check_commitment("the commitment that was kept", &kept.0)?;
        }
        let told = proof.commitment.clone().unwrap_or_default();
        proof.check_commitment("proof.commitment", &told.0)?;
        let entropies = proof.entropies()?;
        let entropies = entropies.iter().map(Option::<Entropy>::as_ref);
        let board = self.rule_set()?.board_size();
        let derived = derive_deal(board, &proof.id()?, &proof.seed()?, entropies).to_string();
        let told = proof.deal.as_deref().unwrap_or_default();
        if told == derived {
            Ok(())
        } else {
            Err(DocumentFault::new("proof.deal", told, format!("{derived}, as it is derived")))
        }
    }
}

fn as_json(document: &GameDocument) -> Result<Value, DocumentFault> {
    serde_json::to_value(document)
        .map_err(|fault| DocumentFault::new("the document", fault, "what can be written as JSON"))
}

/// The first difference between what is told and what the log comes to.
fn difference(told: &Value, replayed: &Value) -> Option<DocumentFault> {
    let (path, told, replayed) = first_difference(String::new(), told, replayed)?;
    let text = |value: Option<&Value>| match value {
        None => "missing".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    let expected = format!("{}, which is what the log comes to", text(replayed));
    Some(DocumentFault::new(&path, text(told), expected))
}

type Difference<'a> = (String, Option<&'a Value>, Option<&'a Value>);

fn first_difference<'a>(path: String, one: &'a Value, other: &'a Value) -> Option<Difference<'a>> {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) => {
            let names =
                fields.keys().chain(others.keys().filter(|name| !fields.contains_key(*name)));
            let dot = if path.is_empty() { "" } else { "." };
            names.into_iter().find_map(|name| {
                let path = format!("{path}{dot}{name}");
                compare(path, fields.get(name), others.get(name))
            })
        }
        (Value::Array(items), Value::Array(others)) => {
            (0..items.len().max(others.len())).find_map(|index| {
                compare(format!("{path}[{index}]"), items.get(index), others.get(index))
            })
        }
        _ => (one != other).then_some((path, Some(one), Some(other))),
    }
}

fn compare<'a>(
    path: String,
    one: Option<&'a Value>,
    other: Option<&'a Value>,
) -> Option<Difference<'a>> {
    match (one, other) {
        (Some(one), Some(other)) => first_difference(path, one, other),
        (None, None) => None,
        missing => Some((path, missing.0, missing.1)),
    }
}
