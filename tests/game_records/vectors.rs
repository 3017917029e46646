//! Every game of the vectors, written, read and replayed.

use banqi::rules::GameRecord;

use crate::vector_games::games;

#[test]
fn every_game_is_read_as_it_was_written() {
    for game in games() {
        let text = game.record.to_string();
        let read: GameRecord =
            text.parse().unwrap_or_else(|fault| panic!("{}: {fault}", game.name));
        assert_eq!(read, game.record, "{}", game.name);
        assert_eq!(read.to_string(), text, "{}", game.name);
    }
}

#[test]
fn every_game_comes_to_the_same_end_when_it_is_read_and_replayed() {
    for game in games() {
        let read: GameRecord = game.record.to_string().parse().expect("a game record");
        let records: Vec<String> =
            read.entries().iter().map(|entry| entry.event.to_string()).collect();
        assert_eq!(records, game.records, "{}", game.name);
        let referee = read.replay().unwrap_or_else(|fault| panic!("{}: {fault}", game.name));
        assert_eq!(referee.position().to_string(), game.final_position, "{}", game.name);
        assert_eq!(referee.outcome(), read.outcome(), "{}", game.name);
        assert!(read.outcome().is_some(), "{}", game.name);
    }
}

#[test]
fn no_line_of_records_is_longer_than_eighty_characters() {
    for game in games() {
        let text = game.record.to_string();
        let (_, records) = text.split_once("\n\n").expect("a blank line");
        let longest = records.lines().map(str::len).max();
        assert!(longest.is_some_and(|longest| longest <= 80), "{}: {longest:?}", game.name);
    }
}
