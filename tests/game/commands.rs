//! Commands: seats are taken, games start, are played and end as they should.

use banqi::game::{
    Command, Game, GameState, Limits, Millis, NewGame, NewSeat, PlayerId, REMOVAL_MARGIN, Refusal,
    Ruling, Schedule, Span, decide,
};
use banqi::rules::{Action, EndReason, IllegalAction, PlacesError, Preset, Square};

use super::support::{START, create, entropy, new_game, play, run, run_at, seat, summary};

fn id(name: &str) -> PlayerId {
    name.parse().expect("a player id")
}

fn flip(index: u8) -> Action {
    Action::Flip(Square::new(index).expect("a square"))
}

fn join(seat: Option<u8>, player: Option<&str>) -> Command {
    let seat = seat.map(super::support::seat);
    Command::Join { seat, player: player.map(id), entropy: None }
}

/// Seat 1 reserved for `a`, seat 2 open.
fn waiting() -> Game {
    let seats = vec![NewSeat::Reserved(id("a")), NewSeat::Open];
    create(NewGame { seats, ..new_game(Preset::Taiwanese) })
}

#[test]
fn a_game_with_all_seats_assigned_starts_at_once() {
    let game = create(new_game(Preset::Taiwanese));
    assert_eq!(game.state(), GameState::Active);
    assert_eq!(game.started_at(), Some(START));
    assert_eq!(game.version().revision.0, 1);
}

#[test]
fn a_game_waits_until_every_seat_is_taken() {
    let game = waiting();
    assert_eq!(game.state(), GameState::Waiting);
    let early = Command::Play { seat: seat(1), action: flip(0) };
    assert_eq!(run(&game, early.clone()).expect_err("early"), Refusal::NotStarted);
    let early_leave = Command::Resign { seat: seat(1) };
    assert_eq!(run(&game, early_leave).expect_err("early"), Refusal::NotStarted);

    let game = run(&game, join(None, Some("b"))).expect("the open seat");
    assert_eq!(game.player(seat(2)), Some(&id("b")));
    assert_eq!(game.state(), GameState::Waiting);
    let game = run(&game, join(None, Some("a"))).expect("the reserved seat");
    assert_eq!(game.state(), GameState::Active);
    assert_eq!(game.started_at(), Some(game.updated_at()));
    assert!(run(&game, early).is_ok());
}

#[test]
fn seats_go_to_whom_they_are_for() {
    let game = waiting();
    let refusal = |game: &Game, command| run(game, command).expect_err("refused");
    let reserved = Refusal::SeatReserved { seat: seat(1) };
    assert_eq!(refusal(&game, join(Some(1), Some("b"))), reserved);
    assert_eq!(refusal(&game, join(Some(1), None)), reserved);
    let absent = Refusal::NoSuchSeat { seat: seat(3), seats: 2 };
    assert_eq!(refusal(&game, join(Some(3), Some("b"))), absent);

    // The player whom seat 1 is reserved for gets it without naming it, though seat 2 is open.
    let game = run(&game, join(None, Some("a"))).expect("reserved");
    assert!(game.has_joined(seat(1)) && !game.has_joined(seat(2)));
    let taken = Refusal::SeatTaken { seat: seat(1) };
    assert_eq!(refusal(&game, join(Some(1), Some("a"))), taken);
    let seated = Refusal::AlreadySeated { seat: seat(1) };
    assert_eq!(refusal(&game, join(None, Some("a"))), seated);
    let nobody = Command::AddEntropy { seat: seat(2), entropy: entropy(b"x") };
    assert_eq!(refusal(&game, nobody), Refusal::NotJoined { seat: seat(2) });

    // A player without an id takes the open seat.
    let game = run(&game, join(None, None)).expect("open");
    assert_eq!(game.player(seat(2)), None);
    assert!(game.has_joined(seat(2)));
    assert_eq!(refusal(&game, join(None, Some("c"))), Refusal::NoSeatOpen);
    assert_eq!(refusal(&game, join(Some(2), Some("c"))), Refusal::SeatTaken { seat: seat(2) });
}

#[test]
fn assigned_seats_cannot_be_joined() {
    let game = create(new_game(Preset::Taiwanese));
    let refusal = run(&game, join(Some(1), None)).expect_err("assigned");
    assert_eq!(refusal, Refusal::SeatTaken { seat: seat(1) });
}

#[test]
fn a_game_can_wait_for_every_seat_s_entropy() {
    let seats = vec![NewSeat::Assigned(Some(id("a"))), NewSeat::Open];
    let game = create(NewGame { seats, entropy_required: true, ..new_game(Preset::Taiwanese) });
    let add = |number| Command::AddEntropy { seat: seat(number), entropy: entropy(b"x") };
    let game = run(&game, add(1)).expect("assigned seats may add at once");
    let command = Command::Join { seat: None, player: None, entropy: Some(entropy(b"y")) };
    let started = run(&game, command).expect("open");
    assert_eq!(started.state(), GameState::Active, "entropy can come with the join");
    let game = run(&game, join(None, None)).expect("open");
    assert_eq!(game.state(), GameState::Waiting);
    let early = Command::Play { seat: seat(1), action: flip(0) };
    assert_eq!(run(&game, early).expect_err("early"), Refusal::NotStarted);
    let game = run(&game, add(2)).expect("in time");
    assert_eq!(game.state(), GameState::Active);
}

