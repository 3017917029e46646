//! Rule sets and presets.

use crate::api::error::FieldFaults;
use crate::api::proto::v1;
use crate::rules::{self, Preset, RuleChanges, RuleSet};

/// An enum of `banqi.v1` that mirrors one of the rules.
trait Mirror: TryFrom<i32> + Copy + 'static {
    /// The enum of the rules.
    type Rules;

    /// The values that mean something.
    const ALL: &'static [Self];

    /// The value's name in `banqi.v1`.
    fn name(self) -> &'static str;

    /// The value of the rules; `None` for the unspecified one.
    fn rules(self) -> Option<Self::Rules>;
}

macro_rules! mirror {
    ($name:ident { $($value:ident),+ }) => {
        impl Mirror for v1::$name {
            type Rules = rules::$name;

            const ALL: &'static [Self] = &[$(Self::$value),+];

            fn name(self) -> &'static str {
                self.as_str_name()
            }

            fn rules(self) -> Option<rules::$name> {
                match self {
                    Self::Unspecified => None,
                    $(Self::$value => Some(rules::$name::$value),)+
                }
            }
        }

        impl From<rules::$name> for v1::$name {
            fn from(value: rules::$name) -> Self {
                match value {
                    $(rules::$name::$value => Self::$value,)+
                }
            }
        }
    };
}

mirror!(CannonRule { Jump, Step, JumpAny });
mirror!(EqualsRule { Take, BothRemoved });
mirror!(FaceDownRule { Safe, Probe, Trade });
mirror!(ChariotRule { Step, ChargeRanked, ChargeAny });
mirror!(HorseRule { Step, Diagonal });
mirror!(RepetitionRule { Draw, AttackerLoses, Off });
mirror!(BoardRule { Single, Double });

/// Reads an enum field of a rule set. Unset stays unset; what is no value is a fault.
fn value<M: Mirror>(
    field: &str,
    number: Option<i32>,
    faults: &mut FieldFaults,
) -> Option<M::Rules> {
    let number = number?;
    let read = M::try_from(number).ok().and_then(M::rules);
    if read.is_none() {
        let names: Vec<_> = M::ALL.iter().map(|value| value.name()).collect();
        faults.add(
            format!("rules.{field}"),
            format!("{number} is none of the values: leave it unset or send {}", names.join(", ")),
        );
    }
    read
}

/// Reads the preset and the changes of a request. `None` where anything was wrong, with every
/// fault noted.
pub fn read(
    preset: &str,
    changes: Option<v1::RuleSet>,
    faults: &mut FieldFaults,
) -> Option<RuleSet> {
    let known = if preset.is_empty() {
        Some(Preset::Taiwanese)
    } else {
        let known = Preset::from_name(preset);
        if known.is_none() {
            let names: Vec<_> = Preset::ALL.iter().map(|preset| preset.name()).collect();
            faults.add("preset", format!("`{preset}` is no preset: send {}", names.join(", ")));
        }
        known
    };
    let before = faults.count();
    let changes = read_changes(changes.unwrap_or_default(), faults);
    // With an unknown preset, the rest is checked over the default one.
    match known.unwrap_or(Preset::Taiwanese).rules().with(&changes) {
        Ok(rules) => known.filter(|_| faults.count() == before).map(|_| rules),
        Err(found) => {
            for fault in found {
                faults.add(
                    format!("rules.{}", fault.field),
                    format!("is {}, but must be {}", fault.value, fault.expected),
                );
            }
            None
        }
    }
}

fn read_changes(message: v1::RuleSet, faults: &mut FieldFaults) -> RuleChanges {
    RuleChanges {
        ladder: message.ladder,
        cannon: value::<v1::CannonRule>("cannon", message.cannon, faults),
        equals: value::<v1::EqualsRule>("equals", message.equals, faults),
        face_down: value::<v1::FaceDownRule>("face_down", message.face_down, faults),
        chain: message.chain,
        chariot: value::<v1::ChariotRule>("chariot", message.chariot, faults),
        horse: value::<v1::HorseRule>("horse", message.horse, faults),
        quiet_limit: message.quiet_limit,
        repetition: value::<v1::RepetitionRule>("repetition", message.repetition, faults),
        repetition_count: message.repetition_count,
        chase_limit: message.chase_limit,
        board: value::<v1::BoardRule>("board", message.board, faults),
        seats: message.seats,
    }
}

impl From<&RuleSet> for v1::RuleSet {
    /// Spells the rule set out: every field is set.
    fn from(rules: &RuleSet) -> Self {
        Self {
            ladder: Some(rules.ladder().to_string()),
            cannon: Some(v1::CannonRule::from(rules.cannon()).into()),
            equals: Some(v1::EqualsRule::from(rules.equals()).into()),
            face_down: Some(v1::FaceDownRule::from(rules.face_down()).into()),
            chain: Some(rules.chain()),
            chariot: Some(v1::ChariotRule::from(rules.chariot()).into()),
            horse: Some(v1::HorseRule::from(rules.horse()).into()),
            quiet_limit: Some(rules.quiet_limit().into()),
            repetition: Some(v1::RepetitionRule::from(rules.repetition()).into()),
            repetition_count: Some(rules.repetition_count().into()),
            chase_limit: Some(rules.chase_limit().into()),
            board: Some(v1::BoardRule::from(rules.board()).into()),
            seats: Some(rules.seats().into()),
        }
    }
}

impl From<Preset> for v1::Preset {
    fn from(preset: Preset) -> Self {
        Self { name: preset.name().to_owned(), rules: Some((&preset.rules()).into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_comes_back_from_its_message() {
        for preset in Preset::ALL {
            let rules = preset.rules();
            let mut faults = FieldFaults::default();
            // Every field is set, so the preset that it is read over does not matter.
            let read = read("DOUBLE_FOUR", Some((&rules).into()), &mut faults);
            assert_eq!(read, Some(rules), "{preset}");
        }
    }
}
