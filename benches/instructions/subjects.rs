//! What is counted: the rules' core, and what a call of `PlayAction` or `GetGame` makes a replica do
//! besides talking to its caller and to the store.

use std::hint::black_box;

use banqi::api::convert::encoded::{EncodedGame, UnchangingFields};
use banqi::game::{Command, Event, Game, Limits, decide};
use banqi::rules::{Action, ActionList, Deal, Referee, Seat};
use banqi::store::codec;

use crate::turn_200::{NOW, game, request};

/// One thing that is counted.
pub(crate) struct Subject {
    /// Its name in the limits.
    pub(crate) name: &'static str,
    /// Prepares it; what is answered does it once a call.
    pub(crate) prepare: fn() -> Box<dyn FnMut()>,
}

/// All of them.
pub(crate) const SUBJECTS: [Subject; 9] = [
    Subject { name: "rules: list legal actions", prepare: list_legal_actions },
    Subject { name: "rules: play an action", prepare: play_an_action },
    Subject { name: "rules: replay 200 turns", prepare: replay_turns },
    Subject { name: "call: authenticate a seat", prepare: authenticate },
    Subject { name: "call: decide and make a change", prepare: decide_and_change },
    Subject { name: "call: write a record", prepare: write_a_record },
    Subject { name: "call: read a record and catch up", prepare: catch_up },
    Subject { name: "call: encode a state", prepare: encode_a_state },
    Subject { name: "call: answer an encoded state", prepare: answer },
];

fn list_legal_actions() -> Box<dyn FnMut()> {
    let (game, _) = game();
    let mut list = ActionList::new();
    Box::new(move || {
        black_box(game.referee()).legal_actions_into(&mut list);
        black_box(&list[..]);
    })
}

fn play_an_action() -> Box<dyn FnMut()> {
    let (referee, deal) = (game().0.referee().clone(), deal());
    let action = next_action();
    Box::new(move || {
        let mut referee = black_box(&referee).clone();
        let played = referee.play(action, |square| deal.at(square));
        black_box(played.is_ok());
    })
}

fn replay_turns() -> Box<dyn FnMut()> {
    let (game, _) = game();
    let deal = deal();
    let start = Referee::new(game.rules());
    let played = |(entry, _)| match entry {
        banqi::game::Entry { event: Event::Played(action), .. } => Some(action),
        _ => None,
    };
    let actions: Vec<Action> = game.entries().filter_map(played).collect();
    Box::new(move || {
        let mut referee = start.clone();
        for &action in black_box(&actions) {
            let played = referee.play(action, |square| deal.at(square));
            played.expect("it was played before");
        }
        black_box(referee.outcome().is_some());
    })
}

fn authenticate() -> Box<dyn FnMut()> {
    let (game, _) = game();
    let text = game.token(Seat::FIRST).expect("a token").expose();
    Box::new(move || {
        let token = black_box(&text).parse().expect("a token");
        black_box(game.authenticate(&token));
    })
}

fn decide_and_change() -> Box<dyn FnMut()> {
    let (game, _) = game();
    let command = Command::Play { seat: game.position().to_move(), action: next_action() };
    let request = request("id");
    Box::new(move || {
        let change = decide(black_box(&game), &command, NOW, &Limits::default());
        let after = game.after(&change.expect("it is legal"), Some(request));
        black_box(after.expect("it fits").version());
    })
}

fn write_a_record() -> Box<dyn FnMut()> {
    let (game, _) = game();
    Box::new(move || {
        black_box(codec::write(black_box(&game).stored()).payload.len());
    })
}

fn catch_up() -> Box<dyn FnMut()> {
    let (game, change) = game();
    let record = codec::write(game.after(&change, None).expect("it fits").stored());
    Box::new(move || {
        let stored = codec::read_on(game.stored(), black_box(&record)).expect("readable");
        black_box(game.catch_up(stored).expect("it goes on").version());
    })
}

fn encode_a_state() -> Box<dyn FnMut()> {
    let (game, _) = game();
    let unchanging = UnchangingFields::of(&game);
    Box::new(move || {
        black_box(EncodedGame::of(black_box(&game), &unchanging).without_time().len());
    })
}

fn answer() -> Box<dyn FnMut()> {
    let (game, _) = game();
    let encoded = EncodedGame::of(&game, &UnchangingFields::of(&game));
    Box::new(move || {
        black_box(black_box(&encoded).at(NOW).len());
    })
}

/// The deal of the game.
fn deal() -> Deal {
    let (game, _) = game();
    let (_, deal) = Game::disclose(&game);
    deal
}

/// The action that comes next in the game.
fn next_action() -> Action {
    let (_, change) = game();
    match *change.event() {
        Event::Played(action) => action,
        ref event => unreachable!("{event:?} is no action"),
    }
}
