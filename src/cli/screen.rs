//! Hosted games on a terminal, in colour or plain.

use std::io::{self, IsTerminal as _};

use clap::Args;

use super::board::{Pieces, Style};
use super::reasons;
use crate::api::convert;
use crate::api::error::FieldFaults;
use crate::api::proto::v1;
use crate::rules::{BoardSize, Colour, Piece, PieceCounts, Position, Setup, Square};

/// Clears a terminal and goes to its top.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

/// What is said while the service does not answer.
pub(super) const LOST: &str = "the service does not answer; trying again (Ctrl-C leaves)";

/// What is said once it answers again.
pub(super) const BACK: &str = "the service is back again";

/// What is said where the store has lost what was shown before.
pub(super) const HISTORY_LOST: &str =
    "the service has lost the last actions; this is how it stands";

/// How games are shown.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct ScreenOptions {
    /// What stands for a piece
    #[arg(long, value_enum, default_value_t = Pieces::Letters)]
    pieces: Pieces,

    /// Only lines one after the other, without colour: for screen readers, logs and pipes
    #[arg(long)]
    plain: bool,
}

/// Where games are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    style: Style,
    /// Whether what was shown before is cleared away.
    clears: bool,
}

impl ScreenOptions {
    /// A screen for standard output: plain where that is no terminal, without colour where `NO_COLOR` is
    /// set.
    pub(super) fn screen(self) -> Screen {
        let style = Style::of_output(self.pieces);
        Screen {
            style: Style { colour: style.colour && !self.plain, ..style },
            clears: io::stdout().is_terminal() && !self.plain,
        }
    }
}

impl Screen {
    /// Whether what was shown before is cleared away.
    pub(super) fn clears(self) -> bool {
        self.clears
    }

    /// What to write so that a game is shown as it stands, with what was said last below it.
    pub(super) fn show(self, game: &v1::Game, own: &[u32], said: &[String]) -> String {
        let mut text = if self.clears { CLEAR.to_owned() } else { String::new() };
        text += &format!("\ngame {}\n\n", game.game_id);
        match position(game) {
            Some(position) => {
                let last = game.last_action.as_ref();
                let marked: Vec<Square> = last
                    .into_iter()
                    .flat_map(|last| [last.from, last.to])
                    .filter_map(square)
                    .collect();
                text += &self.style.squares(&position, &marked);
                let board = position.board_size();
                text += &format!("\ncaptured:  {}\n", pieces(position.captured(), board));
                text += &format!("face down: {}\n", pieces(position.face_down(), board));
            }
            None => text += "this release cannot draw the game's position\n",
        }
        for seat in &game.seats {
            text += &line(game, seat, own);
        }
        for line in said {
            text += &format!("{line}\n");
        }
        text
    }
}

/// Pieces with their counts, two colours to a line so that all fit beside a label: `K1 A2  k1 p5`.
fn pieces(counts: PieceCounts, board: BoardSize) -> String {
    let of = |colour: Colour| {
        let kinds = Piece::each(board).filter(|piece| piece.colour == colour);
        let there = kinds.filter(|piece| counts.get(*piece) > 0);
        there.map(|piece| format!("{piece}{}", counts.get(piece))).collect::<Vec<_>>().join(" ")
    };
    let sets = [[Colour::Red, Colour::Black], [Colour::Blue, Colour::Green]];
    let lines = sets.map(|set| set.map(of).into_iter().filter(|text| !text.is_empty()).collect());
    let lines = lines.map(|colours: Vec<String>| colours.join("  ")).into_iter();
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { "-".to_owned() } else { lines.join("\n           ") }
}

/// The square that a message numbers from 1; none for no square.
pub(super) fn square(number: i32) -> Option<Square> {
    Square::new(u8::try_from(number).ok()?.checked_sub(1)?)
}

/// The position of a game.
pub(super) fn position(game: &v1::Game) -> Option<Position> {
    let rules = convert::rules::read("", game.rules.clone(), &mut FieldFaults::default())?;
    let setup: Setup = game.position.as_ref()?.text.parse().ok()?;
    setup.into_position(&rules).ok()
}

/// A seat: `> 1  Ann (you)  red  9:58`, with a mark for the one to move.
fn line(game: &v1::Game, seat: &v1::GameSeat, own: &[u32]) -> String {
    let to_move = game.position.as_ref().is_some_and(|position| position.to_move == seat.number)
        && game.state() == v1::GameState::Active;
    let colours: Vec<String> = seat.colours().map(colour).collect();
    let mut text = format!(
        "{} {}  {}  {}",
        if to_move { '>' } else { ' ' },
        seat.number,
        name(game, seat.number, own),
        if colours.is_empty() { "no colour yet".to_owned() } else { colours.join(" and ") },
    );
    if !seat.joined {
        text += ", not here yet";
    }
    if seat.out {
        text += ", out";
        let departure = game.departures.iter().find(|departure| departure.seat == seat.number);
        if let Some(departure) = departure {
            text += &format!(": {}", reasons::in_words(departure.reason()));
        }
    }
    if let Some(left) = left(game, seat.number) {
        text += &format!(", {left} left");
    }
    text + "\n"
}

