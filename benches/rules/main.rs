//! Benchmarks of the rules: `cargo bench --bench rules`. Figures and how they were taken stand in
//! `docs/performance.md`.

use banqi::rules::{
    Action, ActionList, BoardSize, Deal, Preset, Record, Referee, RuleSet, full_set,
};
mod taiwanese_only;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

use taiwanese_only::TaiwaneseOnly;

fn main() {
    divan::main();
}

/// A random game: its deal and the actions, played until `goes_on` says no or it ends.
struct Game {
    deal: Deal,
    actions: Vec<Action>,
    end: Referee,
}

fn play(seed: u64, rules: &RuleSet, goes_on: impl Fn(&Referee) -> bool) -> Game {
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut pieces = full_set(rules.board_size());
    pieces.shuffle(rng);
    let deal = Deal::from_pieces(rules.board_size(), &pieces).expect("a full deal");
    let (mut end, mut actions) = (Referee::new(rules), Vec::new());
    while end.outcome().is_none() && goes_on(&end) {
        let action = *end.legal_actions().choose(rng).expect("a legal action");
        end.play(action, |square| deal.at(square)).expect("a legal action");
        actions.push(action);
    }
    Game { deal, actions, end }
}

/// Positions of random games in their middle: a third to four fifths of the pieces are turned up
/// or gone.
fn middle_games(preset: Preset) -> Vec<Referee> {
    let rules = preset.rules();
    let squares = rules.board_size().squares() as u32;
    let mut positions = Vec::new();
    let mut seed = 0;
    while positions.len() < 512 {
        let share = Xoshiro256PlusPlus::seed_from_u64(!seed).random_range(0.2..0.67);
        let hidden = (f64::from(squares) * share) as u32;
        let game = play(seed, &rules, |game| game.position().face_down().total() > hidden);
        if game.end.outcome().is_none() {
            positions.push(game.end);
        }
        seed += 1;
    }
    positions
}

/// Lists every legal action into a buffer, which is consumed; items are such lists.
#[divan::bench(args = [Preset::Taiwanese, Preset::TaiwaneseDarkChain, Preset::MainlandExchange, Preset::DoubleFour])]
fn legal_actions(bencher: Bencher<'_, '_>, preset: Preset) {
    let positions = middle_games(preset);
    let mut list = ActionList::new();
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for position in &positions {
            black_box(position).legal_actions_into(&mut list);
            black_box(&list[..]);
        }
    });
}

/// The same lists for TAIWANESE from a generator that knows no other rules: what the rules that a
/// game doesn't use cost it is the difference.
#[divan::bench]
fn legal_actions_taiwanese_only(bencher: Bencher<'_, '_>) {
    let games = middle_games(Preset::Taiwanese);
    let positions: Vec<TaiwaneseOnly> = games.iter().map(TaiwaneseOnly::of).collect();
    let mut list = [(0, 0); 256];
    for (game, position) in games.iter().zip(&positions) {
        assert_eq!(position.list_into(&mut list), game.legal_actions().len());
    }
    bencher.counter(ItemsCount::new(positions.len())).bench_local(|| {
        for position in &positions {
            let count = black_box(position).list_into(&mut list);
            black_box(&list[..count]);
        }
    });
}

/// Replays a game of 200 turns from its deal, judging the end after every turn.
#[divan::bench]
fn replay_200_turns(bencher: Bencher<'_, '_>) {
    let rules = Preset::Taiwanese.rules();
    let game = (0..)
        .map(|seed| play(seed, &rules, |game| game.position().turn_number() <= 200))
        .find(|game| game.end.outcome().is_none())
        .expect("some game has 200 turns");
    assert_eq!(game.actions.len(), 200);
    bencher.bench_local(|| {
        let mut referee = Referee::new(black_box(&rules));
        for &action in black_box(&game.actions) {
            let played = referee.play(action, |square| game.deal.at(square));
            black_box(played.expect("a legal action"));
        }
        referee
    });
}

/// All sequences of four actions from the start of one deal; items are sequences.
#[divan::bench]
fn perft_4(bencher: Bencher<'_, '_>) {
    let start = Referee::new(&Preset::Taiwanese.rules());
    let pieces = play(1, start.rules(), |_| false).deal;
    let sequences = perft(&start, &pieces, 4);
    bencher
        .counter(ItemsCount::new(sequences))
        .bench_local(|| perft(black_box(&start), &pieces, 4));
}

fn perft(referee: &Referee, deal: &Deal, depth: u32) -> u64 {
    let actions = referee.legal_actions();
    if depth <= 1 {
        return actions.len() as u64;
    }
    let after = |&action: &Action| {
        let mut next = referee.clone();
        next.play(action, |square| deal.at(square)).expect("a legal action");
        perft(&next, deal, depth - 1)
    };
    actions.iter().map(after).sum()
}

/// Reads and writes the text of a record, as every API answer does.
#[divan::bench]
fn record_text(bencher: Bencher<'_, '_>) {
    let record: Record = "b3xb4(p)".parse().expect("a record");
    bencher.bench_local(|| black_box(&record).to_string().parse::<Record>());
}

/// Writes the text of a middle-game position.
#[divan::bench]
fn position_text(bencher: Bencher<'_, '_>) {
    let game = middle_games(Preset::Taiwanese).swap_remove(0);
    assert_eq!(game.position().board_size(), BoardSize::Single);
    bencher.bench_local(|| black_box(game.position()).to_string());
}
