//! Seats that leave, on their turn and off it, and games that end by agreement or are aborted.

use banqi::rules::{EndReason, GameRecord, LeaveReason, Preset, Scribe, Seat, full_set};
use rand::rngs::StdRng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};

/// Plays random actions, between which seats leave at random.
fn random_game(preset: Preset, seed: u64) -> Scribe {
    let mut random = StdRng::seed_from_u64(seed);
    let rules = preset.rules();
    let mut deal = full_set(rules.board_size());
    deal.shuffle(&mut random);
    let mut scribe = Scribe::new(&rules, None);
    let last = random.random_range(1..400);
    for _ in 0..last {
        if random.random_range(0..60) == 0 {
            let seat = Seat::new(random.random_range(1..=rules.seats())).expect("a seat");
            let reason = *LeaveReason::ALL.choose(&mut random).expect("a reason");
            // A seat that is out already cannot leave once more.
            let _ = scribe.leave(seat, reason);
        }
        let actions = scribe.referee().legal_actions();
        let Some(&action) = actions.choose(&mut random) else { break };
        scribe.play(action, |square| Some(deal[usize::from(square.index())])).expect("legal");
    }
    match random.random_range(0..4) {
        0 => scribe.agree(),
        1 => scribe.abort(),
        _ => {}
    }
    scribe
}

#[test]
fn random_games_with_seats_that_leave_are_read_and_replayed_as_they_were() {
    let (mut left_of_four, mut unfinished) = (0, 0);
    for preset in Preset::ALL {
        for seed in 0..60 {
            let scribe = random_game(preset, seed);
            let position = scribe.referee().position().clone();
            let record = scribe.into_record();
            let text = record.to_string();
            let read: GameRecord =
                text.parse().unwrap_or_else(|fault| panic!("{preset}, seed {seed}: {fault}"));
            assert_eq!(read, record, "{preset}, seed {seed}");
            assert_eq!(read.to_string(), text, "{preset}, seed {seed}");
            let replayed =
                read.replay().unwrap_or_else(|fault| panic!("{preset}, seed {seed}: {fault}"));
            assert_eq!(*replayed.position(), position, "{preset}, seed {seed}");
            left_of_four += usize::from(text.contains('!') && preset == Preset::DoubleFour);
            unfinished += usize::from(record.outcome().is_none());
        }
    }
    assert!(left_of_four > 20 && unfinished > 20, "{left_of_four}, {unfinished}");
}

#[test]
fn of_two_seats_one_that_resigns_stands_in_the_records() {
    let mut scribe = Scribe::new(&Preset::Taiwanese.rules(), None);
    scribe.play("b3".parse().expect("a flip"), |_| "k".parse().ok()).expect("legal");
    let off_turn = Seat::FIRST;
    scribe.leave(off_turn, LeaveReason::Resignation).expect("a seat in the game");
    assert!(scribe.leave(off_turn, LeaveReason::Resignation).is_err());
    assert_eq!(
        scribe.into_record().to_string(),
        "[RuleSet \"TAIWANESE\"]\n[Result \"2,1\"]\n[Reason \"RESIGNATION\"]\n\n\
         1. b3(k) 2. 1!RESIGNATION\n"
    );
}

#[test]
fn of_four_seats_one_may_leave_off_its_turn_and_the_turn_goes_on() {
    let mut scribe = Scribe::new(&Preset::DoubleFour.rules(), None);
    scribe.leave(Seat::new(3).expect("seat 3"), LeaveReason::Timeout).expect("in the game");
    scribe.play("b3".parse().expect("a flip"), |_| "k".parse().ok()).expect("legal");
    scribe.leave(Seat::new(2).expect("seat 2"), LeaveReason::Resignation).expect("in the game");
    scribe.play("b4".parse().expect("a flip"), |_| "+P".parse().ok()).expect("legal");
    let text = scribe.into_record().to_string();
    assert_eq!(
        text,
        "[RuleSet \"DOUBLE_FOUR\"]\n\n1. 3!TIMEOUT b3(k) 2. 2!RESIGNATION 3. b4(+P)\n"
    );
    let replayed = text.parse::<GameRecord>().expect("a record").replay().expect("a game");
    assert_eq!(replayed.position().to_move(), Seat::FIRST);
}

#[test]
fn an_aborted_game_has_no_places() {
    let mut scribe = Scribe::new(&Preset::Taiwanese.rules(), None);
    scribe.abort();
    let text = scribe.into_record().to_string();
    assert_eq!(text, "[RuleSet \"TAIWANESE\"]\n[Result \"-\"]\n[Reason \"ABORTED\"]\n\n");
    let replayed = text.parse::<GameRecord>().expect("a record").replay().expect("a game");
    assert_eq!(replayed.outcome().map(|outcome| outcome.reason), Some(EndReason::Aborted));
}

#[test]
fn an_adjudicated_game_has_the_places_that_were_given() {
    let mut scribe = Scribe::new(&Preset::Taiwanese.rules(), None);
    scribe.play("b3".parse().expect("a flip"), |_| "k".parse().ok()).expect("legal");
    assert!(scribe.adjudicate(&[2, 2]).is_err());
    scribe.adjudicate(&[2, 1]).expect("a ranking");
    let record = scribe.into_record();
    let text = record.to_string();
    let headers = "[RuleSet \"TAIWANESE\"]\n[Result \"2,1\"]\n[Reason \"ADJUDICATED\"]\n\n";
    assert_eq!(text, format!("{headers}1. b3(k)\n"));
    let replayed = text.parse::<GameRecord>().expect("a record").replay().expect("a game");
    assert_eq!(replayed.outcome(), record.outcome());
    let cdc = record.to_cdc().expect("it has that form");
    let back = GameRecord::from_cdc(&cdc, &Preset::Taiwanese.rules()).expect("a record");
    assert_eq!(back.outcome(), record.outcome());
    let impossible = text.replace("2,1", "2,2").parse::<GameRecord>().expect("a record");
    assert!(impossible.replay().is_err());
}
