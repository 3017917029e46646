//! Clocks: what each time control takes and gives, and what happens when it is used up.

use banqi::game::{
    Clock, Command, Game, Limits, Millis, NewGame, Reading, Refusal, Span, TimeControl,
};
use banqi::rules::{EndReason, LeaveReason, Preset};

use super::scenes::{
    CHAIN_OPENING, FOUR_OPENING, QUIET_OPENING, SECOND, TO_AND_FRO, act, answer_takeback,
    chain_new, control, four_new, line, must, offer_draw, quiet_new, request_takeback, resign,
    try_act,
};
use super::support::{START, create, new_game, run_at, seat, summary};

const MINUTE: Span = Span(60_000);

fn with(clock: Clock) -> Game {
    create(NewGame { time_control: control(clock), ..quiet_new() })
}

fn with_first_turn(clock: Clock, first_turn: Span) -> Game {
    let time_control = TimeControl::new(clock, Some(first_turn)).expect("a time control");
    create(NewGame { time_control, ..quiet_new() })
}

/// What is left of each clock.
fn left(game: &Game) -> Vec<Option<u64>> {
    game.seats().map(|seat| game.clock(seat).left.map(|left| left.0)).collect()
}

fn running(game: &Game) -> Vec<u8> {
    game.seats().filter(|seat| game.clock(*seat).running).map(|seat| seat.number()).collect()
}

/// How long the seat to move has from now on.
fn time_left(game: &Game) -> Option<Span> {
    Some(game.deadline()?.since(game.updated_at()))
}

/// Runs the clock of the seat to move out: not a moment too early, and exactly at the deadline.
fn run_out(game: &Game) -> Game {
    let due = game.deadline().expect("a deadline");
    let early = run_at(game, Command::EnforceDeadline, Millis(due.0 - 1)).expect_err("early");
    assert_eq!(early, Refusal::NotDue { due });
    let action = game.referee().legal_actions()[0];
    let play = Command::Play { seat: game.position().to_move(), action };
    assert!(run_at(game, play.clone(), Millis(due.0 - 1)).is_ok(), "the last moment is in time");
    assert_eq!(run_at(game, play, due).expect_err("late"), Refusal::Overdue);
    for command in [offer_draw(1), resign(2), Command::Abort { seat: None }] {
        assert_eq!(run_at(game, command, due).expect_err("late"), Refusal::Overdue);
    }
    run_at(game, Command::EnforceDeadline, due).expect("due")
}

fn assert_lost(game: &Game, reason: EndReason, winner: u8) {
    let outcome = game.outcome().expect("it is over");
    assert_eq!((outcome.reason, outcome.winner()), (reason, Some(seat(winner))));
    assert_eq!(game.deadline(), None);
    assert_eq!(running(game), Vec::<u8>::new());
}

#[test]
fn sudden_death_takes_what_turns_take() {
    let game = with(Clock::SuddenDeath { main: Span(10_000) });
    assert_eq!((left(&game), running(&game)), (vec![Some(10_000); 2], vec![1]));
    let game = act(&game, Span(1_500), "a1");
    assert_eq!((left(&game), running(&game)), (vec![Some(8_500), Some(10_000)], vec![2]));
    let game = act(&game, Span(9_999), "b1");
    assert_eq!(left(&game), [Some(8_500), Some(1)]);
    let game = act(&game, Span(8_499), "a1-b1");
    assert_eq!(left(&game), [Some(1), Some(1)]);
    assert_eq!(time_left(&game), Some(Span(1)));
    let over = run_out(&game);
    assert_lost(&over, EndReason::Timeout, 1);
    assert_eq!(left(&over), [Some(1), Some(0)]);
}

#[test]
fn an_increment_follows_each_turn() {
    let game = with(Clock::Increment { main: Span(10_000), increment: Span(2_000) });
    let game = act(&game, Span(500), "a1");
    assert_eq!(left(&game), [Some(11_500), Some(10_000)]);
    let game = act(&game, Span(9_000), "b1");
    assert_eq!(left(&game), [Some(11_500), Some(3_000)]);
    let over = run_out(&game);
    assert_lost(&over, EndReason::Timeout, 2);
    assert_eq!(left(&over), [Some(0), Some(3_000)], "a turn not completed has no increment");
}

