//! `banqi replay`.

mod board;
mod file;

use std::io::{self, BufRead as _, IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use board::Style;
use file::{FileError, Game};

use crate::rules::{PlayError, Referee};

/// Play a written game again and draw its boards
///
/// The file has one game a line, as JSON: `preset` or `rules` (fields that differ from the
/// Taiwanese rules), `deal` or `board` with `to_move`, `colours` and `quiet`, and `actions` split
/// by blanks. Where it also has `records` or `final`, they are compared with what was played.
#[derive(Args, Clone, Debug)]
pub(super) struct Replay {
    /// File to read; - for standard input
    file: PathBuf,

    /// Which line of the file
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    line: u64,

    /// Draw only the board at the end
    #[arg(long, conflicts_with_all = ["step", "delay"])]
    r#final: bool,

    /// Wait for the return key before each action
    #[arg(long, conflicts_with = "delay")]
    step: bool,

    /// Wait so many milliseconds before each action
    #[arg(long, value_name = "MILLISECONDS")]
    delay: Option<u64>,
}

/// Why a game could not be shown, or is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("--step reads the return key from standard input, but so is the game: name a file")]
    StepFromInput,
    #[error("action {number} `{action}`: {fault}")]
    Action { number: usize, action: String, fault: PlayError },
    #[error("action {number}: the file's `records` say `{told}`, but it does `{done}`")]
    Record { number: usize, told: String, done: String },
    #[error("`{field}`: the file says `{told}`, but the game gives `{done}`")]
    Differs { field: &'static str, told: String, done: String },
    #[error("writing failed: {0}")]
    Write(#[from] io::Error),
}

impl Replay {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.step && self.file.as_os_str() == "-" {
            return Err(Failure::StepFromInput);
        }
        let game = file::read(&self.file, self.line)?;
        let mut out = io::stdout().lock();
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let style = Style { colour: out.is_terminal() && !no_colour };
        show(&game, style, !self.r#final, &mut out, || self.wait())
    }

    /// Waits between two actions, as asked.
    fn wait(&self) -> io::Result<()> {
        if self.step {
            io::stdin().lock().read_line(&mut String::new())?;
        }
        if let Some(delay) = self.delay {
            std::thread::sleep(Duration::from_millis(delay));
        }
        Ok(())
    }
}

/// Plays a game and draws its boards: each, or only the last.
fn show(
    game: &Game,
    style: Style,
    each: bool,
    out: &mut impl Write,
    wait: impl Fn() -> io::Result<()>,
) -> Result<(), Failure> {
    if let Some(name) = &game.name {
        writeln!(out, "{name}")?;
    }
    let mut referee = game.referee.clone();
    if each {
        write!(out, "{}", style.draw(referee.position()))?;
    }
    for (index, &action) in game.actions.iter().enumerate() {
        if each {
            out.flush()?;
            wait()?;
        }
        let number = index + 1;
        let played = referee
            .play(action, |square| game.deal.at(square))
            .map_err(|fault| Failure::Action { number, action: action.to_string(), fault })?;
        if each {
            writeln!(out, "\n{number}. seat {}: {}", played.seat, played.record)?;
            write!(out, "{}", style.draw(referee.position()))?;
        }
        let done = played.record.to_string();
        if let Some(told) = game.records.get(index).filter(|told| **told != done) {
            return Err(Failure::Record { number, told: told.clone(), done });
        }
    }
    if !each {
        write!(out, "{}", style.draw(referee.position()))?;
    }
    writeln!(out, "\n{}", ending(&referee))?;
    let done = referee.position().to_string();
    if let Some(told) = game.final_position.as_ref().filter(|told| **told != done) {
        return Err(Failure::Differs { field: "final", told: told.clone(), done });
    }
    Ok(())
}

/// How it ended, in a sentence.
fn ending(referee: &Referee) -> String {
    let Some(outcome) = referee.outcome() else {
        return format!("the game goes on: seat {} to move", referee.position().to_move());
    };
    match outcome.winner() {
        Some(seat) => format!("seat {seat} wins: {}", outcome.reason),
        None => format!("a draw: {}", outcome.reason),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = r#"{"name":"a chariot takes","board":"R h . . . . . . . . . . . . . . . . . . . . . . . . . . . . . ?k","to_move":1,"colours":["r","b"],"quiet":0,"actions":"a1-b1 h4","records":"a1xb1 h4(k)"}"#;

    fn shown(line: &str, each: bool) -> Result<String, Failure> {
        let game = Game::parse(line).expect("a game");
        let mut out = Vec::new();
        show(&game, Style { colour: false }, each, &mut out, || Ok(()))?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn every_board_is_drawn() {
        insta::assert_snapshot!(shown(GAME, true).expect("a game"));
    }

    #[test]
    fn only_the_last_board_is_drawn() {
        insta::assert_snapshot!(shown(GAME, false).expect("a game"));
    }

    #[test]
    fn an_illegal_action_is_named() {
        let fault = shown(&GAME.replace("a1-b1 h4", "a1-c1"), false).expect_err("illegal");
        assert!(fault.to_string().starts_with("action 1 `a1-c1`: "), "{fault}");
    }

    #[test]
    fn records_that_differ_are_told() {
        let fault = shown(&GAME.replace("h4(k)", "h4(K)"), false).expect_err("a difference");
        let told = "action 2: the file's `records` say `h4(K)`, but it does `h4(k)`";
        assert_eq!(fault.to_string(), told);
    }
}
