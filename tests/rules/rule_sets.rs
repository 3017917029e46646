//! Rule sets: what is refused, and that everything wrong is told at once (`docs/RULES.md` §3).

use banqi::rules::{
    BoardRule, CannonRule, ChariotRule, EqualsRule, FaceDownRule, HorseRule, Preset,
    RepetitionRule, RuleChanges, RuleSet,
};
use rstest::rstest;

fn faults(changes: &RuleChanges) -> Vec<(&'static str, String)> {
    let faults = RuleSet::TAIWANESE.with(changes).expect_err("must be refused");
    faults.into_iter().map(|fault| (fault.field, fault.value)).collect()
}

#[test]
fn every_fault_is_named_at_once() {
    let nonsense = RuleChanges {
        ladder: Some("KAERHCC".to_owned()),
        quiet_limit: Some(1001),
        repetition_count: Some(1),
        chase_limit: Some(101),
        seats: Some(4),
        ..RuleChanges::default()
    };
    let fields: Vec<_> = faults(&nonsense).into_iter().map(|(field, _)| field).collect();
    assert_eq!(fields, ["ladder", "quiet_limit", "repetition_count", "chase_limit", "seats"]);
}

#[test]
fn a_fault_names_the_field_the_value_and_what_would_be_right() {
    let changes = RuleChanges { quiet_limit: Some(0), ..RuleChanges::default() };
    let fault = &RuleSet::TAIWANESE.with(&changes).expect_err("must be refused")[0];
    assert_eq!(fault.to_string(), "`quiet_limit` is 0, but must be a number from 1 to 1000");
}

#[rstest]
#[case::a_kind_missing("KAERHC")]
#[case::a_kind_twice("KAERHCPP")]
#[case::a_kind_instead_of_another("KKERHCP")]
#[case::lower_case("kaerhcp")]
#[case::a_letter_of_no_kind("KAERHCX")]
#[case::nothing("")]
fn a_ladder_that_is_no_permutation_is_refused(#[case] ladder: &str) {
    let changes = RuleChanges { ladder: Some(ladder.to_owned()), ..RuleChanges::default() };
    assert_eq!(faults(&changes), [("ladder", ladder.to_owned())]);
}

#[rstest]
#[case("quiet_limit", 1, 1000)]
#[case("repetition_count", 2, 10)]
#[case("chase_limit", 0, 100)]
fn numbers_are_held_to_their_ranges(#[case] field: &str, #[case] least: u32, #[case] most: u32) {
    let change = |value| match field {
        "quiet_limit" => RuleChanges { quiet_limit: Some(value), ..RuleChanges::default() },
        "repetition_count" => {
            RuleChanges { repetition_count: Some(value), ..RuleChanges::default() }
        }
        _ => RuleChanges { chase_limit: Some(value), ..RuleChanges::default() },
    };
    for value in [least, most] {
        assert!(RuleSet::TAIWANESE.with(&change(value)).is_ok(), "{field} {value}");
    }
    let outside = [least.checked_sub(1), Some(most + 1), Some(65_536 + least), Some(u32::MAX)];
    for value in outside.into_iter().flatten() {
        assert_eq!(faults(&change(value)).len(), 1, "{field} {value}");
    }
}

#[rstest]
#[case(None, 4, false)]
#[case(Some(BoardRule::Double), 4, true)]
#[case(Some(BoardRule::Double), 2, true)]
#[case(None, 2, true)]
#[case(Some(BoardRule::Double), 3, false)]
#[case(None, 0, false)]
fn four_seats_need_the_double_board(
    #[case] board: Option<BoardRule>,
    #[case] seats: u32,
    #[case] fits: bool,
) {
    let changes = RuleChanges { board, seats: Some(seats), ..RuleChanges::default() };
    assert_eq!(RuleSet::TAIWANESE.with(&changes).is_ok(), fits);
}

#[test]
fn a_preset_of_four_seats_does_not_fit_a_single_board() {
    let changes = RuleChanges { board: Some(BoardRule::Single), ..RuleChanges::default() };
    let faults = Preset::DoubleFour.rules().with(&changes).expect_err("must be refused");
    assert_eq!(faults[0].field, "seats");
}

/// The table of `docs/RULES.md` §3, written out once more.
#[test]
fn presets_differ_from_the_default_in_what_the_table_says() {
    fn described(rules: &RuleSet) -> Vec<String> {
        let default = RuleSet::TAIWANESE;
        let fields = [
            ("ladder", rules.ladder().to_string(), default.ladder().to_string()),
            ("cannon", rules.cannon().to_string(), CannonRule::Jump.to_string()),
            ("equals", rules.equals().to_string(), EqualsRule::Take.to_string()),
            ("face_down", rules.face_down().to_string(), FaceDownRule::Safe.to_string()),
            ("chain", rules.chain().to_string(), false.to_string()),
            ("chariot", rules.chariot().to_string(), ChariotRule::Step.to_string()),
            ("horse", rules.horse().to_string(), HorseRule::Step.to_string()),
            ("quiet_limit", rules.quiet_limit().to_string(), 180.to_string()),
            ("repetition", rules.repetition().to_string(), RepetitionRule::Draw.to_string()),
            ("repetition_count", rules.repetition_count().to_string(), 3.to_string()),
            ("chase_limit", rules.chase_limit().to_string(), 0.to_string()),
            ("board", rules.board().to_string(), BoardRule::Single.to_string()),
            ("seats", rules.seats().to_string(), 2.to_string()),
        ];
        fields
            .into_iter()
            .filter(|(_, value, default)| value != default)
            .map(|(field, value, _)| format!("{field} {value}"))
            .collect()
    }
    let table: [(&str, &[&str]); 10] = [
        ("TAIWANESE", &[]),
        ("TCGA", &["quiet_limit 40"]),
        ("HONG_KONG", &["ladder KRHCAEP", "cannon STEP"]),
        ("MAINLAND", &["cannon STEP"]),
        (
            "MAINLAND_EXCHANGE",
            &[
                "cannon STEP",
                "equals BOTH_REMOVED",
                "quiet_limit 300",
                "repetition OFF",
                "chase_limit 10",
            ],
        ),
        ("TAIWANESE_CHAIN", &["chain true", "quiet_limit 50"]),
        (
            "TAIWANESE_DARK_CHAIN",
            &[
                "face_down PROBE",
                "chain true",
                "chariot CHARGE_ANY",
                "horse DIAGONAL",
                "quiet_limit 50",
            ],
        ),
        ("XIANGQI_CHASE", &["repetition ATTACKER_LOSES"]),
        ("DOUBLE", &["board DOUBLE"]),
        ("DOUBLE_FOUR", &["board DOUBLE", "seats 4"]),
    ];
    assert_eq!(table.map(|(name, _)| name), Preset::ALL.map(Preset::name));
    for (name, differences) in table {
        let preset = Preset::from_name(name).expect("a preset");
        assert_eq!(described(&preset.rules()), differences, "{name}");
    }
}
