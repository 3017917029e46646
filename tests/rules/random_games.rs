//! Random games, and what must hold in every one of them.
//!
//! `BANQI_RANDOM_TURNS=1000000` plays longer than the usual 50,000 turns of random rule sets;
//! `BANQI_RANDOM_SEED=7` plays the one game of that seed.

use std::collections::HashSet;
use std::env;
use std::sync::Mutex;
use std::thread;

use banqi::rules::{
    Action, BoardRule, BoardSize, CannonRule, ChariotRule, Colour, ColourSet, Deal, EndReason,
    EqualsRule, FaceDownRule, HorseRule, Kind, Layout, Preset, Referee, RepetitionRule,
    RuleChanges, RuleSet, Seat, full_set,
};
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};

use crate::game_checks::{
    check_departure, check_every_action, check_outcome, check_refusals, check_replay, check_text,
    check_turn, is_capture, most_turns, perform,
};
use crate::shadow_board::ShadowBoard;

/// Games are spread over this many threads, whatever the machine has, so that the same games are
/// played everywhere.
const LANES: u64 = 8;

#[test]
fn ten_thousand_games_of_the_tournament_rules() {
    each_lane(|lane| {
        for seed in (lane..10_000).step_by(LANES as usize) {
            let preset = if seed % 2 == 0 { Preset::Taiwanese } else { Preset::Tcga };
            play(seed, &preset.rules(), 500);
        }
    });
}

#[test]
fn every_preset() {
    each_lane(|lane| {
        for seed in (lane..200).step_by(LANES as usize) {
            play(seed, &Preset::ALL[seed as usize % Preset::ALL.len()].rules(), 60);
        }
    });
}

#[test]
fn random_rule_sets() {
    if let Ok(seed) = env::var("BANQI_RANDOM_SEED") {
        let seed = seed.parse().expect("BANQI_RANDOM_SEED is a number");
        play(seed, &random_rules(seed), 1);
        return;
    }
    let turns: u64 = match env::var("BANQI_RANDOM_TURNS") {
        Ok(turns) => turns.parse().expect("BANQI_RANDOM_TURNS is a number"),
        Err(_) => 50_000,
    };
    let reached = Reached::default();
    each_lane(|lane| {
        let (mut seed, mut played) = (lane, 0);
        while played < turns.div_ceil(LANES) {
            let game = play(seed, &random_rules(seed), 60);
            played += u64::from(game.position().turn_number());
            reached.by(&game);
            seed += LANES;
        }
    });
    // The endgames below come to these; whole games do seldom.
    let rare = [EndReason::NoPiecesLeft, EndReason::NoLegalTurn, EndReason::PerpetualAttack];
    reached.check(EndReason::ALL[..7].iter().filter(|reason| !rare.contains(reason)));
}

/// A few pieces, most face up: repetition, chases, seats without a turn, short ways to each end.
#[test]
fn random_endgames() {
    let reached = Reached::default();
    each_lane(|lane| {
        for seed in (lane..4_000).step_by(LANES as usize) {
            reached.by(&play_endgame(seed));
        }
    });
    // Those that are decided on the board.
    reached.check(&EndReason::ALL[..7]);
}

