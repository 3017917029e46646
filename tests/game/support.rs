//! Games to test with.

use std::collections::BTreeMap;

use banqi::game::{
    Command, DealSource, Entropy, Game, GameKey, History, Limits, Millis, NewGame, NewSeat,
    Refusal, Seating, ServerSeed, Span, Spectators, TimeControl, decide,
};
use banqi::rules::{Action, Preset, Seat};

/// When the tests' games are created: 2026-01-01T00:00:00Z.
pub(crate) const START: Millis = Millis(1_767_225_600_000);

pub(crate) fn seat(number: u8) -> Seat {
    Seat::new(number).expect("a seat's number")
}

pub(crate) fn entropy(bytes: &[u8]) -> Entropy {
    Entropy::new(bytes).expect("1 to 64 bytes")
}

/// A new game of a preset with every seat assigned to a player without an id.
pub(crate) fn new_game(preset: Preset) -> NewGame {
    let rules = preset.rules();
    NewGame {
        id: "game-1".parse().expect("an id"),
        seats: vec![NewSeat::Assigned(None); rules.seats().into()],
        rules,
        seating: Seating::AsGiven,
        deal: DealSource::Derived(ServerSeed::new([7; 32])),
        key: GameKey::new([9; 32]),
        origin: History([1, 2, 3, 4, 5, 6, 7, 8]),
        entropy_required: false,
        spectators: Spectators::Open,
        time_control: TimeControl::default(),
        labels: BTreeMap::new(),
        request: None,
    }
}

/// Creates it, which must succeed.
pub(crate) fn create(new: NewGame) -> Game {
    Game::create(new, START).expect("a game that makes sense")
}

/// Decides on a command a second after the last one, and makes the change.
pub(crate) fn run(game: &Game, command: Command) -> Result<Game, Refusal> {
    run_at(game, command, game.updated_at() + Span(1000))
}

/// Decides on a command, and makes the change.
pub(crate) fn run_at(game: &Game, command: Command, now: Millis) -> Result<Game, Refusal> {
    let change = decide(game, &command, now, &Limits::default())?;
    Ok(game.after(&change, None).expect("what is decided can be done"))
}

/// Plays actions, each by the seat to move.
pub(crate) fn play(game: &Game, actions: &[Action]) -> Game {
    actions.iter().fold(game.clone(), |game, &action| {
        let seat = game.position().to_move();
        run(&game, Command::Play { seat, action }).expect("a legal action")
    })
}

/// Everything about a game that anyone can ask for and that replaying must bring back.
pub(crate) fn summary(game: &Game) -> String {
    let seats: Vec<_> = game
        .seats()
        .map(|seat| {
            (
                game.has_joined(seat),
                game.player(seat).cloned(),
                game.entropy(seat).cloned(),
                game.token(seat).map(|token| token.expose()),
            )
        })
        .collect();
    format!(
        "{:?} {:?} {} {:?} {:?} {:?} {seats:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        game.version(),
        game.state(),
        game.position(),
        game.outcome(),
        game.referee().departures(),
        &game.referee().legal_actions()[..],
        game.created_at(),
        game.started_at(),
        game.ended_at(),
        game.revealed_deal().map(|deal| deal.to_string()),
        game.entries().collect::<Vec<_>>(),
        game.last_action(),
        game.seats().map(|seat| game.clock(seat)).collect::<Vec<_>>(),
        game.deadline(),
        game.draw_offer(),
        game.takeback_request(),
        game.rematch(),
    )
}
