//! Seat tokens: one a seat, of one game, and hard to guess.

use std::collections::BTreeSet;

use banqi::game::{Command, GameKey, NewGame, NewSeat, SeatToken};
use banqi::rules::Preset;

use super::support::{create, new_game, run, seat};

#[test]
fn a_token_says_which_seat_acts() {
    let game = create(new_game(Preset::DoubleFour));
    for seat in game.seats() {
        let text = game.token(seat).expect("a seat that is taken").expose();
        assert_eq!(text.len(), 48);
        let token: SeatToken = text.parse().expect("a token");
        assert_eq!(game.authenticate(&token), Some(seat));
    }
}

#[test]
fn a_token_is_for_one_game_one_key_one_seat_and_one_generation() {
    let key = GameKey::new([1; 32]);
    let id = "game".parse().expect("an id");
    let mut texts = BTreeSet::new();
    for key in [key, GameKey::new([2; 32])] {
        for id in [&id, &"other".parse().expect("an id")] {
            for seat in [seat(1), seat(2)] {
                for generation in [0, 1, 256] {
                    texts.insert(SeatToken::derive(&key, id, seat, generation).expose());
                }
            }
        }
    }
    assert_eq!(texts.len(), 24);
}

#[test]
fn no_other_token_is_accepted() {
    let game = create(new_game(Preset::Taiwanese));
    let right = game.token(seat(1)).expect("taken").expose();
    let other =
        create(NewGame { id: "game-2".parse().expect("an id"), ..new_game(Preset::Taiwanese) });
    let foreign = other.token(seat(1)).expect("taken");
    assert_eq!(game.authenticate(&foreign), None);
    // Every change of one character is either no token or not the right one.
    for index in 0..right.len() {
        let mut text = right.clone().into_bytes();
        text[index] = if text[index] == b'A' { b'B' } else { b'A' };
        let text = String::from_utf8(text).expect("ASCII");
        let seat = text.parse().ok().and_then(|token| game.authenticate(&token));
        assert_eq!(seat, None, "character {index}");
    }
    for text in ["", "bqs_", "bqs_AQ", &right[4..], &format!("{right}A"), &format!("{right}=")] {
        assert!(text.parse::<SeatToken>().is_err(), "{text}");
    }
}

#[test]
fn a_seat_has_a_token_once_it_is_taken() {
    let seats = vec![NewSeat::Assigned(None), NewSeat::Open];
    let game = create(NewGame { seats, ..new_game(Preset::Taiwanese) });
    assert!(game.token(seat(2)).is_none());
    assert!(game.token(seat(3)).is_none());
    let stored = game.stored();
    let early = SeatToken::derive(&stored.facts.key, &stored.id, seat(2), 0);
    assert_eq!(game.authenticate(&early), None);
    let command = Command::Join { seat: None, player: None, entropy: None };
    let game = run(&game, command).expect("open");
    assert_eq!(game.authenticate(&early), Some(seat(2)));
}

#[test]
fn a_token_is_not_printed() {
    let token = create(new_game(Preset::Taiwanese)).token(seat(1)).expect("taken");
    assert_eq!(format!("{token:?}"), "SeatToken(seat 1, secret)");
    let fault = format!("{}x", token.expose()).parse::<SeatToken>().expect_err("no token");
    assert!(!fault.to_string().contains(&token.expose()[4..]));
}