/// What is left on a seat's clock, as the game last told it.
fn left(game: &v1::Game, seat: u32) -> Option<String> {
    let clock = game.clocks.iter().find(|clock| clock.seat == seat)?;
    let seconds = clock.remaining.as_ref()?.seconds;
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let time = if hours > 0 {
        format!("{hours}:{minutes:02}:{:02}", seconds % 60)
    } else {
        format!("{minutes}:{:02}", seconds % 60)
    };
    let periods = clock.periods_left;
    Some(if periods > 0 { format!("{time} and {periods} periods") } else { time })
}

/// What a seat is called.
pub(super) fn name(game: &v1::Game, seat: u32, own: &[u32]) -> String {
    let index = usize::try_from(seat).unwrap_or_default().wrapping_sub(1);
    let player = game.seats.get(index).map_or("", |seat| seat.player_id.as_str());
    let name = if player.is_empty() { format!("seat {seat}") } else { player.to_owned() };
    if own.contains(&seat) && own.len() < game.seats.len() { format!("{name} (you)") } else { name }
}

fn colour(colour: v1::Colour) -> String {
    colour.as_str_name().trim_start_matches("COLOUR_").to_lowercase()
}

/// What happened, in a line; nothing for what everyone sees on the board anyway.
pub(super) fn happened(entry: &v1::LogEntry, game: &v1::Game, own: &[u32]) -> Option<String> {
    use v1::log_entry::Event;
    let name = |seat| name(game, seat, own);
    Some(match entry.event.as_ref()? {
        Event::Created(_) | Event::EntropyAdded(_) | Event::SeatTokenReissued(_) => return None,
        Event::Joined(joined) => format!("{} has come", name(joined.seat)),
        Event::Played(record) => {
            format!("{}. {}: {}", record.turn_number, name(record.seat), record.text)
        }
        Event::Resigned(resigned) => format!("{} has resigned", name(resigned.seat)),
        Event::Aborted(_) => "the game was called off".to_owned(),
        Event::TimedOut(out) if out.reason() == v1::EndReason::Abandoned => {
            format!("{} has not acted for too long", name(out.seat))
        }
        Event::TimedOut(out) => format!("{} has run out of time", name(out.seat)),
        Event::DrawOffered(offer) => format!("{} offers a draw", name(offer.seat)),
        Event::DrawAnswered(answer) if answer.accepted => {
            format!("{} accepts the draw", name(answer.seat))
        }
        Event::DrawAnswered(answer) => format!("{} declines the draw", name(answer.seat)),
        Event::TakebackRequested(request) => {
            format!("{} asks to take a turn back", name(request.seat))
        }
        Event::TakebackAnswered(answer) if answer.undone_actions > 0 => {
            "the turn was taken back".to_owned()
        }
        Event::TakebackAnswered(answer) if answer.accepted => {
            format!("{} lets the turn be taken back", name(answer.seat))
        }
        Event::TakebackAnswered(answer) => {
            format!("{} lets nothing be taken back", name(answer.seat))
        }
        Event::RematchMade(_) => "a rematch is wanted".to_owned(),
        Event::Adjudicated(_) => "the organiser has ended the game".to_owned(),
        Event::PlayerErased(erased) => format!("the name of seat {} was erased", erased.seat),
        Event::Agreed(_) => "all have agreed to a draw".to_owned(),
    })
}

/// How a game ended: `Ann (you) has won: a side has no pieces left (ALL_CAPTURED)`.
pub(super) fn ending(game: &v1::Game, own: &[u32]) -> Option<String> {
    let result = game.result.as_ref()?;
    let reason = reasons::in_words(result.reason());
    let winners: Vec<String> = result.winners.iter().map(|seat| name(game, *seat, own)).collect();
    Some(match (winners.as_slice(), result.reason()) {
        ([], v1::EndReason::Aborted) => "the game was called off".to_owned(),
        ([], _) => format!("a draw: {reason}"),
        (winners, _) => format!("{} has won: {reason}", winners.join(" and ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fit_on_a_terminal_of_80_columns() {
        let all = pieces(PieceCounts::full(BoardSize::Double), BoardSize::Double);
        assert_eq!(
            all,
            "K1 A2 E2 R2 H2 C2 P5  k1 a2 e2 r2 h2 c2 p5\n           \
             +K1 +A2 +E2 +R2 +H2 +C2 +P5  +k1 +a2 +e2 +r2 +h2 +c2 +p5"
        );
        assert_eq!(pieces(PieceCounts::NONE, BoardSize::Single), "-");
    }
}
