//! The presets of `RULES.md` §3.

use std::fmt;

use super::rule_set::{
    BoardRule, CannonRule, ChariotRule, EqualsRule, FaceDownRule, HorseRule, RepetitionRule,
    RuleChanges, RuleSet,
};

/// A rule set with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preset {
    /// The default, also the Computer Olympiad's.
    Taiwanese,
    /// The Taiwanese rules with 40 quiet turns.
    Tcga,
    /// Its own ladder, stepping cannons.
    HongKong,
    /// Stepping cannons.
    Mainland,
    /// Stepping cannons, equals leave together, chases are limited.
    MainlandExchange,
    /// Captures in chains.
    TaiwaneseChain,
    /// Captures in chains, also of face-down pieces; charging chariots, diagonal horses.
    TaiwaneseDarkChain,
    /// Who attacks perpetually loses.
    XiangqiChase,
    /// Two sets on 8 × 8 for two seats.
    Double,
    /// Two sets on 8 × 8 for four seats.
    DoubleFour,
}

impl Preset {
    /// Every preset, in the order of `RULES.md` §3.
    pub const ALL: [Self; 10] = [
        Self::Taiwanese,
        Self::Tcga,
        Self::HongKong,
        Self::Mainland,
        Self::MainlandExchange,
        Self::TaiwaneseChain,
        Self::TaiwaneseDarkChain,
        Self::XiangqiChase,
        Self::Double,
        Self::DoubleFour,
    ];

    /// Its name in `RULES.md` §3.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Taiwanese => "TAIWANESE",
            Self::Tcga => "TCGA",
            Self::HongKong => "HONG_KONG",
            Self::Mainland => "MAINLAND",
            Self::MainlandExchange => "MAINLAND_EXCHANGE",
            Self::TaiwaneseChain => "TAIWANESE_CHAIN",
            Self::TaiwaneseDarkChain => "TAIWANESE_DARK_CHAIN",
            Self::XiangqiChase => "XIANGQI_CHASE",
            Self::Double => "DOUBLE",
            Self::DoubleFour => "DOUBLE_FOUR",
        }
    }

    /// The preset with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// What differs from the default.
    pub fn changes(self) -> RuleChanges {
        let default = RuleChanges::default();
        match self {
            Self::Taiwanese => default,
            Self::Tcga => RuleChanges { quiet_limit: Some(40), ..default },
            Self::HongKong => RuleChanges {
                ladder: Some("KRHCAEP".to_owned()),
                cannon: Some(CannonRule::Step),
                ..default
            },
            Self::Mainland => RuleChanges { cannon: Some(CannonRule::Step), ..default },
            Self::MainlandExchange => RuleChanges {
                cannon: Some(CannonRule::Step),
                equals: Some(EqualsRule::BothRemoved),
                repetition: Some(RepetitionRule::Off),
                chase_limit: Some(10),
                quiet_limit: Some(300),
                ..default
            },
            Self::TaiwaneseChain => {
                RuleChanges { chain: Some(true), quiet_limit: Some(50), ..default }
            }
            Self::TaiwaneseDarkChain => RuleChanges {
                chain: Some(true),
                face_down: Some(FaceDownRule::Probe),
                chariot: Some(ChariotRule::ChargeAny),
                horse: Some(HorseRule::Diagonal),
                quiet_limit: Some(50),
                ..default
            },
            Self::XiangqiChase => {
                RuleChanges { repetition: Some(RepetitionRule::AttackerLoses), ..default }
            }
            Self::Double => RuleChanges { board: Some(BoardRule::Double), ..default },
            Self::DoubleFour => {
                RuleChanges { board: Some(BoardRule::Double), seats: Some(4), ..default }
            }
        }
    }

    /// The rule set.
    pub fn rules(self) -> RuleSet {
        RuleSet::TAIWANESE.with(&self.changes()).expect("presets make sense, as a test shows")
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_makes_sense_and_is_found_by_its_name() {
        for preset in Preset::ALL {
            assert_eq!(Preset::from_name(preset.name()), Some(preset));
            assert!(RuleSet::TAIWANESE.with(&preset.changes()).is_ok(), "{preset}");
        }
    }
}
