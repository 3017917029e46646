//! The seal itself, without a service: what it opens for, and what it does not.

use banqi::game::{Game, GameId};
use banqi::rules::Preset;
use banqi::store::codec::{CodecError, RecordCodec, RecordFormat, SealedWithoutKeys};
use banqi::store::{Options, Record};

use crate::replicas::{keys, plain, sealed};

#[path = "../game/support.rs"]
#[allow(dead_code)]
pub(crate) mod games;

fn game() -> Game {
    games::create(games::new_game(Preset::Taiwanese))
}

#[test]
fn what_is_sealed_opens_with_its_key_wherever_that_stands_and_with_no_other() {
    let game = game();
    let record = sealed("AB").write(game.stored()).expect("randomness");
    assert_eq!((record.format, record.version), (2, game.version()));
    for opening in [sealed("A"), sealed("BA"), plain("A"), plain("CBA")] {
        assert_eq!(opening.read(game.id(), &record).as_ref(), Ok(game.stored()));
        assert_eq!(opening.read_on(game.stored(), &record).as_ref(), Ok(game.stored()));
    }
    for other in [sealed("B"), plain("CB"), RecordCodec::default()] {
        let fault = other.read(game.id(), &record).expect_err("another key");
        assert!(matches!(fault, CodecError::UnknownSealKey { .. }), "{fault}");
        assert!(!fault.is_newer());
    }
    let older = RecordCodec::of_the_first_release().read(game.id(), &record).expect_err("newer");
    assert!(older.is_newer() && older.to_string().contains("formats up to 1"), "{older}");
}

#[test]
fn every_format_is_read_whichever_is_written() {
    let game = game();
    for writing in [RecordCodec::default(), plain("A"), sealed("A")] {
        let record = writing.write(game.stored()).expect("randomness");
        assert_eq!(record.format, writing.format().number());
        for reading in [plain("A"), sealed("A")] {
            assert_eq!(reading.read(game.id(), &record).as_ref(), Ok(game.stored()));
        }
    }
}

#[test]
fn nothing_of_a_sealed_record_can_be_changed_and_none_opens_elsewhere() {
    let game = game();
    let codec = sealed("A");
    let record = codec.write(game.stored()).expect("randomness");
    let value = [&record.header()[..], &record.payload[..]].concat();
    let read = |id: &GameId, value: Vec<u8>| {
        let record = Record::from_stored(value.into()).expect("as long as a header");
        codec.read(id, &record)
    };
    for at in 0..value.len() {
        for bit in 0..8 {
            let mut changed = value.clone();
            changed[at] ^= 1 << bit;
            assert!(read(game.id(), changed).is_err(), "bit {bit} of byte {at}");
        }
        if at >= Record::HEADER_LENGTH {
            assert!(read(game.id(), value[..at].to_vec()).is_err(), "cut to {at} bytes");
        }
    }
    assert!(read(game.id(), [&value[..], &[0]].concat()).is_err());
    let other = "game-2".parse().expect("an id");
    let fault = read(&other, value.clone()).expect_err("another game's");
    assert!(matches!(fault, CodecError::SealBroken { .. }), "{fault}");
    assert!(read(game.id(), value).is_ok());
}

#[test]
fn the_same_record_is_never_sealed_twice_alike() {
    let game = game();
    let seal = || sealed("A").write(game.stored()).expect("randomness").payload;
    let (one, other) = (seal(), seal());
    assert_eq!(one[..4], other[..4], "the same key");
    let same = one[4..].iter().zip(&other[4..]).filter(|(one, other)| one == other).count();
    assert!(same < one.len() / 8, "{same} of {} bytes are alike", one.len());
    let unsealed = RecordCodec::default().write(game.stored()).expect("nothing is drawn");
    assert_eq!(one.len(), unsealed.payload.len() + 44, "docs/operations.md says how much longer");
}

#[test]
fn there_is_no_sealing_without_a_key_and_nothing_secret_is_printed() {
    let refused = RecordCodec::new(RecordFormat::Two, None).expect_err("no keys");
    assert_eq!(refused, SealedWithoutKeys(RecordFormat::Two));
    let options = Options { records: sealed("AB"), ..Options::default() };
    let printed = format!("{options:?} {:?} {}", keys("AB"), keys("AB"));
    for secret in ["AAAA", "QUFB", "65, 65", "0x41, 0x41", "BBBB", "QkJC", "66, 66"] {
        assert!(!printed.contains(secret), "{printed}");
    }
}
