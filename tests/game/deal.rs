//! The deal is provably fair: committed to, derived as documented, uniform.

use std::process::Command as Process;

use banqi::game::{
    Command, Commitment, DealSource, Game, GameId, GameKey, GameState, NewSeat, Refusal, Seating,
    ServerSeed, derive_deal,
};
use banqi::rules::{Action, BoardSize, Deal, Piece, Preset, Square};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::support::{START, create, entropy, new_game, play, run, seat};

#[derive(Deserialize)]
struct Case {
    board: String,
    game_id: String,
    server_seed: String,
    entropies: Vec<String>,
    commitment: String,
    deal: String,
    seating: Vec<u8>,
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

fn cases() -> Vec<Case> {
    let vectors = include_str!("../vectors/deals.jsonl");
    let cases: Vec<Case> =
        vectors.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    assert!(cases.len() >= 60);
    cases
}

#[test]
fn deals_are_those_of_the_vectors() {
    for case in cases() {
        let preset = match (case.board.as_str(), case.entropies.len()) {
            ("SINGLE", 2) => Preset::Taiwanese,
            ("DOUBLE", 2) => Preset::Double,
            ("DOUBLE", 4) => Preset::DoubleFour,
            other => panic!("{other:?}"),
        };
        let seed = unhex(&case.server_seed).try_into().expect("32 bytes");
        let mut new = new_game(preset);
        new.id = case.game_id.parse().expect("an id");
        new.deal = DealSource::Derived(ServerSeed::new(seed));
        let mut game = create(new.clone());
        assert_eq!(game.commitment().expect("a derived deal").to_string(), case.commitment);
        for (index, bytes) in case.entropies.iter().enumerate().filter(|(_, e)| !e.is_empty()) {
            let (seat, entropy) = (seat(index as u8 + 1), entropy(&unhex(bytes)));
            game = run(&game, Command::AddEntropy { seat, entropy }).expect("may be added");
        }
        assert_eq!(game.revealed_deal(), None, "hidden until the end");
        assert_eq!(game.revealed_seed(), None, "hidden until the end");
        let game = play(&game, &[Action::Flip(Square::new(3).expect("d1"))]);
        let game = run(&game, Command::Resign { seat: seat(1) }).expect("may resign");
        let game = game
            .seats()
            .skip(1)
            .fold(game.clone(), |game, seat| run(&game, Command::Resign { seat }).unwrap_or(game));
        assert_eq!(game.state(), GameState::Finished);
        assert_eq!(game.revealed_deal().expect("shown").to_string(), case.deal);
        assert_eq!(game.revealed_seed().expect("shown").expose(), &seed);

        new.seating = Seating::Random;
        let players = (1..=case.seating.len()).map(|number| number.to_string());
        new.seats = players
            .map(|number| NewSeat::Assigned(Some(number.parse().expect("a player id"))))
            .collect();
        let game = create(new);
        let seating: Vec<u8> = game
            .seats()
            .map(|seat| game.player(seat).expect("seated").as_str().parse().expect("a number"))
            .collect();
        assert_eq!(seating, case.seating);
    }
}

#[test]
fn the_verifier_in_python_agrees_with_the_vectors_and_finds_faults() {
    let root = env!("CARGO_MANIFEST_DIR");
    let verify = |vectors: &str| {
        Process::new("python3")
            .arg(format!("{root}/tools/verify_deal.py"))
            .arg(vectors)
            .output()
            .expect("python3 must be installed to run the tests")
    };
    let output = verify(&format!("{root}/tests/vectors/deals.jsonl"));
    // All is right, but no commitment was kept.
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    let verdicts = String::from_utf8(output.stdout).expect("text");
    assert!(verdicts.lines().count() >= 60, "{verdicts}");
    assert!(verdicts.lines().all(|line| line.contains(": UNPROVEN: all fits")), "{verdicts}");

    let first = include_str!("../vectors/deals.jsonl").lines().next().expect("a case");
    let file = tempfile::NamedTempFile::new().expect("a file");
    let wrong = first.replacen("\"deal\":\"P P r P", "\"deal\":\"P r P P", 1);
    assert_ne!(wrong, first);
    std::fs::write(file.path(), wrong).expect("written");
    let output = verify(file.path().to_str().expect("a path"));
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("FAILED: another deal"));
}

