//! Readers of text: none panics, and what one reads is written so that it is read the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use banqi::game::{Etag, GameId, PlayerId, SeatToken};
use banqi::rules::{
    Action, BoardSize, CdcRecord, ColourSet, Deal, GameRecord, Ladder, Layout, Piece, Preset,
    Record, RuleSet, Setup, Square,
};

/// What is read from this text, if anything, is written as the same text.
fn one_spelling<T: FromStr + Display>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        assert_eq!(value.to_string(), text);
    }
}

/// What is read from this text, if anything, is read the same from what is written.
fn read_again<T: FromStr<Err: Debug> + Display + PartialEq + Debug>(text: &str) {
    if let Ok(value) = text.parse::<T>() {
        let written = value.to_string();
        assert_eq!(written.parse::<T>().expect("what was written is read"), value, "{written}");
    }
}

/// Short texts: squares, pieces, actions, records of actions, positions, rule sets, deals, ids.
pub fn texts(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    one_spelling::<Square>(text);
    one_spelling::<Piece>(text);
    one_spelling::<ColourSet>(text);
    one_spelling::<Action>(text);
    one_spelling::<Record>(text);
    one_spelling::<CdcRecord>(text);
    one_spelling::<Setup>(text);
    one_spelling::<GameId>(text);
    one_spelling::<PlayerId>(text);
    one_spelling::<Etag>(text);
    read_again::<Ladder>(text);
    read_again::<RuleSet>(text);
    if let Ok(token) = text.parse::<SeatToken>() {
        assert_eq!(token.expose(), text);
    }
    if let Ok(setup) = text.parse::<Setup>() {
        for preset in Preset::ALL {
            if let Ok(position) = setup.clone().into_position(&preset.rules()) {
                assert_eq!(position.to_string(), text);
            }
        }
    }
    for board in [BoardSize::Single, BoardSize::Double] {
        if let Ok(deal) = Deal::parse(board, text) {
            let written = deal.to_string();
            assert!(Deal::parse(board, &written).is_ok_and(|again| again == deal), "{written}");
        }
        if let Ok(layout) = Layout::parse(board, text) {
            assert_eq!(layout.deal().board(), board);
        }
    }
}

/// Game records and tournament records. Those that are read are also replayed, and one that the
/// rules allow is written and read in every form that it has.
pub fn game_records(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let strict = text.parse::<GameRecord>();
    if let Ok(record) = &strict {
        let written = record.to_string();
        assert_eq!(written.parse::<GameRecord>().as_ref(), Ok(record), "{written}");
        let replayed = record.replay();
        if let (Ok(referee), Ok(cdc)) = (&replayed, record.to_cdc()) {
            assert_eq!(referee.outcome(), record.outcome());
            let again = GameRecord::from_cdc(&cdc, &RuleSet::TAIWANESE);
            assert_eq!(again.as_ref(), Ok(record), "{cdc}");
        }
        assert!(replayed.is_ok() || record.to_cdc().is_err());
    }
    if let Ok(record) = GameRecord::from_cdc(text, &RuleSet::TAIWANESE) {
        assert!(record.replay().is_ok());
        let cdc = record.to_cdc().expect("it was read from this form");
        assert_eq!(GameRecord::from_cdc(&cdc, &RuleSet::TAIWANESE).as_ref(), Ok(&record), "{cdc}");
    }
    assert!(strict.is_err() || GameRecord::read(text, &RuleSet::TAIWANESE).is_ok());
}
