//! The text of a rule set, read and written.
//!
//! A preset's name; after it, split by blanks, `field=value` for each field that differs from that
//! preset, with the names and values of `RULES.md` §3: `TCGA`, `TAIWANESE_CHAIN quiet_limit=60`.
//! Written is the shortest such text, the earlier preset where two differ in equally many fields.

use std::fmt;
use std::str::FromStr;

use super::preset::Preset;
use super::rule_set::{
    BoardRule, CannonRule, ChariotRule, EqualsRule, FaceDownRule, HorseRule, RepetitionRule,
    RuleChanges, RuleFault, RuleSet,
};

impl RuleSet {
    /// Every field with its value as text, in the order of `RULES.md` §3. [`RuleChanges::set`] reads
    /// them back.
    pub fn fields(&self) -> [(&'static str, String); 13] {
        [
            ("ladder", self.ladder().to_string()),
            ("cannon", self.cannon().to_string()),
            ("equals", self.equals().to_string()),
            ("face_down", self.face_down().to_string()),
            ("chain", on_or_off(self.chain()).to_owned()),
            ("chariot", self.chariot().to_string()),
            ("horse", self.horse().to_string()),
            ("quiet_limit", self.quiet_limit().to_string()),
            ("repetition", self.repetition().to_string()),
            ("repetition_count", self.repetition_count().to_string()),
            ("chase_limit", self.chase_limit().to_string()),
            ("board", self.board().to_string()),
            ("seats", self.seats().to_string()),
        ]
    }
}

impl RuleChanges {
    /// Puts a field's value among the changes, both as text.
    ///
    /// # Errors
    /// Where there is no such field, or it has no such value. Ladders and the ranges of numbers are
    /// for [`RuleSet::with`] to check.
    pub fn set(&mut self, field: &str, value: &str) -> Result<(), RuleFault> {
        match field {
            "ladder" => self.ladder = Some(value.to_owned()),
            "cannon" => self.cannon = Some(named("cannon", value, CannonRule::ALL)?),
            "equals" => self.equals = Some(named("equals", value, EqualsRule::ALL)?),
            "face_down" => self.face_down = Some(named("face_down", value, FaceDownRule::ALL)?),
            "chain" => self.chain = Some(switch("chain", value)?),
            "chariot" => self.chariot = Some(named("chariot", value, ChariotRule::ALL)?),
            "horse" => self.horse = Some(named("horse", value, HorseRule::ALL)?),
            "quiet_limit" => self.quiet_limit = Some(number("quiet_limit", value)?),
            "repetition" => {
                self.repetition = Some(named("repetition", value, RepetitionRule::ALL)?)
            }
            "repetition_count" => self.repetition_count = Some(number("repetition_count", value)?),
            "chase_limit" => self.chase_limit = Some(number("chase_limit", value)?),
            "board" => self.board = Some(named("board", value, BoardRule::ALL)?),
            "seats" => self.seats = Some(number("seats", value)?),
            _ => {
                let names = RuleSet::TAIWANESE.fields().map(|(name, _)| name);
                return Err(fault("field", field, format!("one of {}", names.join(", "))));
            }
        }
        Ok(())
    }
}

fn fault(field: &'static str, value: &str, expected: String) -> RuleFault {
    RuleFault { field, value: value.to_owned(), expected }
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

fn named<T: Copy + ToString>(field: &'static str, value: &str, all: &[T]) -> Result<T, RuleFault> {
    all.iter()
        .copied()
        .find(|known| known.to_string() == value)
        .ok_or_else(|| fault(field, value, format!("one of {}", list(all))))
}

const fn on_or_off(value: bool) -> &'static str {
    if value { "on" } else { "off" }
}

fn switch(field: &'static str, value: &str) -> Result<bool, RuleFault> {
    [false, true]
        .into_iter()
        .find(|&known| on_or_off(known) == value)
        .ok_or_else(|| fault(field, value, "off or on".to_owned()))
}

fn number(field: &'static str, value: &str) -> Result<u32, RuleFault> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let parsed = value.parse().ok().filter(|_| digits);
    parsed.ok_or_else(|| fault(field, value, "a whole number in range".to_owned()))
}

impl fmt::Display for RuleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let own = self.fields();
        let differing = |preset: Preset| {
            let preset = preset.rules().fields();
            own.iter().zip(preset).filter(|(own, preset)| *own != preset).map(|(own, _)| own)
        };
        let nearest = Preset::ALL.into_iter().min_by_key(|preset| differing(*preset).count());
        let preset = nearest.unwrap_or(Preset::Taiwanese);
        f.write_str(preset.name())?;
        differing(preset).try_for_each(|(field, value)| write!(f, " {field}={value}"))
    }
}

/// Every fault of a text that is no rule set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleSetError(pub Vec<RuleFault>);

impl fmt::Display for RuleSetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(RuleFault::to_string).collect::<Vec<_>>().join("; "))
    }
}

impl std::error::Error for RuleSetError {}

impl FromStr for RuleSet {
    type Err = RuleSetError;