#[test]
fn a_chain_is_one_turn() {
    let clock = Clock::Increment { main: Span(10_000), increment: Span(2_000) };
    let chain = |clock| create(NewGame { time_control: control(clock), ..chain_new() });
    let game = line(&chain(clock), &CHAIN_OPENING);
    assert_eq!(left(&game), [Some(12_000), Some(12_000)]);
    let within = act(&game, SECOND, "a1-b1");
    assert_eq!(within.position().to_move(), seat(1));
    assert_eq!(left(&within), [Some(11_000), Some(12_000)], "read within the turn");
    assert_eq!(within.deadline(), game.deadline(), "the turn goes on");
    for last in ["b1-c1", "end"] {
        let after = act(&within, SECOND, last);
        assert_eq!(after.position().to_move(), seat(2));
        assert_eq!(left(&after), [Some(12_000), Some(12_000)], "one increment, after {last}");
    }

    let per_turn = line(&chain(Clock::PerTurn { limit: Span(5_000) }), &CHAIN_OPENING);
    let within = act(&per_turn, Span(3_000), "a1-b1");
    assert_eq!(left(&within), [Some(2_000), Some(5_000)], "all its actions in one limit");
    assert_eq!(try_act(&within, Span(2_000), "b1-c1").expect_err("late"), Refusal::Overdue);
    assert_lost(&run_out(&within), EndReason::Timeout, 2);
}

#[test]
fn a_limit_per_turn_leaves_nothing_over() {
    for (clock, limit) in [
        (Clock::PerTurn { limit: MINUTE }, MINUTE),
        (Clock::Correspondence { days: 3 }, Span::days(3)),
    ] {
        let game = with(clock);
        let game = act(&game, Span(limit.0 - 1), "a1");
        assert_eq!(left(&game), [Some(limit.0); 2]);
        let game = act(&game, SECOND, "b1");
        assert_eq!(time_left(&game), Some(limit));
        let game = must(&game, offer_draw(2));
        assert_eq!(left(&game), [Some(limit.0 - 1_000), Some(limit.0)], "as it is read now");
        assert_eq!(game.deadline(), Some(game.updated_at() + Span(limit.0 - 1_000)));
        assert_lost(&run_out(&game), EndReason::Timeout, 2);
    }
}

#[test]
fn byo_yomi_gives_a_period_back_that_was_not_used_up() {
    let clock = Clock::ByoYomi { main: Span(10_000), periods: 3, period: Span(5_000) };
    let reading = |game: &Game, number| {
        let Reading { left, periods, .. } = game.clock(seat(number));
        (left.expect("a limit").0, periods)
    };
    let game = with(clock);
    assert_eq!(time_left(&game), Some(Span(25_000)));
    // Within the main time, to its last moment.
    let game = act(&game, Span(9_999), "a1");
    assert_eq!(reading(&game, 1), (1, 3));
    // The main time to its end, and then not a whole period.
    let game = act(&game, Span(14_999), "b1");
    assert_eq!(reading(&game, 2), (5_000, 3), "the period is given back");
    // Beyond the main time by exactly a period, which is gone.
    let game = act(&game, Span(5_001), "a1-b1");
    assert_eq!(reading(&game, 1), (5_000, 2));
    assert_eq!(time_left(&game), Some(Span(15_000)));
    // Two of three periods pass within one turn.
    let asked = run_at(&game, offer_draw(2), game.updated_at() + Span(11_000)).expect("offered");
    assert_eq!(reading(&asked, 2), (4_000, 1), "as it is read within the turn");
    let game = act(&game, Span(14_999), "h4");
    assert_eq!(reading(&game, 2), (5_000, 1));
    let game = act(&game, Span(4_999), "g4");
    assert_eq!(reading(&game, 1), (5_000, 2));
    assert_eq!(time_left(&game), Some(Span(5_000)), "the last period");
    let over = run_out(&game);
    assert_lost(&over, EndReason::Timeout, 1);
    assert_eq!(reading(&over, 2), (0, 0));

    // Without a main time the periods begin at once.
    let game = with(Clock::ByoYomi { main: Span::ZERO, periods: 1, period: Span(5_000) });
    assert_eq!(reading(&game, 1), (5_000, 1));
    assert_lost(&run_out(&act(&game, Span(4_999), "a1")), EndReason::Timeout, 1);
}

