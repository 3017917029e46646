//! Rule sets and deals from bytes.

use arbitrary::{Result, Unstructured};
use banqi::rules::{
    BoardRule, BoardSize, CannonRule, ChariotRule, Deal, EqualsRule, FaceDownRule, HorseRule, Kind,
    Piece, RepetitionRule, RuleChanges, RuleSet, full_set,
};

fn shuffle<T>(bytes: &mut Unstructured<'_>, items: &mut [T]) -> Result<()> {
    for last in (1..items.len()).rev() {
        items.swap(last, bytes.int_in_range(0..=last)?);
    }
    Ok(())
}

/// A rule set, or none where the fields do not go together.
pub(crate) fn rule_set(bytes: &mut Unstructured<'_>) -> Result<Option<RuleSet>> {
    let mut kinds = Kind::ALL;
    if bytes.arbitrary()? {
        shuffle(bytes, &mut kinds)?;
    }
    let changes = RuleChanges {
        ladder: Some(kinds.iter().map(|kind| kind.letter()).collect()),
        cannon: Some(*bytes.choose(CannonRule::ALL)?),
        equals: Some(*bytes.choose(EqualsRule::ALL)?),
        face_down: Some(*bytes.choose(FaceDownRule::ALL)?),
        chain: Some(bytes.arbitrary()?),
        chariot: Some(*bytes.choose(ChariotRule::ALL)?),
        horse: Some(*bytes.choose(HorseRule::ALL)?),
        // Low limits, so that ends are reached.
        quiet_limit: Some(bytes.int_in_range(0..=40)?),
        repetition: Some(*bytes.choose(RepetitionRule::ALL)?),
        repetition_count: Some(bytes.int_in_range(1..=5)?),
        chase_limit: Some(bytes.int_in_range(0..=8)?),
        board: Some(*bytes.choose(BoardRule::ALL)?),
        seats: Some(*bytes.choose(&[2, 3, 4])?),
    };
    Ok(RuleSet::TAIWANESE.with(&changes).ok())
}

/// A full deal; in order where the bytes run out.
pub(crate) fn deal(bytes: &mut Unstructured<'_>, board: BoardSize) -> Result<Deal> {
    let mut pieces: Vec<Piece> = full_set(board);
    shuffle(bytes, &mut pieces)?;
    Ok(Deal::from_pieces(board, &pieces).expect("a full set"))
}