fn play_endgame(seed: u64) -> Referee {
    let duel = seed % 4 == 1;
    let rules = match duel {
        false => random_rules(seed),
        // Two pieces and nothing forbidden: sooner or later one attacks throughout.
        true => with(
            &random_rules(seed),
            &RuleChanges {
                repetition: Some(RepetitionRule::AttackerLoses),
                repetition_count: Some(2),
                chase_limit: Some(0),
                quiet_limit: Some(300),
                ..RuleChanges::default()
            },
        ),
    };
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut pieces = full_set(rules.board_size());
    pieces.shuffle(rng);
    let mut count = if duel { 2 } else { rng.random_range(2..=8) };
    let siege = seed.is_multiple_of(4);
    if siege {
        // One piece in a corner among many enemies: it may come to have no turn.
        let lone = pieces.iter().position(|piece| piece.colour == Colour::Red).expect("a red one");
        pieces.swap(0, lone);
        let mut kept = 0;
        pieces.retain(|piece| {
            kept += usize::from(piece.colour == Colour::Red);
            piece.colour != Colour::Red || kept == 1
        });
        count += 6;
    }
    let mut cells: Vec<String> = vec![".".to_owned(); rules.board_size().squares()];
    for (cell, piece) in cells.iter_mut().zip(&pieces[..count]) {
        let face_down = !siege && !duel && rng.random_bool(0.1);
        *cell = if face_down { format!("?{piece}") } else { piece.to_string() };
    }
    // Pieces in a few ranks meet sooner than pieces anywhere.
    let crowded = if siege { 16 } else { rng.random_range(count..=cells.len()) };
    cells[usize::from(siege)..crowded].shuffle(rng);
    let layout = Layout::parse(rules.board_size(), &cells.join(" ")).expect("a board");
    let colours: Vec<ColourSet> = match (rules.board_size(), rules.seats()) {
        (BoardSize::Double, 2) => [Colour::Red, Colour::Black]
            .into_iter()
            .map(|colour| ColourSet::of(colour).with(colour.partner()))
            .collect(),
        (_, seats) => {
            Colour::ALL[..usize::from(seats)].iter().copied().map(ColourSet::of).collect()
        }
    };
    let position = layout
        .setup(Seat::FIRST, &colours, 0)
        .into_position(&rules)
        .expect("pieces of one set and all colours held");
    let start = Referee::from_position(&rules, position);
    let told = Told { seed, rules: &rules };
    let referee = play_from(rng, start, layout.deal(), 0.3, 20);
    drop(told);
    referee
}

/// The ways of ending and of going out that some games came to.
#[derive(Default)]
struct Reached(Mutex<HashSet<EndReason>>);

impl Reached {
    fn by(&self, game: &Referee) {
        let reason = game.outcome().expect("the game is over").reason;
        let departed = game.departures().iter().map(|departure| departure.reason);
        self.0.lock().expect("no lane has failed").extend(departed.chain([reason]));
    }

    fn check<'a>(self, reasons: impl IntoIterator<Item = &'a EndReason>) {
        let reached = self.0.into_inner().expect("no lane has failed");
        for reason in reasons {
            assert!(reached.contains(reason), "no game came to {reason}: {reached:?}");
        }
    }
}

/// Games of four seats in which seats leave at random, on their turn and off it, until one wins.
#[test]
fn seats_that_leave_at_random() {
    each_lane(|lane| {
        for seed in (lane..400).step_by(LANES as usize) {
            play_with_leavers(seed);
        }
    });
}

fn play_with_leavers(seed: u64) {
    let four_seats =
        RuleChanges { board: Some(BoardRule::Double), seats: Some(4), ..RuleChanges::default() };
    let rules = with(&random_rules(seed), &four_seats);
    let told = Told { seed, rules: &rules };
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let deal = random_deal(rng, &rules);
    let mut referee = Referee::new(&rules);
    while referee.outcome().is_none() {
        let before = referee.position().clone();
        if rng.random_ratio(1, 40) {
            let staying: Vec<Seat> = Seat::first(4).filter(|seat| !before.is_out(*seat)).collect();
            let leaver = *staying.choose(rng).expect("somebody is in");
            referee.leave(leaver, EndReason::Resignation);
            check_departure(&before, leaver, &referee);
        } else {
            let action = *referee.legal_actions().choose(rng).expect("a legal action");
            perform(&mut referee, &deal, action);
        }
        if referee.outcome().is_none() {
            assert!(!referee.position().is_out(referee.position().to_move()));
            check_text(&referee);
        }
    }
    check_outcome(&referee);
    drop(told);
}

/// Runs `games` once a lane; a panic there is a panic here.
fn each_lane(games: impl Fn(u64) + Sync) {
    thread::scope(|scope| {
        for lane in 0..LANES {
            let games = &games;
            scope.spawn(move || games(lane));
        }
    });
}