    /// Reads a preset's name and the fields that differ, in any order, each at most once.
    fn from_str(text: &str) -> Result<Self, RuleSetError> {
        let (mut faults, mut changes) = (Vec::new(), RuleChanges::default());
        let (name, rest) = match text.split_once(' ') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let preset = Preset::from_name(name);
        if preset.is_none() {
            faults.push(fault("preset", name, format!("one of {}", list(&Preset::ALL))));
        }
        let mut seen = Vec::new();
        for word in rest.into_iter().flat_map(|rest| rest.split(' ')) {
            let Some((field, value)) = word.split_once('=') else {
                faults.push(fault(
                    "field",
                    word,
                    "`field=value`, split by single blanks".to_owned(),
                ));
                continue;
            };
            if seen.contains(&field) {
                faults.push(fault("field", word, format!("`{field}` once")));
                continue;
            }
            match changes.set(field, value) {
                Ok(()) => seen.push(field),
                Err(fault) => faults.push(fault),
            }
        }
        match preset.unwrap_or(Preset::Taiwanese).rules().with(&changes) {
            Ok(rules) if faults.is_empty() => return Ok(rules),
            Ok(_) => {}
            Err(more) => faults.extend(more),
        }
        Err(RuleSetError(faults))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_preset_is_written_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(preset.rules().to_string(), preset.name());
            assert_eq!(preset.name().parse(), Ok(preset.rules()));
        }
    }

    #[rstest]
    #[case("TAIWANESE quiet_limit=40", "TCGA")]
    #[case("TAIWANESE quiet_limit=41", "TAIWANESE quiet_limit=41")]
    #[case("TAIWANESE chain=on quiet_limit=60", "TAIWANESE_CHAIN quiet_limit=60")]
    #[case("DOUBLE seats=4", "DOUBLE_FOUR")]
    #[case("MAINLAND ladder=KRHCAEP", "HONG_KONG")]
    #[case("TCGA equals=BOTH_REMOVED cannon=STEP", "TCGA cannon=STEP equals=BOTH_REMOVED")]
    fn the_nearest_preset_is_written(#[case] given: &str, #[case] written: &str) {
        let rules: RuleSet = given.parse().expect("a rule set");
        assert_eq!(rules.to_string(), written);
        assert_eq!(written.parse(), Ok(rules));
    }

    #[rstest]
    #[case("", "`preset` is , but must be one of TAIWANESE, TCGA")]
    #[case("tcga", "`preset` is tcga, but must be one of")]
    #[case("TCGA  chain=on", "`field` is , but must be `field=value`")]
    #[case("TCGA chains=on", "`field` is chains, but must be one of ladder, cannon")]
    #[case("TCGA chain=on chain=on", "`field` is chain=on, but must be `chain` once")]
    #[case("TCGA chain=true", "`chain` is true, but must be off or on")]
    #[case("TCGA cannon=FLY", "`cannon` is FLY, but must be one of JUMP, STEP, JUMP_ANY")]
    #[case("TCGA quiet_limit=+5", "`quiet_limit` is +5, but must be a whole number")]
    #[case("TCGA quiet_limit=0", "`quiet_limit` is 0, but must be a number from 1 to 1000")]
    #[case("TCGA seats=4", "`seats` is 4, but must be 2 on the single board")]
    #[case("TCGA ladder=KKERHCP", "`ladder` is KKERHCP, but must be the seven letters")]
    fn a_fault_names_its_field_and_what_would_be_right(#[case] text: &str, #[case] told: &str) {
        let fault = text.parse::<RuleSet>().expect_err(text).to_string();
        assert!(fault.contains(told), "{fault}");
    }

    #[test]
    fn every_field_is_written_and_read() {
        // Every field is spelled out, so that a new one is not forgotten here.
        let changes = RuleChanges {
            ladder: Some("PCHREAK".to_owned()),
            cannon: Some(CannonRule::JumpAny),
            equals: Some(EqualsRule::BothRemoved),
            face_down: Some(FaceDownRule::Trade),
            chain: Some(true),
            chariot: Some(ChariotRule::ChargeRanked),
            horse: Some(HorseRule::Diagonal),
            quiet_limit: Some(7),
            repetition: Some(RepetitionRule::AttackerLoses),
            repetition_count: Some(4),
            chase_limit: Some(5),
            board: Some(BoardRule::Double),
            seats: Some(4),
        };
        let rules = RuleSet::TAIWANESE.with(&changes).expect("a rule set");
        let text = rules.to_string();
        assert_eq!(
            text,
            "TAIWANESE_DARK_CHAIN ladder=PCHREAK cannon=JUMP_ANY equals=BOTH_REMOVED \
             face_down=TRADE chariot=CHARGE_RANKED quiet_limit=7 repetition=ATTACKER_LOSES \
             repetition_count=4 chase_limit=5 board=DOUBLE seats=4"
        );
        assert_eq!(text.parse(), Ok(rules));
    }

    #[test]
    fn every_fault_is_told_at_once() {
        let faults = "CHESS cannon=FLY seats=3".parse::<RuleSet>().expect_err("faults").0;
        assert_eq!(
            faults.iter().map(|fault| fault.field).collect::<Vec<_>>(),
            ["preset", "cannon", "seats"]
        );
    }
}
