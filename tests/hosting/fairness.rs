//! The deal is provably fair: committed to, hidden until the end, and then checked by others.

use std::io::Write as _;
use std::process::Command as Process;

use banqi::api::export::Hexadecimal;
use banqi::api::proto::v1;
use banqi::game::{Entropy, GameId, ServerSeed, derive_deal};
use banqi::rules::BoardSize;
use rstest::rstest;
use serde_json::json;

use crate::table::{Table, seat, to_move};
use crate::world::{Backing, Replica, World};
use crate::writes::Write;

async fn proof(replica: &Replica, id: &str) -> v1::GetFairnessProofResponse {
    let request = v1::GetFairnessProofRequest { game_id: id.to_owned() };
    replica.games().get_fairness_proof(request).await.expect("a proof").into_inner()
}

/// A game whose seats were drawn, played a little and ended; as a case of the verifier in Python.
async fn played(world: &World, preset: &str, entropies: &[&[u8]]) -> serde_json::Value {
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let names = (1..=entropies.len()).map(|number| number.to_string());
    let request = v1::CreateGameRequest {
        preset: preset.to_owned(),
        seats: names.map(|name| seat(v1::SeatClaim::Assigned, &name)).collect(),
        seating: v1::Seating::Random.into(),
        ..Default::default()
    };
    let created = Write::Create(request).send(one).await.expect("created");
    let commitment = created.game.commitment.clone();
    let seating: Vec<u8> = created
        .game
        .seats
        .iter()
        .map(|seat| seat.player_id.parse().expect("one of the names"))
        .collect();
    let table = Table::of(Some(created.game), created.tokens);
    for (seat, entropy) in (1..).zip(entropies).filter(|(_, entropy)| !entropy.is_empty()) {
        let add = v1::AddEntropyRequest {
            game_id: table.id.clone(),
            seat_token: table.token(seat),
            entropy: entropy.to_vec(),
            ..Default::default()
        };
        Write::AddEntropy(add).send(other).await.expect("added");
    }
    let mut game = table.play_on(one, 6).await;
    let before = proof(other, &table.id).await;
    assert_eq!(before.commitment, commitment);
    assert_eq!(before.entropies, entropies);
    assert_eq!((before.server_seed.len(), before.deal.as_str()), (0, ""), "hidden until the end");
    while game.result.is_none() {
        game = table.resign(one, to_move(&game)).await;
    }
    let after = proof(other, &table.id).await;
    assert_eq!((&after.commitment, &after.entropies), (&commitment, &before.entropies));

    // As this crate derives it, from what everyone is told.
    let id: GameId = table.id.parse().expect("an id");
    let seed = ServerSeed::new(after.server_seed.clone().try_into().expect("32 bytes"));
    let board = if preset == "TAIWANESE" { BoardSize::Single } else { BoardSize::Double };
    let entropies: Vec<Option<Entropy>> =
        after.entropies.iter().map(|bytes| Entropy::new(bytes).ok()).collect();
    let deal = derive_deal(board, &id, &seed, entropies.iter().map(Option::as_ref));
    assert_eq!(after.deal, deal.to_string());
    // And as it turned out on the board.
    let pieces: Vec<&str> = after.deal.split(' ').collect();
    for entry in one.get(&table.id).await.log {
        let Some(v1::log_entry::Event::Played(record)) = entry.event else { continue };
        if record.kind() == v1::RecordKind::Flip {
            let square = record.text.split('(').next().expect("a square");
            let square: banqi::rules::Square = square.parse().expect("a square");
            let piece = pieces[usize::from(square.index())];
            assert_eq!(record.text, format!("{square}({piece})"));
        }
    }

    json!({
        "board": if board == BoardSize::Single { "SINGLE" } else { "DOUBLE" },
        "game_id": table.id,
        "server_seed": Hexadecimal(after.server_seed.clone()),
        "entropies": after.entropies.iter().cloned().map(Hexadecimal).collect::<Vec<_>>(),
        "commitment": Hexadecimal(commitment.clone()),
        "deal": after.deal,
        "seating": seating,
    })
}

fn verify(cases: &[serde_json::Value]) -> std::process::Output {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    for case in cases {
        writeln!(file, "{case}").expect("written");
    }
    Process::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tools/verify_deal.py"))
        .arg(file.path())
        .output()
        .expect("python3 must be installed to run the tests")
}

#[rstest]
#[tokio::test]
async fn a_verifier_that_shares_no_code_agrees(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let mut cases = Vec::new();
    let pairs: [[&[u8]; 2]; 3] = [[b"first", b"second"], [b"", b"alone"], [b"", b""]];
    for entropies in pairs {
        cases.push(played(&world, "TAIWANESE", &entropies).await);
        cases.push(played(&world, "DOUBLE", &entropies).await);
    }
    let long = [7_u8; 64];
    let entropies: [&[u8]; 4] = [b"a", b"", &long, b"d"];
    for _ in 0..3 {
        cases.push(played(&world, "DOUBLE_FOUR", &entropies).await);
    }
    let output = verify(&cases);
    // All is right, but no commitment was kept.
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));

    // It would find a seating that was not drawn.
    let mut forged = cases[8].clone();
    let seating = forged["seating"].as_array_mut().expect("a list");
    seating.swap(0, 1);
    let output = verify(&[forged]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another seating"));
}