fn random_rules(seed: u64) -> RuleSet {
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed ^ 0x5eed_0f52_u64 << 20);
    let double = rng.random_bool(0.3);
    let mut ladder = Kind::ALL;
    ladder.shuffle(rng);
    let quiet_limits = [1, 5, 20, 40, 60, 180, rng.random_range(1..=300)];
    let pick = |rng: &mut Xoshiro256PlusPlus, values: &[u32]| values.choose(rng).copied();
    let changes = RuleChanges {
        ladder: rng.random_bool(0.5).then(|| ladder.map(Kind::letter).iter().collect()),
        cannon: CannonRule::ALL.choose(rng).copied(),
        equals: EqualsRule::ALL.choose(rng).copied(),
        face_down: FaceDownRule::ALL.choose(rng).copied(),
        chain: Some(rng.random()),
        chariot: ChariotRule::ALL.choose(rng).copied(),
        horse: HorseRule::ALL.choose(rng).copied(),
        quiet_limit: pick(rng, &quiet_limits),
        repetition: RepetitionRule::ALL.choose(rng).copied(),
        repetition_count: pick(rng, &[2, 3, 3, 4, 10]),
        chase_limit: pick(rng, &[0, 0, 1, 2, 6, 100]),
        board: Some(if double { BoardRule::Double } else { BoardRule::Single }),
        seats: Some(if double && rng.random() { 4 } else { 2 }),
    };
    with(&RuleSet::TAIWANESE, &changes)
}

fn with(rules: &RuleSet, changes: &RuleChanges) -> RuleSet {
    rules.with(changes).expect("each field is in its range")
}

/// Plays one game from its deal to its end, checking on the way.
fn play(seed: u64, rules: &RuleSet, rarity: u32) -> Referee {
    let told = Told { seed, rules };
    let rng = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let deal = random_deal(rng, rules);
    // Games in which pieces are taken when they can be reach other ends than aimless ones.
    let eagerness = [0.0, 0.3, 0.9][seed as usize % 3];
    let referee = play_from(rng, Referee::new(rules), &deal, eagerness, rarity);
    drop(told);
    referee
}

/// Plays to the end, checking on the way; the costly checks in one ply of `rarity`. Takes a piece,
/// where one can be taken, with the probability `eagerness`.
fn play_from(
    rng: &mut Xoshiro256PlusPlus,
    start: Referee,
    deal: &Deal,
    eagerness: f64,
    rarity: u32,
) -> Referee {
    let mut referee = start.clone();
    let mut shadow = ShadowBoard::new(referee.position(), deal);
    let mut records = Vec::new();
    while referee.outcome().is_none() {
        let actions = referee.legal_actions();
        assert!(!actions.is_empty(), "a game that goes on has a legal action");
        if rng.random_ratio(1, rarity) {
            check_every_action(&referee, deal);
            check_text(&referee);
            shadow.check_counts(referee.position());
        }
        let captures: Vec<Action> = match rng.random_bool(eagerness) {
            true => actions.iter().copied().filter(|a| is_capture(&referee, *a)).collect(),
            false => Vec::new(),
        };
        let choices = if captures.is_empty() { &actions[..] } else { &captures[..] };
        let action = *choices.choose(rng).expect("not empty");
        let before = referee.position().clone();
        let played = perform(&mut referee, deal, action);
        assert_eq!(played.seat, before.to_move());
        shadow.follow(&played);
        shadow.check(referee.position());
        check_turn(&before, played.record, &referee);
        records.push(played.record);
        let turns = referee.position().turn_number();
        assert!(turns <= most_turns(referee.rules()), "a game must end");
    }
    check_outcome(&referee);
    assert!(referee.legal_actions().is_empty());
    check_refusals(&referee, deal, &HashSet::new());
    check_replay(&referee, start, &records);
    referee
}

fn random_deal(rng: &mut Xoshiro256PlusPlus, rules: &RuleSet) -> Deal {
    let mut pieces = full_set(rules.board_size());
    pieces.shuffle(rng);
    Deal::from_pieces(rules.board_size(), &pieces).expect("a full deal")
}

/// Tells which game it was when a check fails.
struct Told<'a> {
    seed: u64,
    rules: &'a RuleSet,
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("in the game of seed {} under {:?}", self.seed, self.rules);
        }
    }
}