#[test]
fn a_first_turn_can_have_a_limit_of_its_own() {
    let clock = Clock::Increment { main: MINUTE, increment: Span(2_000) };
    let game = with_first_turn(clock, Span(10_000));
    assert_eq!((time_left(&game), running(&game)), (Some(Span(10_000)), vec![1]));
    let offered = must(&game, offer_draw(1));
    assert_eq!(left(&offered), [Some(MINUTE.0); 2], "its clock stands still");
    let game = act(&game, Span(9_999), "a1");
    assert_eq!(left(&game), [Some(MINUTE.0); 2], "nothing is spent and nothing added");
    assert_eq!(time_left(&game), Some(Span(10_000)), "each seat has its own first turn");
    let over = run_out(&game);
    assert_lost(&over, EndReason::Timeout, 1);
    assert_eq!(left(&over), [Some(MINUTE.0); 2]);
    let game = act(&game, SECOND, "b1");
    assert_eq!(time_left(&game), Some(MINUTE));
    let game = act(&game, SECOND, "a1-b1");
    assert_eq!(left(&game), [Some(MINUTE.0 + 1_000), Some(MINUTE.0)]);

    // Where turns have limits of their own, it stands for the first one's.
    let game = with_first_turn(Clock::PerTurn { limit: MINUTE }, Span(10_000));
    assert_eq!(left(&game), [Some(10_000), Some(MINUTE.0)]);
    assert_lost(&run_out(&game), EndReason::Timeout, 2);
    let unlimited = with_first_turn(Clock::Unlimited { inactivity: None }, Span(10_000));
    assert_lost(&run_out(&unlimited), EndReason::Timeout, 2);
    let begun = line(&unlimited, &["a1", "b1"]);
    assert_eq!(begun.deadline(), None);
}

#[test]
fn a_game_without_a_clock_is_abandoned_and_not_lost_on_time() {
    let game = with(Clock::Unlimited { inactivity: Some(MINUTE) });
    let game = act(&game, Span(59_999), "a1");
    let game = act(&game, Span(59_999), "b1");
    assert_lost(&run_out(&game), EndReason::Abandoned, 2);

    let game = line(&with(Clock::Unlimited { inactivity: None }), &["a1"]);
    assert_eq!(game.deadline(), None);
    assert_eq!(game.schedule(&Limits::default()).deadline, None);
    assert_eq!(left(&game), [None, None]);
    act(&game, Span::days(10_000), "b1");
    let never = run_at(&game, Command::EnforceDeadline, START + Span::days(10_000));
    assert_eq!(never.expect_err("never"), Refusal::AlreadyBegun);
}

#[test]
fn a_game_with_a_clock_that_nobody_begins_is_lost_and_not_aborted() {
    let game = with(Clock::SuddenDeath { main: Span::days(3) });
    assert_eq!(game.schedule(&Limits::default()).deadline, Some(START + Span::days(3)));
    assert_lost(&run_out(&game), EndReason::Timeout, 2);
    // Without one, whichever comes first.
    let game = with(Clock::Unlimited { inactivity: Some(Span::days(3)) });
    let over = run_at(&game, Command::EnforceDeadline, START + Span::days(1)).expect("due");
    assert_eq!(over.outcome().expect("over").reason, EndReason::Aborted);
}

#[test]
fn clocks_wait_for_all_seats() {
    use banqi::game::NewSeat;
    let seats = vec![NewSeat::Assigned(None), NewSeat::Open];
    let time_control = control(Clock::SuddenDeath { main: MINUTE });
    let game = create(NewGame { seats, time_control, ..new_game(Preset::Taiwanese) });
    assert_eq!((game.deadline(), running(&game)), (None, vec![]));
    let join = Command::Join { seat: None, player: None, entropy: None };
    let game = run_at(&game, join, START + Span::hours(3)).expect("joined");
    assert_eq!(game.deadline(), Some(START + Span::hours(3) + MINUTE));
    assert_eq!((left(&game), running(&game)), (vec![Some(MINUTE.0); 2], vec![1]));
}

#[test]
fn of_four_seats_the_others_play_on_after_a_timeout() {
    let time_control = control(Clock::SuddenDeath { main: MINUTE });
    let new = NewGame { time_control, ..four_new(Preset::DoubleFour.rules()) };
    let game = line(&create(new), &FOUR_OPENING);
    let deadline = game.deadline().expect("a deadline");
    // Found two seconds late, which costs nobody anything.
    let found = deadline + Span(2_000);
    let after = run_at(&game, Command::EnforceDeadline, found).expect("due");
    assert!(after.outcome().is_none());
    assert!(after.position().is_out(seat(1)));
    assert_eq!(after.position().to_move(), seat(2));
    assert_eq!(running(&after), [2]);
    assert_eq!(left(&after)[0], Some(0));
    assert_eq!(left(&after)[1..], left(&game)[1..]);
    assert_eq!(after.deadline(), Some(found + Span(57_000)));
    assert_eq!(after.last_deed().left, Some(LeaveReason::Timeout));

    // The rest in turn: each has its own time from when the one before went out.
    let after = run_out(&run_out(&after));
    assert_lost(&after, EndReason::LastStanding, 4);
    assert_eq!(after.outcome().expect("over").places[..], [4, 3, 2, 1]);
}

