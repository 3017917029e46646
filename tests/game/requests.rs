//! A call is safe to retry.

use banqi::game::{
    Command, Game, Limits, NewGame, NewSeat, REMEMBERED_EACH, Recall, Request, Revision, decide,
};
use banqi::rules::{Preset, Seat};

use super::support::{START, create, entropy, new_game, seat, summary};

fn request(seat: Option<Seat>, id: &str) -> Request {
    let caller = seat.map_or("platform".to_owned(), |seat| format!("seat {seat}"));
    Request::new(caller.as_bytes(), seat, id, b"body")
}

fn run(game: &Game, command: &Command, request: Request) -> Game {
    let change = decide(game, command, START, &Limits::default()).expect("may be");
    game.after(&change, Some(request)).expect("can be done")
}

/// The seat to move plays the first legal action.
fn play_on(game: &Game, request: Request) -> Game {
    let action = game.referee().legal_actions()[0];
    run(game, &Command::Play { seat: game.position().to_move(), action }, request)
}

#[test]
fn a_repeated_request_is_recognised_by_caller_id_and_body() {
    let game = create(new_game(Preset::Taiwanese));
    let first = Request::new(b"caller", Some(seat(1)), "id", b"body");
    assert_eq!(game.recall(&first), None);
    let game = play_on(&game, first);
    assert_eq!(game.recall(&first), Some(Recall::Done(Revision(2))));
    let with = |caller: &[u8], id, body: &[u8]| {
        game.recall(&Request::new(caller, Some(seat(1)), id, body))
    };
    assert_eq!(with(b"caller", "id", b"another"), Some(Recall::Reused));
    assert_eq!(with(b"another", "id", b"body"), None);
    assert_eq!(with(b"caller", "another", b"body"), None);
    assert_eq!(with(b"calleri", "d", b"body"), None, "joined to the same text");
}

#[test]
fn the_answer_to_a_repeated_request_is_the_game_as_it_was() {
    let mut games = vec![create(new_game(Preset::Taiwanese))];
    for number in 0..20 {
        let game = games.last().expect("a game");
        let request = request(Some(game.position().to_move()), &number.to_string());
        games.push(play_on(game, request));
    }
    let last = games.last().expect("a game");
    for game in &games {
        let then = last.as_at(game.version().revision).expect("a revision that it has");
        assert_eq!(summary(&then), summary(game));
        assert_eq!(then.stored().log, game.stored().log);
    }
    assert!(last.as_at(Revision(0)).is_none());
    assert!(last.as_at(last.version().revision.next()).is_none());
}

#[test]
fn the_player_of_an_open_seat_is_not_shown_before_the_join() {
    let seats = vec![NewSeat::Assigned(None), NewSeat::Open];
    let game = create(NewGame { seats, ..new_game(Preset::Taiwanese) });
    let command = Command::Join { seat: None, player: "b".parse().ok(), entropy: None };
    let joined = run(&game, &command, request(None, "join"));
    let before = joined.as_at(Revision(1)).expect("a revision that it has");
    assert_eq!(summary(&before), summary(&game));
    assert!(before.player(seat(2)).is_none() && joined.player(seat(2)).is_some());
}

#[test]
fn each_seat_s_last_requests_and_those_of_creation_and_joins_are_remembered() {
    let seats = vec![NewSeat::Assigned(None), NewSeat::Open];
    let creation = request(None, "create");
    let new = NewGame { seats, request: Some(creation), ..new_game(Preset::Taiwanese) };
    let game = create(new);
    let join = request(None, "join");
    let command = Command::Join { seat: None, player: None, entropy: None };
    let game = run(&game, &command, join);
    let platform = request(None, "entropy");
    let command = Command::AddEntropy { seat: seat(1), entropy: entropy(b"x") };
    let mut game = run(&game, &command, platform);
    let mut of_seat_1 = Vec::new();
    for number in 0..40 {
        let to_move = game.position().to_move();
        let request = request(Some(to_move), &format!("{number}"));
        game = play_on(&game, request);
        if to_move == seat(1) {
            of_seat_1.push((request, game.version().revision));
        }
    }
    assert_eq!(game.recall(&creation), Some(Recall::Done(Revision(1))));
    assert_eq!(game.recall(&join), Some(Recall::Done(Revision(2))));
    assert_eq!(game.recall(&platform), Some(Recall::Done(Revision(3))));
    let forgotten = of_seat_1.len() - REMEMBERED_EACH;
    for (index, (request, revision)) in of_seat_1.into_iter().enumerate() {
        let expected = (index >= forgotten).then_some(Recall::Done(revision));
        assert_eq!(game.recall(&request), expected, "request {index}");
    }
}