#[test]
fn only_the_seat_to_move_acts_and_only_legally() {
    let game = create(new_game(Preset::Taiwanese));
    let refusal = |game: &Game, number, action| {
        run(game, Command::Play { seat: seat(number), action }).expect_err("refused")
    };
    assert_eq!(refusal(&game, 2, flip(0)), Refusal::NotYourTurn { to_move: seat(1) });
    let absent = Refusal::NoSuchSeat { seat: seat(4), seats: 2 };
    assert_eq!(refusal(&game, 4, flip(0)), absent);
    let colourless =
        Action::Move { from: Square::new(0).expect("a1"), to: Square::new(1).expect("b1") };
    assert_eq!(refusal(&game, 1, colourless), Refusal::Illegal(IllegalAction::ColoursNotSet));
    let off = IllegalAction::OffBoard { square: Square::new(40).expect("a6") };
    assert_eq!(refusal(&game, 1, flip(40)), Refusal::Illegal(off));
    let game = play(&game, &[flip(0)]);
    let up = IllegalAction::NotFaceDown { square: Square::new(0).expect("a1") };
    assert_eq!(refusal(&game, 2, flip(0)), Refusal::Illegal(up));
}

#[test]
fn nothing_is_done_after_the_end() {
    let game = create(new_game(Preset::Taiwanese));
    let game = run(&game, Command::Resign { seat: seat(2) }).expect("may resign off turn");
    let outcome = game.outcome().expect("over");
    assert_eq!(outcome.reason, EndReason::Resignation);
    assert_eq!(outcome.winner(), Some(seat(1)));
    assert_eq!(game.ended_at(), Some(game.updated_at()));
    for command in [
        Command::Play { seat: seat(1), action: flip(0) },
        Command::Resign { seat: seat(1) },
        Command::AddEntropy { seat: seat(1), entropy: entropy(b"x") },
        join(None, Some("c")),
        join(Some(1), Some("c")),
        Command::EnforceDeadline,
    ] {
        assert_eq!(
            run(&game, command.clone()).expect_err("over"),
            Refusal::GameOver,
            "{command:?}"
        );
    }
}

#[test]
fn of_four_seats_the_others_play_on() {
    let game = create(new_game(Preset::DoubleFour));
    let game = run(&game, Command::Resign { seat: seat(1) }).expect("may resign");
    assert_eq!(game.state(), GameState::Active);
    assert_eq!(game.position().to_move(), seat(2));
    let out = Refusal::SeatOut { seat: seat(1) };
    assert_eq!(run(&game, Command::Resign { seat: seat(1) }).expect_err("out"), out);
    let act = Command::Play { seat: seat(1), action: flip(0) };
    assert_eq!(run(&game, act).expect_err("out"), out);
    let game = run(&game, Command::Resign { seat: seat(4) }).expect("may resign");
    let game = run(&game, Command::Resign { seat: seat(3) }).expect("may resign");
    let outcome = game.outcome().expect("over");
    assert_eq!(outcome.winner(), Some(seat(2)));
    assert_eq!(outcome.places[..], [4, 1, 2, 3]);
}

#[test]
fn a_game_that_nobody_begins_is_aborted_after_its_time() {
    for game in [waiting(), create(new_game(Preset::Taiwanese))] {
        let due = START + Span::hours(24);
        let schedule = game.schedule(&Limits::default());
        assert_eq!(schedule, Schedule { deadline: Some(due), keep: None });
        let early = run_at(&game, Command::EnforceDeadline, START + Span(24 * 3_600_000 - 1));
        assert_eq!(early.expect_err("early"), Refusal::NotDue { due });
        let game = run_at(&game, Command::EnforceDeadline, due).expect("due");
        let outcome = game.outcome().expect("over");
        assert_eq!(outcome.reason, EndReason::Aborted);
        assert_eq!(outcome.winner(), None);
        assert!(outcome.places.is_empty());
        let schedule = game.schedule(&Limits::default());
        let removal = game.updated_at() + Span::days(30);
        let keep = Some(Span::days(30) + REMOVAL_MARGIN);
        assert_eq!(schedule, Schedule { deadline: Some(removal), keep });
        assert!(!game.has_outlived(Millis(removal.0 - 1), &Limits::default()));
        assert!(game.has_outlived(removal, &Limits::default()));
    }
    let begun = play(&create(new_game(Preset::Taiwanese)), &[flip(0)]);
    let inactive = begun.updated_at() + Span::days(30);
    let early = run_at(&begun, Command::EnforceDeadline, START + Span::days(30));
    assert_eq!(early.expect_err("not yet"), Refusal::NotDue { due: inactive });
    let schedule = Schedule { deadline: Some(inactive), keep: None };
    assert_eq!(begun.schedule(&Limits::default()), schedule);
    let limits = Limits { unbegun: Span(1), ended: Span(2) };
    let game = waiting();
    assert_eq!(game.schedule(&limits).deadline, Some(START + Span(1)));
    assert!(decide(&game, &Command::EnforceDeadline, START + Span(1), &limits).is_ok());
}

