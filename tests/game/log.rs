//! The log: small, strict, and never rewritten.

use banqi::game::{Event, History, Log, Millis, PackingError, Revision};
use banqi::rules::{Action, Preset, Square};

use super::support::{START, create, new_game, play};

const ORIGIN: History = History([1; 8]);

fn created() -> Vec<u8> {
    Log::begin(ORIGIN, START).bytes().to_vec()
}

fn with(tail: &[u8]) -> Vec<u8> {
    [&created()[..], tail].concat()
}

#[test]
fn a_log_reads_what_is_documented() {
    // c1 flipped after 5 ms, a1-a2 after 300 ms, end, entropy of seat 2, seat 1 resigned.
    let bytes = with(&[2, 5, 64, 8, 0xac, 2, 128, 0, 131, 2, 3, 7, 7, 7, 1, 132, 1, 0]);
    let log = Log::read(ORIGIN, bytes.clone()).expect("a log");
    let entries: Vec<_> = log.entries().collect();
    let texts: Vec<_> = entries.iter().map(|entry| format!("{:?}", entry.event)).collect();
    assert_eq!(texts[..4], ["Created", "Played(c1)", "Played(a1-a2)", "Played(end)"]);
    assert!(texts[4].starts_with("EntropyAdded"));
    assert_eq!(texts[5], "Resigned(Seat(1))");
    let times: Vec<_> = entries.iter().map(|entry| entry.at.0 - START.0).collect();
    assert_eq!(times, [0, 5, 305, 305, 306, 306]);
    assert_eq!(log.bytes(), bytes, "kept as written");
}

#[test]
fn histories_chain_from_the_origin_over_the_entries_as_written() {
    let log = Log::read(ORIGIN, with(&[2, 5, 64, 8, 0xac, 2])).expect("a log");
    let first = ORIGIN.then(&[2, 5]);
    let expected = [ORIGIN, first, first.then(&[64, 8, 0xac, 2])];
    let histories: Vec<_> = log.entries().map(|entry| entry.version.history).collect();
    assert_eq!(histories, expected);
    for (index, history) in expected.into_iter().enumerate() {
        let revision = Revision(index as u64 + 1);
        assert_eq!(log.version_at(revision).map(|version| version.history), Some(history));
        let cut = log.cut(revision).expect("a revision that it has");
        assert_eq!(cut.version().history, history);
        assert_eq!(Log::read(ORIGIN, cut.bytes().to_vec()), Ok(cut));
    }
    assert_eq!(log.cut(Revision(0)), None);
    assert_eq!(log.cut(Revision(4)), None);
    assert_eq!(log.version_at(Revision(u64::MAX)), None);
}

#[test]
fn a_kind_of_a_later_release_is_told_from_a_broken_log() {
    for kind in 150..=255 {
        let fault = Log::read(ORIGIN, with(&[kind, 0])).expect_err("unknown");
        assert_eq!(fault, PackingError::UnknownKind { offset: created().len(), kind });
        assert!(fault.to_string().contains("newer format"));
    }
    let broken: [&[u8]; 18] = [
        &[0],                        // no time
        &[0, 0x80],                  // half a time
        &[0, 0x80, 0],               // a time in a longer form
        &[64, 64, 0],                // a square beyond the board
        &[64, 0, 0],                 // a move to the same square
        &[64],                       // no target
        &[130, 0, 0, 0],             // seat 0
        &[130, 5, 0, 0],             // seat 5
        &[131, 1, 0, 0],             // no entropy
        &[131, 1, 65, 0],            // too much entropy
        &[129, 0],                   // created again
        &[144, 5, 1, 1, 1, 1, 1, 0], // five places
        &[144, 2, 1],                // one place of two, and no time
        &[145, 0, 0],                // seat 0
        &[146, 129, 0],              // created before the import
        &[147, 5, 1, 0],             // seat 5 left before the import
        &[147, 1, 0, 0],             // left for no reason
        &[147, 1, 4, 0], // left for a reason that is none[147, 1, 4, 0],  // left for a reason that is none
    ];
    for tail in broken {
        let fault = Log::read(ORIGIN, with(tail)).expect_err("broken");
        assert!(matches!(fault, PackingError::Broken { .. }), "{tail:?}: {fault}");
    }
    assert!(Log::read(ORIGIN, Vec::new()).is_err(), "no creation");
    assert!(Log::read(ORIGIN, vec![2, 5]).is_err(), "no creation");
    let overflow = [created(), [vec![0], vec![0xff; 9], vec![1]].concat()].concat();
    assert!(Log::read(ORIGIN, overflow).is_err(), "a time beyond 2^64");
}

#[test]
fn reading_on_is_the_same_as_reading() {
    let short = Log::read(ORIGIN, with(&[2, 5])).expect("a log");
    let long = Log::read(ORIGIN, with(&[2, 5, 3, 9])).expect("a log");
    assert_eq!(short.read_on(ORIGIN, long.bytes()), Some(long.clone()));
    assert_eq!(long.read_on(ORIGIN, long.bytes()), Some(long.clone()));
    assert_eq!(long.read_on(ORIGIN, short.bytes()), None, "it goes back");
    assert_eq!(short.read_on(ORIGIN, &with(&[2, 6, 3, 9])), None, "it is another course");
    assert_eq!(short.read_on(History([2; 8]), long.bytes()), None, "it is another game");
    assert_eq!(short.read_on(ORIGIN, &with(&[2, 5, 255])), None, "it is new");
}

#[test]
fn an_action_takes_five_bytes_at_most_up_to_half_an_hour() {
    let half_an_hour = 30 * 60_000;
    let game = create(new_game(Preset::Taiwanese));
    let squares = [0, 1].map(|index| Square::new(index).expect("a square"));
    let game = play(&game, &squares.map(Action::Flip));
    let before = game.stored().log.bytes().len();
    let seat = game.position().to_move();
    for &action in game.referee().legal_actions().iter() {
        let command = banqi::game::Command::Play { seat, action };
        let now = Millis(game.updated_at().0 + half_an_hour);
        let after = super::support::run_at(&game, command, now).expect("legal");
        let size = after.stored().log.bytes().len() - before;
        assert!(size <= 5, "{action}: {size} bytes");
    }
}

#[test]
fn a_game_s_time_never_goes_back() {
    let game = create(new_game(Preset::Taiwanese));
    let game = play(&game, &[Action::Flip(Square::new(0).expect("a1"))]);
    let last = game.updated_at();
    let command = banqi::game::Command::Play {
        seat: game.position().to_move(),
        action: Action::Flip(Square::new(1).expect("b1")),
    };
    let game = super::support::run_at(&game, command, Millis(5)).expect("legal");
    assert_eq!(game.updated_at(), last);
    let (entry, deed) = game.entries().last().expect("an entry");
    assert_eq!(entry.at, last);
    assert!(matches!(entry.event, Event::Played(_)));
    assert_eq!(deed.by.map(|seat| seat.number()), Some(2));
}
