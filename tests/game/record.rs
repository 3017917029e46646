//! The stored record: small, strict, and the whole truth about a game.

use banqi::game::{
    Command, Contradiction, DealSource, Game, GameId, History, Limits, Millis, NewGame, NewSeat,
    Request, Revision, StoredGame, Version, decide, derive_deal,
};
use banqi::rules::{Action, BoardSize, EndReason, Preset, Square};
use banqi::store::Record;
use banqi::store::codec::{self, CodecError, RecordFormat};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::support::{START, create, new_game, play, run, seat, summary};

fn two_players() -> NewGame {
    let players = ["11111111-2222-4333-8444-555555555555", "66666666-7777-4888-9999-aaaaaaaaaaaa"];
    let seats = players.map(|id| NewSeat::Assigned(id.parse().ok())).to_vec();
    let request = Some(Request::new(b"platform", None, "create", b"body"));
    NewGame { seats, request, ..new_game(Preset::Taiwanese) }
}

fn size(game: &Game) -> usize {
    codec::write(game.stored()).stored_length()
}

/// A game of 200 turns or more as people play it: half a second to a minute a turn, most of them
/// some seconds; every action with a request id.
fn long_game(seed: u64) -> Option<Game> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut game = create(two_players());
    let mut now = START;
    while game.position().turn_number() <= 200 {
        let actions = game.referee().legal_actions();
        if actions.is_empty() {
            return None;
        }
        let action = actions[random.random_range(0..actions.len())];
        let seat = game.position().to_move();
        let thought = 500.0 * 2_f64.powf(7.0 * random.random::<f64>());
        now = Millis(now.0 + thought as u64);
        let command = Command::Play { seat, action };
        let change = decide(&game, &command, now, &Limits::default()).expect("legal");
        let id = now.0.to_string();
        let request = Request::new(&[seat.number()], Some(seat), &id, b"body");
        game = game.after(&change, Some(request)).expect("can be done");
    }
    Some(game)
}

#[test]
fn records_are_small() {
    let fresh = size(&create(two_players()));
    let (seed, long) = (1..).find_map(|seed| Some((seed, long_game(seed)?))).expect("found");
    let (log, long) = (long.stored().log.bytes().len(), size(&long));
    println!("fresh game: {fresh} bytes; seed {seed}: 200 turns: {long} bytes, {log} of log");
    assert!(fresh <= 440, "{fresh} bytes");
    assert!(long <= 1527, "{long} bytes");
}

#[test]
fn records_of_two_hundred_turns_are_small_in_every_one_of_many_games() {
    let sizes: Vec<usize> = (1..60).filter_map(long_game).map(|game| size(&game)).collect();
    let worst = sizes.iter().max().expect("some game lasts 200 turns");
    println!("{} games of 200 turns, seeds 1 to 59: at most {worst} bytes", sizes.len());
    assert!(*worst <= 1527, "{worst} bytes");
}

fn read(game: &Game, record: &Record) -> Result<StoredGame, CodecError> {
    codec::read(game.id(), record)
}

#[test]
fn every_preset_and_kind_of_game_comes_back() {
    let id: GameId = "game-1".parse().expect("an id");
    for preset in Preset::ALL {
        let mut new = new_game(preset);
        new.labels.extend([("event".into(), "final".into()), ("round".into(), "3".into())]);
        let board = new.rules.board_size();
        let deal = derive_deal(board, &id, &banqi::game::ServerSeed::new([4; 32]), []);
        let mut given = new.clone();
        given.deal = DealSource::from(deal);
        let mut open = new.clone();
        open.seats[0] = NewSeat::Open;
        open.seats[1] = NewSeat::Reserved("someone".parse().expect("a player id"));
        for new in [new, given, open] {
            let game = create(new);
            let record = codec::write(game.stored());
            let stored = read(&game, &record).expect("readable");
            assert_eq!(&stored, game.stored());
            assert_eq!(codec::write(&stored), record);
            let again = Game::replay(stored).expect("no contradiction");
            assert_eq!(summary(&again), summary(&game));
        }
    }
}