/// Pearson's chi-square of "piece on square" over many deals, as a standard score.
///
/// Each deal holds the whole set, so squares are not independent: the statistic is
/// n/(n−1) times a chi-square of (n−1)(pieces−1) degrees of freedom, n being the squares.
fn uniformity(board: BoardSize, deals: u64) -> f64 {
    let squares: Vec<Square> = (0..board.squares() as u8).filter_map(Square::new).collect();
    let id: GameId = "uniform".parse().expect("an id");
    let mut counts = vec![[0_u64; Piece::COUNT]; squares.len()];
    for number in 0..deals {
        let hash = Sha256::new().chain_update("chi-square").chain_update(number.to_be_bytes());
        let deal = derive_deal(board, &id, &ServerSeed::new(hash.finalize().into()), [None, None]);
        for &square in &squares {
            let piece = deal.at(square).expect("a full deal");
            counts[usize::from(square.index())][piece.index()] += 1;
        }
    }
    let n = squares.len() as f64;
    let pieces: Vec<Piece> = Piece::each(board).collect();
    let mut statistic = 0.0;
    for count in &counts {
        for piece in &pieces {
            let expected = deals as f64 * f64::from(piece.kind.per_colour()) / n;
            statistic += (count[piece.index()] as f64 - expected).powi(2) / expected;
        }
    }
    let freedom = (n - 1.0) * (pieces.len() as f64 - 1.0);
    // Wilson and Hilferty: the cube root of a chi-square is nearly normal.
    let spread = 2.0 / (9.0 * freedom);
    let score = ((statistic * (n - 1.0) / n / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    println!(
        "{board:?}, {deals} deals, seeds SHA-256(\"chi-square\" ‖ number): statistic {statistic:.1}, \
         {freedom} degrees of freedom, standard score {score:.2}"
    );
    score
}

#[test]
fn every_piece_is_as_likely_on_every_square() {
    assert!(uniformity(BoardSize::Single, 100_000).abs() < 4.0);
    assert!(uniformity(BoardSize::Double, 20_000).abs() < 4.0);
}

/// Run with `cargo test --test game -- --ignored --nocapture million`.
#[test]
#[ignore = "ten seconds: cargo test --test game -- --ignored --nocapture million"]
fn every_piece_is_as_likely_on_every_square_over_a_million_deals() {
    assert!(uniformity(BoardSize::Single, 1_000_000).abs() < 4.0);
    assert!(uniformity(BoardSize::Double, 1_000_000).abs() < 4.0);
}

#[test]
fn seats_are_drawn_evenly() {
    const GAMES: u32 = 6_000;
    let mut new = new_game(Preset::DoubleFour);
    new.seating = Seating::Random;
    let names = ["a", "b", "c", "d"];
    new.seats = names.map(|name| NewSeat::Assigned(name.parse().ok())).to_vec();
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    for number in 0..GAMES {
        new.deal =
            DealSource::Derived(ServerSeed::new(Sha256::digest(number.to_be_bytes()).into()));
        let game = create(new.clone());
        let order = game.seats().filter_map(|seat| game.player(seat)).map(|id| id.as_str());
        *counts.entry(order.collect()).or_default() += 1;
    }
    assert_eq!(counts.len(), 24, "every order comes up");
    let expected = f64::from(GAMES) / 24.0;
    let statistic: f64 =
        counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
    println!("seeds SHA-256(number): chi-square {statistic:.1} with 23 degrees of freedom");
    assert!(statistic < 58.0, "beyond the 0.0001 quantile");
}

#[test]
fn each_part_of_what_a_deal_is_derived_from_changes_it() {
    let (board, id) = (BoardSize::Single, "a".parse::<GameId>().expect("an id"));
    let seed = ServerSeed::new([1; 32]);
    let (one, other) = (entropy(b"one"), entropy(b"other"));
    let deals = [
        derive_deal(board, &id, &seed, [None, None]),
        derive_deal(board, &id, &ServerSeed::new([2; 32]), [None, None]),
        derive_deal(board, &"b".parse().expect("an id"), &seed, [None, None]),
        derive_deal(board, &id, &seed, [Some(&one), None]),
        derive_deal(board, &id, &seed, [None, Some(&one)]),
        derive_deal(board, &id, &seed, [Some(&one), Some(&other)]),
        derive_deal(board, &id, &seed, [Some(&other), Some(&one)]),
    ];
    for (index, deal) in deals.iter().enumerate() {
        assert!(!deals[..index].contains(deal), "deal {index}");
    }
}

#[test]
fn a_game_that_ends_before_its_first_action_reveals_the_deal_too() {
    let game = create(new_game(Preset::Taiwanese));
    let given = entropy(b"mine");
    let game = run(&game, Command::AddEntropy { seat: seat(2), entropy: given.clone() });
    let game = run(&game.expect("may be added"), Command::Resign { seat: seat(1) });
    let game = game.expect("may resign");
    let seed = game.revealed_seed().expect("shown");
    assert_eq!(game.commitment(), Some(Commitment::to(seed)));
    let deal = derive_deal(BoardSize::Single, game.id(), seed, [None, Some(&given)]);
    assert_eq!(game.revealed_deal(), Some(deal));
}

#[test]
fn the_deal_is_fixed_by_the_first_action() {
    let game = create(new_game(Preset::Taiwanese));
    let add = Command::AddEntropy { seat: seat(1), entropy: entropy(b"late") };
    let flipped = play(&game, &[Action::Flip(Square::new(0).expect("a1"))]);
    assert_eq!(run(&flipped, add.clone()).expect_err("too late"), Refusal::DealFixed);
    let added = run(&game, add.clone()).expect("in time");
    let refusal = run(&added, add).expect_err("once a seat");
    assert_eq!(refusal, Refusal::EntropyAdded { seat: seat(1) });
}

#[test]
fn a_given_deal_takes_no_entropy_and_no_random_seating() {
    let seed = ServerSeed::new([3; 32]);
    let id: GameId = "x".parse().expect("an id");
    let deal = derive_deal(BoardSize::Single, &id, &seed, []);
    let mut new = new_game(Preset::Taiwanese);
    new.deal = DealSource::from(deal.clone());
    let game = create(new.clone());
    assert_eq!(game.commitment(), None);
    let add = Command::AddEntropy { seat: seat(1), entropy: entropy(b"x") };
    assert_eq!(run(&game, add).expect_err("nothing to add to"), Refusal::DealGiven);
    let a1 = Square::new(0).expect("a1");
    let game = play(&game, &[Action::Flip(a1)]);
    assert_eq!(game.position().piece_at(a1), deal.at(a1));

    new.seating = Seating::Random;
    new.entropy_required = true;
    new.rules = Preset::DoubleFour.rules();
    let faults = Game::create(new, START).expect_err("makes no sense");
    let fields: Vec<_> = faults.iter().map(|fault| fault.field).collect();
    assert_eq!(fields, ["seats", "deal", "seating", "entropy_required"]);
}

#[test]
fn secrets_are_not_printed() {
    let deal = "K A A E E R R H H C C P P P P P k a a e e r r h h c c p p p p p";
    let mut new = new_game(Preset::Taiwanese);
    new.deal = DealSource::from(Deal::parse(BoardSize::Single, deal).expect("a deal"));
    new.key = GameKey::new([0x5a; 32]);
    let mut derived = new.clone();
    derived.deal = DealSource::Derived(ServerSeed::new([0x5a; 32]));
    for new in [new, derived] {
        let game = create(new.clone());
        for text in [format!("{new:?}"), format!("{game:?}"), format!("{:#?}", game.stored())] {
            let compact: String = text.split_whitespace().collect();
            assert!(!compact.contains("90,90"), "bytes of a secret: {text}");
            assert!(!text.to_lowercase().contains("5a5a"), "hexadecimal of a secret: {text}");
            assert!(!text.contains("K A A") && !compact.contains("K,A,A"), "a deal: {text}");
            assert!(!compact.contains("Some(K)"), "a deal: {text}");
        }
    }
}
