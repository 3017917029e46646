//! The frame of a game record: header lines, a blank line, words.

use std::collections::BTreeSet;

use super::error::GameRecordError;
use super::heading::is_name;

/// A header line.
pub(super) struct Header<'a> {
    pub(super) line: usize,
    pub(super) name: &'a str,
    pub(super) value: String,
}

impl Header<'_> {
    pub(super) fn fault(&self, expected: impl Into<String>) -> GameRecordError {
        GameRecordError::new(self.line, self.name, &self.value, expected)
    }
}

/// A word after the headers.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) line: usize,
    pub(super) text: &'a str,
}

impl<'a> Word<'a> {
    pub(super) fn fault(&self, part: &str, expected: impl Into<String>) -> GameRecordError {
        GameRecordError::new(self.line, part, self.text, expected)
    }

    /// The digits of a turn's number: `12.`.
    pub(super) fn digits_of_turn(&self) -> Option<&'a str> {
        let digits = self.text.strip_suffix('.')?;
        let well_formed = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        well_formed.then_some(digits)
    }
}

/// Takes a text apart. A text without headers needs no blank line.
pub(super) fn take_apart(text: &str) -> Result<(Vec<Header<'_>>, Vec<Word<'_>>), GameRecordError> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line)).peekable();
    let (mut headers, mut names) = (Vec::new(), BTreeSet::new());
    while let Some((line, text)) = lines.next_if(|(_, text)| text.starts_with('[')) {
        let header = read_header(line, text)?;
        if !names.insert(header.name) {
            return Err(header.fault("each header once"));
        }
        headers.push(header);
    }
    if let Some((line, text)) = lines.peek()
        && !headers.is_empty()
        && !text.trim_ascii().is_empty()
    {
        return Err(GameRecordError::new(*line, "line", text, "a blank line after the headers"));
    }
    let words = lines
        .flat_map(|(line, text)| text.split_ascii_whitespace().map(move |text| Word { line, text }))
        .collect();
    Ok((headers, words))
}

fn read_header(line: usize, text: &str) -> Result<Header<'_>, GameRecordError> {
    let read = || {
        let inner = text.strip_prefix('[')?.strip_suffix("\"]")?;
        let (name, value) = inner.split_once(" \"")?;
        let value = unescaped(value)?;
        is_name(name).then_some(Header { line, name, value })
    };
    read().ok_or_else(|| {
        let expected = "`[Name \"value\"]`, with a `\\` before each `\"` and `\\` of the value, \
                        and no control characters";
        GameRecordError::new(line, "header", text, expected)
    })
}

fn unescaped(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => value.push(letters.next().filter(|letter| matches!(letter, '"' | '\\'))?),
            '"' => return None,
            letter if letter.is_control() => return None,
            letter => value.push(letter),
        }
    }
    Some(value)
}

/// A header's value as it stands between quotes.
pub(super) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}
