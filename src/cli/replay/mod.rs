//! `banqi replay`.

mod file;
mod json;

use std::io::{self, BufRead as _, Write};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::board::{Pieces, Style};
use super::reasons;
use file::{FileError, Written};
use json::Game;

use crate::rules::{EndReason, Event, GameRecord, PlayError, Referee, ReplayError, RuleSet};

/// Play a written game again and draw its boards
///
/// The file is a game record, a tournament record (CDC), or has one game a line, as JSON: `preset` or `rules` (fields that differ from the
/// Taiwanese rules), `deal` or `board` with `to_move`, `colours` and `quiet`, and `actions` split
/// by blanks. Where it also has `records` or `final`, they are compared with what was played.
#[derive(Args, Clone, Debug)]
pub(super) struct Replay {
    /// File to read; - for standard input
    file: PathBuf,

    /// Rules of a tournament record that names none: a preset, and `field=value` for what differs
    #[arg(long, value_name = "RULES", default_value_t = RuleSet::TAIWANESE)]
    rules: RuleSet,

    /// Which line of a file of JSON
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
    #[error(transparent)]
    Replay(#[from] ReplayError),
    #[error("writing failed: {0}")]
    Write(#[from] io::Error),
}

impl Replay {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.step && self.file.as_os_str() == "-" {
            return Err(Failure::StepFromInput);
        }
        let game = file::read(&self.file, self.line, &self.rules)?;
        let mut out = io::stdout().lock();
        let style = Style::of_output(Pieces::default());
        let mut screen = Screen { style, each: !self.r#final, out: &mut out, wait: || self.wait() };
        match game {
            Written::Json(game) => show_json(&game, &mut screen),
            Written::Record(record) => show_record(&record, &mut screen),
        }
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

/// Where games are shown: every board, or only the last.
struct Screen<'a, Out, Wait> {
    style: Style,
    each: bool,
    out: &'a mut Out,
    wait: Wait,
}

impl<Out: Write, Wait: Fn() -> io::Result<()>> Screen<'_, Out, Wait> {
    fn draw(&mut self, referee: &Referee) -> io::Result<()> {
        write!(self.out, "{}", self.style.draw(referee.position()))
    }

    fn begin(&mut self, referee: &Referee) -> io::Result<()> {
        if self.each { self.draw(referee) } else { Ok(()) }
    }

    fn before_step(&mut self) -> io::Result<()> {
        if self.each {
            self.out.flush()?;
            (self.wait)()?;
        }
        Ok(())
    }

    fn after_step(&mut self, number: usize, what: &str, referee: &Referee) -> io::Result<()> {
        if self.each {
            writeln!(self.out, "\n{number}. {what}")?;
            self.draw(referee)?;
        }
        Ok(())
    }

    fn end(&mut self, referee: &Referee) -> io::Result<()> {
        if !self.each {
            self.draw(referee)?;
        }
        writeln!(self.out, "\n{}", ending(referee))
    }
}

/// Plays a game written as JSON.
fn show_json<Out: Write, Wait: Fn() -> io::Result<()>>(
    game: &Game,
    screen: &mut Screen<'_, Out, Wait>,
) -> Result<(), Failure> {
    if let Some(name) = &game.name {
        writeln!(screen.out, "{name}")?;
    }
    let mut referee = game.referee.clone();
    screen.begin(&referee)?;
    for (index, &action) in game.actions.iter().enumerate() {
        screen.before_step()?;
        let number = index + 1;
        let played = referee
            .play(action, |square| game.deal.at(square))
            .map_err(|fault| Failure::Action { number, action: action.to_string(), fault })?;
        let done = played.record.to_string();
        screen.after_step(number, &format!("seat {}: {done}", played.seat), &referee)?;
        if let Some(told) = game.records.get(index).filter(|told| **told != done) {
            return Err(Failure::Record { number, told: told.clone(), done });
        }
    }
    screen.end(&referee)?;
    let done = referee.position().to_string();
    if let Some(told) = game.final_position.as_ref().filter(|told| **told != done) {
        return Err(Failure::Differs { field: "final", told: told.clone(), done });
    }
    Ok(())
}

/// Plays a game record.
fn show_record<Out: Write, Wait: Fn() -> io::Result<()>>(
    record: &GameRecord,
    screen: &mut Screen<'_, Out, Wait>,
) -> Result<(), Failure> {
    let mut referee = record.referee_at_start();
    screen.begin(&referee)?;
    for (index, entry) in record.entries().iter().enumerate() {
        screen.before_step()?;
        let played = record.replay_entry(&mut referee, entry)?;
        let what = match (played, entry.event) {
            (_, Event::Left { seat, reason }) => {
                format!("seat {seat} leaves: {}", in_words(EndReason::from(reason)))
            }
            (Some(played), Event::Acted(record)) => format!("seat {}: {record}", played.seat),
            (None, Event::Acted(record)) => record.to_string(),
        };
        screen.after_step(index + 1, &what, &referee)?;
    }
    record.replay_end(&mut referee)?;
    Ok(screen.end(&referee)?)
}

/// How it ended, in a sentence.
fn ending(referee: &Referee) -> String {
    let Some(outcome) = referee.outcome() else {
        return format!("the game goes on: seat {} to move", referee.position().to_move());
    };
    match outcome.winner() {
        _ if outcome.reason == EndReason::Aborted => "aborted: no winner and no loser".to_owned(),
        Some(seat) => format!("seat {seat} wins: {}", in_words(outcome.reason)),
        None => format!("a draw: {}", in_words(outcome.reason)),
    }
}

fn in_words(reason: EndReason) -> String {
    reasons::in_words(reason.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAME: &str = r#"{"name":"a chariot takes","board":"R h . . . . . . . . . . . . . . . . . . . . . . . . . . . . . ?k","to_move":1,"colours":["r","b"],"quiet":0,"actions":"a1-b1 h4","records":"a1xb1 h4(k)"}"#;

    fn shown(line: &str, each: bool) -> Result<String, Failure> {
        let game = Game::parse(line).expect("a game");
        on_screen(each, |screen| show_json(&game, screen))
    }

    type Lines<'a> = Screen<'a, Vec<u8>, fn() -> io::Result<()>>;

    fn on_screen(
        each: bool,
        show: impl FnOnce(&mut Lines<'_>) -> Result<(), Failure>,
    ) -> Result<String, Failure> {
        let mut out = Vec::new();
        let style = Style::default();
        show(&mut Screen { style, each, out: &mut out, wait: || Ok(()) })?;
        Ok(String::from_utf8(out).expect("text"))
    }

    #[test]
    fn a_game_record_is_played_with_the_seats_that_left() {
        let record = "[RuleSet \"DOUBLE_FOUR\"]\n\n1. 3!TIMEOUT b3(k) 2. 2!RESIGNATION\n";
        let record: GameRecord = record.parse().expect("a record");
        let shown = on_screen(true, |screen| show_record(&record, screen)).expect("a game");
        for told in [
            "\n1. seat 3 leaves: a clock ran out (TIMEOUT)\n",
            "\n2. seat 1: b3(k)\n",
            "\n3. seat 2 leaves: by resignation (RESIGNATION)\n",
        ] {
            assert!(shown.contains(told), "{shown}");
        }
        assert!(shown.ends_with("\nthe game goes on: seat 4 to move\n"), "{shown}");
    }

    #[test]
    fn a_record_that_the_rules_contradict_is_told() {
        let record: GameRecord =
            "[RuleSet \"TCGA\"]\n\n1. b3(k) 2. b3-b4\n".parse().expect("a record");
        let fault = on_screen(true, |screen| show_record(&record, screen)).expect_err("illegal");
        assert!(fault.to_string().starts_with("turn 2, `b3-b4`: "), "{fault}");
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