#[test]
fn a_newer_format_is_refused_plainly() {
    let game = create(new_game(Preset::Taiwanese));
    let record = codec::write(game.stored());
    let newer = Record { format: RecordFormat::NEWEST.number() + 1, ..record.clone() };
    let fault = read(&game, &newer).expect_err("newer");
    assert!(fault.is_newer());
    assert!(fault.to_string().contains("newer format 3"), "{fault}");
    let none = Record { format: 0, ..record.clone() };
    assert!(!read(&game, &none).expect_err("no format").is_newer());

    // A field that a later release added: number 500, a number.
    let payload = &record.payload;
    let with_field = [payload, &[0xa0, 0x1f, 1][..]].concat().into();
    let with_field = Record { payload: with_field, ..record.clone() };
    let fault = read(&game, &with_field).expect_err("would be lost in writing");
    assert!(matches!(fault, CodecError::NotUnderstood { .. }));

    // A kind of entry that a later release added.
    let log = game.stored().log.bytes();
    let start = payload.windows(log.len()).position(|window| window == log).expect("the log");
    let mut changed = payload.to_vec();
    changed[start - 1] += 2;
    changed.splice(start + log.len()..start + log.len(), [200, 0]);
    let fault = read(&game, &Record { payload: changed.into(), ..record }).expect_err("newer");
    assert!(fault.is_newer(), "{fault}");
}

#[test]
fn the_header_is_checked_against_the_log() {
    let game = play(&create(new_game(Preset::Taiwanese)), &[flip(0), flip(1)]);
    let record = codec::write(game.stored());
    assert_eq!(record.version, game.version());
    let later = Version { revision: Revision(4), ..record.version };
    let other = Version { history: History([0; 8]), ..record.version };
    for version in [later, other] {
        let fault = read(&game, &Record { version, ..record.clone() }).expect_err("mismatch");
        assert!(matches!(fault, CodecError::Header { .. }), "{fault}");
    }
    let payload = record.payload.slice(..record.payload.len() - 1);
    let cut = read(&game, &Record { payload, ..record });
    assert!(cut.is_err());
}

fn flip(index: u8) -> Action {
    Action::Flip(Square::new(index).expect("a square"))
}

#[test]
fn a_record_that_contradicts_itself_is_not_played() {
    let game = play(&create(new_game(Preset::Taiwanese)), &[flip(0), flip(1)]);
    let ended = run(&game, Command::Resign { seat: seat(1) }).expect("may resign");

    let mut stored = ended.stored().clone();
    stored.outcome = None;
    let fault = Game::replay(stored).expect_err("the result is missing");
    assert!(matches!(fault, Contradiction::Outcome { stored: None, .. }), "{fault}");

    let mut stored = ended.stored().clone();
    if let Some(outcome) = &mut stored.outcome {
        outcome.reason = EndReason::Timeout;
    }
    let fault = Game::replay(stored).expect_err("another result");
    assert!(matches!(fault, Contradiction::Outcome { .. }), "{fault}");

    let mut stored = game.stored().clone();
    stored.outcome = ended.outcome().cloned();
    let fault = Game::replay(stored).expect_err("a result before the end");
    assert!(matches!(fault, Contradiction::Outcome { replayed: None, .. }), "{fault}");

    // The same square turned up twice.
    let log = [game.stored().log.bytes(), &[1, 5]].concat();
    let mut stored = game.stored().clone();
    stored.log = banqi::game::Log::read(stored.log.origin(), log).expect("a log");
    let fault = Game::replay(stored).expect_err("no such flip");
    assert!(matches!(fault, Contradiction::Refused { revision: Revision(4), .. }), "{fault}");

    let mut stored = game.stored().clone();
    stored.seats.pop();
    let fault = Game::replay(stored).expect_err("a seat is missing");
    assert_eq!(fault, Contradiction::Seats { stored: 1, rules: 2 });

    let mut stored = game.stored().clone();
    let facts = std::sync::Arc::make_mut(&mut stored.facts);
    let id = "x".parse().expect("an id");
    let seed = banqi::game::ServerSeed::new([1; 32]);
    facts.deal = DealSource::from(derive_deal(BoardSize::Double, &id, &seed, []));
    assert_eq!(Game::replay(stored).expect_err("another board"), Contradiction::Start);

    let mut stored = game.stored().clone();
    std::sync::Arc::make_mut(&mut stored.facts).engine = banqi::game::EngineVersion(2);
    let fault = Game::replay(stored).expect_err("a newer engine");
    assert!(matches!(fault, Contradiction::NewerEngine { .. }), "{fault}");
}
