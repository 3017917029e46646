//! A random game at its turn 200, and the action that comes next: the same in every run.

use banqi::game::{
    Change, Command, DealSource, Game, GameKey, History, Limits, Millis, NewGame, NewSeat, Request,
    Seating, ServerSeed, Spectators, TimeControl, decide,
};
use banqi::rules::Preset;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// When the game is created, and its last action is decided again.
pub(crate) const NOW: Millis = Millis(1_767_225_600_000);

/// The game before its last action, and that action.
pub(crate) fn game() -> (Game, Change) {
    (1..).find_map(play).expect("some game lasts 200 turns")
}

fn play(seed: u64) -> Option<(Game, Change)> {
    let mut random = StdRng::seed_from_u64(seed);
    let new = NewGame {
        id: "11111111-2222-4333-8444-555555555555".parse().ok()?,
        rules: Preset::Taiwanese.rules(),
        seats: vec![NewSeat::Assigned("66666666-7777-4888-9999-aaaaaaaaaaaa".parse().ok()); 2],
        seating: Seating::AsGiven,
        deal: DealSource::Derived(ServerSeed::new(random.random())),
        key: GameKey::new(random.random()),
        origin: History(random.random()),
        entropy_required: false,
        spectators: Spectators::Open,
        time_control: TimeControl::default(),
        labels: Default::default(),
        request: Some(request("create")),
    };
    let mut game = Game::create(new, NOW).ok()?;
    let mut now = NOW;
    loop {
        let actions = game.referee().legal_actions();
        let action = *actions.get(random.random_range(0..actions.len().max(1)))?;
        let command = Command::Play { seat: game.position().to_move(), action };
        now = Millis(now.0 + random.random_range(500..30_000));
        let change = decide(&game, &command, now, &Limits::default()).ok()?;
        if game.position().turn_number() == 200 {
            return Some((game, change));
        }
        game = game.after(&change, Some(request(&now.0.to_string()))).ok()?;
    }
}

/// A request of the platform.
pub(crate) fn request(id: &str) -> Request {
    Request::new(b"caller", None, id, b"body")
}
