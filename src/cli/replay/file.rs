//! Files of written games: JSON, game records and tournament records.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::json::{Game, LineError};
use crate::rules::{CdcGameError, GameRecord, RuleSet};

/// The longest line, and the longest record, that is read, in bytes.
const MAX_TEXT: u64 = 16 * 1024 * 1024;

/// A game in one of the forms.
#[derive(Debug)]
pub(super) enum Written {
    /// A line of JSON.
    Json(Box<Game>),
    /// A game record or a tournament record.
    Record(Box<GameRecord>),
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
    #[error("{}: --line is {line}, but only a file of JSON has a game a line", path.display())]
    OneGame { path: PathBuf, line: u64 },
    #[error("{}: it is longer than {MAX_TEXT} bytes", path.display())]
    TooLong { path: PathBuf },
    #[error("{}: {fault}", path.display())]
    Record { path: PathBuf, fault: CdcGameError },
}

/// Reads one game from the file, or from standard input for `-`: line `number`, from 1, of a file
/// of JSON, which begins with `{`; a record otherwise. `rules` is for a tournament record that
/// names no rule set.
pub(super) fn read(path: &Path, number: u64, rules: &RuleSet) -> Result<Written, FileError> {
    if path.as_os_str() == "-" {
        return read_from(io::stdin().lock(), path, number, rules);
    }
    match File::open(path) {
        Ok(file) => read_from(BufReader::new(file), path, number, rules),
        Err(source) => Err(FileError::Read { path: path.to_owned(), source }),
    }
}

fn read_from(
    mut input: impl BufRead,
    path: &Path,
    number: u64,
    rules: &RuleSet,
) -> Result<Written, FileError> {
    let path = || path.to_owned();
    let failed = |source| FileError::Read { path: path(), source };
    if input.fill_buf().map_err(failed)?.trim_ascii_start().first() == Some(&b'{') {
        return match find_line(input, number).map_err(failed)? {
            Err(lines) => Err(FileError::NoLine { path: path(), line: number, lines }),
            Ok(text) => Game::parse(&text)
                .map(|game| Written::Json(Box::new(game)))
                .map_err(|fault| FileError::Line { path: path(), line: number, fault }),
        };
    }
    if number != 1 {
        return Err(FileError::OneGame { path: path(), line: number });
    }
    let mut text = String::new();
    input.take(MAX_TEXT + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_TEXT {
        return Err(FileError::TooLong { path: path() });
    }
    GameRecord::read(&text, rules)
        .map(|record| Written::Record(Box::new(record)))
        .map_err(|fault| FileError::Record { path: path(), fault })
}

/// The line with this number, or how many lines there are.
fn find_line(mut input: impl BufRead, number: u64) -> io::Result<Result<String, u64>> {
    let mut line = String::new();
    for read in 0..number {
        line.clear();
        if Read::take(&mut input, MAX_TEXT).read_line(&mut line)? == 0 {
            return Ok(Err(read));
        }
    }
    Ok(Ok(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_there_is_told() {
        let lines = || io::Cursor::new("one\ntwo\n");
        assert_eq!(find_line(lines(), 2).expect("text"), Ok("two\n".to_owned()));
        assert_eq!(find_line(lines(), 3).expect("text"), Err(2));
    }

    #[test]
    fn the_form_is_told_from_the_text() {
        let read = |text: &str, number| {
            let (text, path) = (text.to_owned(), Path::new("game"));
            read_from(io::Cursor::new(text), path, number, &RuleSet::TAIWANESE)
        };
        let json = r#"{"deal":"K","actions":""}"#;
        let fault = read(json, 1).expect_err("no deal").to_string();
        assert!(fault.starts_with("game line 1: `deal`: "), "{fault}");
        for record in ["[RuleSet \"TCGA\"]\n\n1. h4(k)\n", "d8(k)\n"] {
            let read = read(record, 1).expect(record);
            assert!(matches!(read, Written::Record(game) if game.entries().len() == 1));
        }
        let fault = read("h4(k)", 1).expect_err("another form").to_string();
        assert!(
            fault.starts_with("game: line 1, record `h4(k)`: expected another word"),
            "{fault}"
        );
        let fault = read("d8(k)", 2).expect_err("one game").to_string();
        assert_eq!(fault, "game: --line is 2, but only a file of JSON has a game a line");
    }
}
