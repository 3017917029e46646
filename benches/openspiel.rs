//! This engine's side of `benches/openspiel.py`: plays random games, times playing them again with
//! every legal action listed before each action and playing new ones, and prints games and times as JSON.

use std::hint::black_box;
use std::time::Instant;

use banqi::rules::{ActionList, Piece, Record, Referee, RuleSet, full_set};
use rand::rngs::{StdRng, Xoshiro256PlusPlus};
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use serde_json::json;

const GAMES: u64 = 100;
const ROUNDS: usize = 200;

/// How many new games are played in a round, and how many such rounds are timed.
const NEW_GAMES: u64 = 1_000;
const NEW_ROUNDS: usize = 15;

struct Game {
    deal: Vec<Piece>,
    records: Vec<Record>,
    legal_counts: Vec<usize>,
}

/// A random game to its end.
fn play(seed: u64) -> Game {
    let mut random = StdRng::seed_from_u64(seed);
    let rules = RuleSet::TAIWANESE;
    let mut deal = full_set(rules.board_size());
    deal.shuffle(&mut random);
    let mut referee = Referee::new(&rules);
    let (mut records, mut legal_counts) = (Vec::new(), Vec::new());
    while referee.outcome().is_none() {
        let actions = referee.legal_actions();
        // Flips one time in four where there are others, so that games are not all alike.
        let wanted: Vec<_> =
            actions.iter().filter(|action| referee.turns_up(**action).is_none()).collect();
        let action = match wanted.choose(&mut random) {
            Some(action) if random.random_range(0..4) > 0 => **action,
            _ => *actions.choose(&mut random).expect("a game that goes on has a legal action"),
        };
        let played = referee.play(action, |square| Some(deal[square.index() as usize]));
        records.push(played.expect("a listed action is legal").record);
        legal_counts.push(actions.len());
    }
    Game { deal, records, legal_counts }
}

/// Plays all games again, listing the legal actions before each action if asked.
fn replay(games: &[Game], listing: bool) {
    let mut list = ActionList::new();
    for game in games {
        let mut referee = Referee::new(&RuleSet::TAIWANESE);
        for record in &game.records {
            if listing {
                referee.legal_actions_into(&mut list);
                black_box(&list);
            }
            let played =
                referee.play(record.action(), |square| Some(game.deal[square.index() as usize]));
            black_box(played).expect("it was played before");
        }
    }
}

/// Plays games from a new deal each to their end, every legal action equally likely; answers how many
/// turns they took. The same games every time.
fn play_new() -> usize {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut list = ActionList::new();
    let rules = RuleSet::TAIWANESE;
    let mut deal = full_set(rules.board_size());
    let mut turns = 0;
    for _ in 0..NEW_GAMES {
        deal.shuffle(&mut random);
        let mut referee = Referee::new(&rules);
        while referee.outcome().is_none() {
            referee.legal_actions_into(&mut list);
            let action = *list.choose(&mut random).expect("a game that goes on has a legal action");
            let played = referee.play(action, |square| Some(deal[square.index() as usize]));
            black_box(played).expect("a listed action is legal");
            turns += 1;
        }
    }
    turns
}

/// The fastest of many rounds, in nanoseconds: what the machine does besides only adds to it.
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
fn fastest(rounds: usize, run: impl Fn()) -> u64 {
    let rounds = (0..rounds).map(|_| {
        let began = Instant::now();
        run();
        began.elapsed().as_nanos()
    });
    rounds.min().and_then(|least| u64::try_from(least).ok()).expect("less than centuries")
}

fn main() {
    let games: Vec<Game> = (0..GAMES).map(play).collect();
    let listing = fastest(ROUNDS, || replay(black_box(&games), true));
    let playing = fastest(ROUNDS, || replay(black_box(&games), false));
    let new = fastest(NEW_ROUNDS, || {
        black_box(play_new());
    });
    let games: Vec<_> = games
        .iter()
        .map(|game| {
            let records: Vec<String> = game.records.iter().map(Record::to_string).collect();
            json!({ "records": records, "legal_counts": game.legal_counts })
        })
        .collect();
    let nanoseconds = json!({ "listing": listing, "playing": playing });
    let new = json!({ "games": NEW_GAMES, "turns": play_new(), "nanoseconds": new });
    println!("{}", json!({ "games": games, "nanoseconds": nanoseconds, "new": new }));
}