#[test]
fn a_change_is_made_only_where_it_was_decided() {
    let game = create(new_game(Preset::Taiwanese));
    let command = Command::Play { seat: seat(1), action: flip(0) };
    let change = decide(&game, &command, START, &Limits::default()).expect("legal");
    assert_eq!(change.decided_for(), game.version());
    let moved_on = run(&game, Command::AddEntropy { seat: seat(1), entropy: entropy(b"x") });
    assert!(moved_on.expect("may be").after(&change, None).is_err());
    assert!(game.after(&change, None).is_ok());
}

fn adjudicate(game: &Game, places: &[u8]) -> Result<Game, Refusal> {
    let ruling = Ruling::Places(places.iter().copied().collect());
    run(game, Command::Adjudicate { ruling })
}

#[test]
fn the_platform_ends_a_game_with_places_or_as_aborted() {
    let fresh = create(new_game(Preset::Taiwanese));
    let begun = play(&fresh, &[flip(0), flip(1)]);
    for game in [waiting(), fresh, begun] {
        for (places, winner) in [([1, 2], Some(seat(1))), ([2, 1], Some(seat(2))), ([1, 1], None)] {
            let over = adjudicate(&game, &places).expect("may end so");
            let outcome = over.outcome().expect("over");
            assert_eq!((outcome.reason, outcome.winner()), (EndReason::Adjudicated, winner));
            assert_eq!(outcome.places[..], places);
            assert_eq!(over.ended_at(), Some(over.updated_at()));
            assert_eq!(over.deadline(), None);
            assert_eq!(adjudicate(&over, &places).expect_err("over"), Refusal::GameOver);
            assert_eq!(
                summary(&Game::replay(over.stored().clone()).expect("it replays")),
                summary(&over)
            );
        }
        let over = run(&game, Command::Adjudicate { ruling: Ruling::Aborted }).expect("may end so");
        let outcome = over.outcome().expect("over");
        assert_eq!((outcome.reason, outcome.places.len()), (EndReason::Aborted, 0));
    }
}

#[test]
fn who_is_out_keeps_its_place_when_the_platform_ends_the_game() {
    let game = create(new_game(Preset::DoubleFour));
    let game = run(&game, Command::Resign { seat: seat(3) }).expect("may resign");
    let refused = |places: &[u8]| match adjudicate(&game, places).expect_err("no such end") {
        Refusal::Places(fault) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(&[1, 2, 3, 4]), PlacesError::Out { seat: seat(3), has: 4 });
    assert_eq!(refused(&[1, 2]), PlacesError::Count { given: 2, seats: 4 });
    assert_eq!(refused(&[1, 3, 4, 3]), PlacesError::NoRanking);
    let over = adjudicate(&game, &[2, 1, 4, 2]).expect("may end so");
    assert_eq!(over.outcome().expect("over").places[..], [2, 1, 4, 2]);
}

#[test]
fn an_erased_player_is_gone_also_from_what_was_before() {
    let mut new = new_game(Preset::Taiwanese);
    new.seats = vec![NewSeat::Reserved(id("a")), NewSeat::Open];
    let game = run(&create(new), join(None, Some("b"))).expect("may join");
    let erased = run(&game, Command::ErasePlayer { seat: seat(2) }).expect("can be erased");
    assert_eq!((erased.player(seat(1)), erased.player(seat(2))), (Some(&id("a")), None));
    assert_eq!(erased.version().revision, game.version().revision.next());
    // The chain that others know goes on.
    assert_eq!(erased.version_at(game.version().revision), Some(game.version()));
    assert_eq!(erased.as_at(game.version().revision).expect("it was so").player(seat(2)), None);
    // A copy of before takes up that it is gone.
    let caught_up = game.catch_up(erased.stored().clone()).expect("it goes on");
    assert_eq!(summary(&caught_up), summary(&erased));
    // A seat that was kept for nobody any more is nobody's.
    let erased = run(&erased, Command::ErasePlayer { seat: seat(1) }).expect("can be erased");
    for player in [None, Some("a")] {
        let refusal = run(&erased, join(Some(1), player)).expect_err("kept for another");
        assert_eq!(refusal, Refusal::SeatReserved { seat: seat(1) });
    }
}
