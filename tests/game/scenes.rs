//! Games on deals of the tests' own, and lines of play in them.

use banqi::game::{Clock, Command, DealSource, Game, NewGame, Refusal, Span, TimeControl};
use banqi::rules::{
    Action, BoardSize, Deal, Piece, Preset, RuleChanges, RuleSet, Square, full_set,
};

use super::support::{new_game, run_at, seat};

/// How much time passes before each action, unless a test says something else.
pub(crate) const SECOND: Span = Span(1000);

/// What lies on some squares; the rest of the set lies on the others in its own order.
pub(crate) fn deal(board: BoardSize, placed: &[(&str, &str)]) -> DealSource {
    let mut rest = full_set(board);
    let mut on = vec![None; board.squares()];
    for (square, piece) in placed {
        let square: Square = square.parse().expect("a square");
        let piece: Piece = piece.parse().expect("a piece");
        let index = rest.iter().position(|other| *other == piece).expect("a piece of the set");
        on[usize::from(square.index())] = Some(rest.remove(index));
    }
    let mut rest = rest.into_iter();
    let pieces: Vec<Piece> =
        on.into_iter().map(|piece| piece.or_else(|| rest.next()).expect("a full set")).collect();
    Deal::from_pieces(board, &pieces).expect("the set of the board").into()
}

/// A new game by these rules with this deal.
pub(crate) fn dealt(rules: RuleSet, placed: &[(&str, &str)]) -> NewGame {
    let preset = if rules.seats() == 4 { Preset::DoubleFour } else { Preset::Taiwanese };
    let deal = deal(rules.board_size(), placed);
    NewGame { rules, deal, ..new_game(preset) }
}

pub(crate) fn with_chains(preset: Preset) -> RuleSet {
    let chain = RuleChanges { chain: Some(true), ..RuleChanges::default() };
    preset.rules().with(&chain).expect("rules")
}

pub(crate) fn control(clock: Clock) -> TimeControl {
    TimeControl::new(clock, None).expect("a time control")
}

pub(crate) fn action(text: &str) -> Action {
    text.parse().expect("an action")
}

/// The seat to move acts so much later.
pub(crate) fn try_act(game: &Game, later: Span, text: &str) -> Result<Game, Refusal> {
    let command = Command::Play { seat: game.position().to_move(), action: action(text) };
    run_at(game, command, game.updated_at() + later)
}

/// The seat to move acts so much later, which must be legal.
pub(crate) fn act(game: &Game, later: Span, text: &str) -> Game {
    try_act(game, later, text).unwrap_or_else(|refusal| panic!("{text}: {refusal}"))
}

/// Each action a second after the one before.
pub(crate) fn line(game: &Game, texts: &[&str]) -> Game {
    texts.iter().fold(game.clone(), |game, text| act(&game, SECOND, text))
}

/// A command a second later, which must be allowed.
pub(crate) fn must(game: &Game, command: Command) -> Game {
    let told = format!("{command:?}");
    let after = super::support::run(game, command);
    after.unwrap_or_else(|refusal| panic!("{told}: {refusal}"))
}

pub(crate) fn offer_draw(number: u8) -> Command {
    Command::OfferDraw { seat: seat(number) }
}

pub(crate) fn request_takeback(number: u8) -> Command {
    Command::RequestTakeback { seat: seat(number) }
}

pub(crate) fn answer_takeback(number: u8, accept: bool) -> Command {
    Command::AnswerTakeback { seat: seat(number), accept }
}

pub(crate) fn resign(number: u8) -> Command {
    Command::Resign { seat: seat(number) }
}

/// Quiet turns after [`QUIET_OPENING`], seat 1's first.
pub(crate) const TO_AND_FRO: [&str; 2] = ["b1-a1", "g4-h4"];

/// Two seats, each of which comes to have a chariot that can move.
pub(crate) fn quiet_new() -> NewGame {
    let placed = [("a1", "R"), ("b1", "p"), ("h4", "r"), ("g4", "P")];
    dealt(Preset::Taiwanese.rules(), &placed)
}

pub(crate) const QUIET_OPENING: [&str; 6] = ["a1", "b1", "a1-b1", "h4", "g4", "h4-g4"];

/// Four seats, each of which takes something in its third turn at the latest.
pub(crate) fn four_new(rules: RuleSet) -> NewGame {
    let placed = [
        ("a1", "R"),
        ("b1", "p"),
        ("h8", "+R"),
        ("g8", "+p"),
        ("a8", "r"),
        ("b8", "P"),
        ("h1", "+r"),
        ("g1", "+P"),
        ("c1", "p"),
    ];
    dealt(rules, &placed)
}

pub(crate) const FOUR_OPENING: [&str; 12] =
    ["a1", "b1", "h8", "g8", "a1-b1", "a8", "h8-g8", "h1", "b8", "a8-b8", "g1", "h1-g1"];

/// By the rules with chains, seat 1 to move on turn 5: its chariot on a1 can take b1 and then c1.
pub(crate) fn chain_new() -> NewGame {
    dealt(with_chains(Preset::Taiwanese), &[("a1", "R"), ("b1", "p"), ("c1", "p")])
}

pub(crate) const CHAIN_OPENING: [&str; 4] = ["a1", "b1", "h4", "c1"];