#[test]
fn leaving_on_turn_passes_the_clock_on_and_off_turn_leaves_it_alone() {
    let clock = Clock::Increment { main: MINUTE, increment: Span(5_000) };
    let new = NewGame { time_control: control(clock), ..four_new(Preset::DoubleFour.rules()) };
    let game = line(&create(new), &FOUR_OPENING);
    let off_turn = must(&game, resign(3));
    assert_eq!(off_turn.deadline(), game.deadline());
    assert_eq!(left(&off_turn)[0], left(&game)[0].map(|left| left - 1_000));
    let on_turn = must(&off_turn, resign(1));
    assert_eq!(left(&on_turn)[0], left(&game)[0].map(|left| left - 2_000), "and no increment");
    assert_eq!(running(&on_turn), [2]);
    let full = Span(left(&game)[1].expect("a limit"));
    assert_eq!(time_left(&on_turn), Some(full));
}

#[test]
fn what_was_spent_stays_spent_when_turns_are_taken_back() {
    let clock = Clock::Increment { main: MINUTE, increment: Span(5_000) };
    let game = line(&with(clock), &QUIET_OPENING);
    let before = left(&game);
    assert_eq!(before, [Some(72_000); 2]);
    let game = act(&game, Span(10_000), TO_AND_FRO[0]);
    let game = act(&game, Span(20_000), TO_AND_FRO[1]);
    assert_eq!(left(&game), [Some(67_000), Some(57_000)]);
    // Seat 1, to move, gets its turn back; what it has spent since counts as well.
    let game = must(&must(&game, request_takeback(1)), answer_takeback(2, true));
    assert_eq!(game.position().to_move(), seat(1));
    assert_eq!(left(&game), [Some(65_000), Some(57_000)]);
    assert_eq!((time_left(&game), running(&game)), (Some(Span(65_000)), vec![1]));
    // The other seat's last turn: the clock goes back to it.
    let game = act(&game, Span(1_000), TO_AND_FRO[0]);
    let game = must(&must(&game, request_takeback(1)), answer_takeback(2, true));
    assert_eq!(left(&game), [Some(69_000), Some(55_000)]);
    assert_eq!(running(&game), [1]);
    assert_eq!(time_left(&game), Some(Span(69_000)));
}

#[test]
fn clocks_stop_at_the_end_and_stay() {
    let game = line(&with(Clock::SuddenDeath { main: MINUTE }), &QUIET_OPENING);
    let over = must(&game, resign(2));
    assert_eq!(left(&over), [Some(56_000), Some(57_000)], "seat 1 was to move");
    assert_eq!((over.deadline(), running(&over)), (None, vec![]));
    let id = "game-2".parse().expect("an id");
    let later = over.updated_at() + Span::days(3);
    let noted = run_at(&over, Command::MakeRematch { id }, later).expect("noted");
    assert_eq!(left(&noted), left(&over));
    let late = run_at(&over, Command::EnforceDeadline, later);
    assert_eq!(late.expect_err("over"), Refusal::GameOver);
}

#[test]
fn times_that_lie_about_a_deadline_are_not_replayed() {
    // The log of a game with a minute, in a game with ten seconds: the same times are too late.
    let game = line(&with(Clock::SuddenDeath { main: MINUTE }), &QUIET_OPENING);
    let game = act(&game, Span(8_000), TO_AND_FRO[0]);
    let replayed = Game::replay(game.stored().clone()).expect("no contradiction");
    assert_eq!(summary(&replayed), summary(&game));
    let with_control = |main| {
        let mut stored = game.stored().clone();
        let facts = std::sync::Arc::make_mut(&mut stored.facts);
        facts.time_control = control(Clock::SuddenDeath { main });
        Game::replay(stored)
    };
    assert!(with_control(Span(11_001)).is_ok());
    assert!(with_control(Span(11_000)).is_err());

    let over = run_out(&game);
    let mut stored = over.stored().clone();
    let facts = std::sync::Arc::make_mut(&mut stored.facts);
    facts.time_control = control(Clock::SuddenDeath { main: Span(60_001) });
    assert!(Game::replay(stored).is_err(), "it had a moment left");
}
