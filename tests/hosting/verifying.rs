//! What `banqi verify` and the verifier in Python say of exports, true and tampered with.

use std::process::{Command, Output};

use banqi::api::export::{GameDocument, Hexadecimal, Verdict};
use banqi::api::proto::v1;
use rstest::rstest;
use serde_json::{Value, json};

use crate::exports::export;
use crate::imports::{import, of_record};
use crate::table::{Table, assigned, seat, to_move};
use crate::world::{Backing, Replica, World};
use crate::writes::Write;

/// A finished game with entropy, as JSON, and the commitment that its players kept.
async fn finished(replica: &Replica) -> (String, String) {
    let request = v1::CreateGameRequest {
        seats: vec![seat(v1::SeatClaim::Assigned, "anna"), seat(v1::SeatClaim::Assigned, "bert")],
        ..Default::default()
    };
    let created = Write::Create(request).send(replica).await.expect("created");
    let kept = Hexadecimal(created.game.commitment.clone()).to_string();
    let table = Table::of(Some(created.game), created.tokens);
    let add = v1::AddEntropyRequest {
        game_id: table.id.clone(),
        seat: 1,
        entropy: b"dice".to_vec(),
        ..Default::default()
    };
    Write::AddEntropy(add).send(replica).await.expect("added");
    let game = table.play_on(replica, 6).await;
    table.resign(replica, to_move(&game)).await;
    (export(replica, &table.id, v1::ExportFormat::Json).await, kept)
}

fn verdict(text: &str, kept: Option<&str>) -> Verdict {
    let kept = kept.map(|kept| kept.parse().expect("hexadecimal"));
    GameDocument::read(text).expect("a document").verify(kept.as_ref())
}

fn banqi(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    command.arg("verify").args(arguments).env_remove("BANQI_API_KEY");
    command.output().expect("the command runs")
}

fn python(arguments: &[&str]) -> Output {
    Command::new("python3")
        // Whoever checks by assertions does not check.
        .arg("-O")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tools/verify_deal.py"))
        .args(arguments)
        .output()
        .expect("python3 must be installed to run the tests")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn file(text: &str) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("written");
    let path = file.path().to_str().expect("a path of text").to_owned();
    (file, path)
}

#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_fair_game_is_verified_where_its_commitment_was_kept(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 1).await;
    let (text, kept) = finished(world.any()).await;
    let document = GameDocument::read(&text).expect("a document");
    let (_file, path) = file(&text);
    let address = world.any().server.grpc.to_string();
    let here = [path.as_str()];
    let there = ["--server", &address, "--game", &document.game_id];
    for place in [&here[..], &there[..]] {
        let proven = banqi(&[place, &["--commitment", &kept][..]].concat());
        assert_eq!(proven.status.code(), Some(0), "{proven:?}");
        assert_eq!(said(&proven), format!("VERIFIED: {}\n", document.game_id));
        let unproven = banqi(place);
        assert_eq!(unproven.status.code(), Some(3), "{unproven:?}");
        assert!(said(&unproven).starts_with(&format!("UNPROVEN: {}: ", document.game_id)));
        let other = kept.chars().rev().collect::<String>();
        let failed = banqi(&[place, &["--json", "--commitment", &other][..]].concat());
        assert_eq!(failed.status.code(), Some(1), "{failed:?}");
        let told: Value = serde_json::from_str(&said(&failed)).expect("JSON");
        assert_eq!(told["verdict"], "FAILED");
        assert_eq!(told["difference"]["field"], "the commitment that was kept");
    }
    for (arguments, code) in
        [(&["--commitment", &kept][..], 0), (&[], 3), (&["--commitment", "00"], 1)]
    {
        let output = python(&[&here[..], arguments].concat());
        assert_eq!(output.status.code(), Some(code), "{output:?}");
    }
}

/// What somebody may do to an export.
type Tamper = fn(&mut Value);

#[tokio::test(flavor = "multi_thread")]
async fn the_verifier_in_python_is_not_fooled() {
    let world = World::start(Backing::Memory, 1).await;
    let (text, kept) = finished(world.any()).await;
    let tampers: [(&str, Tamper); 7] = [
        ("another seed", |game| game["proof"]["server_seed"] = "00".repeat(32).into()),
        ("another deal", |game| {
            let deal = game["proof"]["deal"].as_str().expect("a deal");
            let mut pieces: Vec<&str> = deal.split(' ').collect();
            pieces.reverse();
            game["proof"]["deal"] = pieces.join(" ").into();
        }),
        ("another game's proof", |game| game["proof"]["game_id"] = "another".into()),
        ("an entropy too many", |game| {
            game["proof"]["entropies"].as_array_mut().expect("a list").push("".into());
        }),
        ("a log that is missing", |game| game["log"] = Value::Array(Vec::new())),
        ("actions that are missing", |game| game["actions"] = Value::Array(Vec::new())),
        ("a record that tells nothing", |game| {
            for entry in game["log"].as_array_mut().expect("a list") {
                if let Some(record) = entry["record"].as_str() {
                    entry["record"] = record.replace('(', " (").into();
                }
            }
        }),
    ];
    let commitment = format!("--commitment={kept}");
    for (what, tamper) in tampers {
        let mut game: Value = serde_json::from_str(&text).expect("JSON");
        tamper(&mut game);
        let (_file, path) = file(&game.to_string());
        let output = python(&[&path, &commitment]);
        assert_eq!(output.status.code(), Some(1), "{what}: {output:?}");
    }
    // However it is laid out, and however Python is started.
    let game: Value = serde_json::from_str(&text).expect("JSON");
    let (_file, path) = file(&format!("{game:#}\n\n"));
    assert_eq!(python(&[&path, &commitment]).status.code(), Some(0));
    for nothing in ["{}", "[]", "null", "{\"text\": \"\"}", ""] {
        let (_file, path) = file(nothing);
        let code = python(&[&path, &commitment]).status.code();
        assert!(code == Some(1) || (nothing.is_empty() && code == Some(3)), "{nothing}: {code:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_proven_yet_or_ever_is_unproven() {
    let world = World::start(Backing::Memory, 1).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    table.play_on(world.any(), 3).await;
    let going_on = export(world.any(), &table.id, v1::ExportFormat::Json).await;
    let kept = Hexadecimal(world.any().get(&table.id).await.commitment).to_string();
    assert!(
        matches!(verdict(&going_on, Some(&kept)), Verdict::Unproven(why) if why.contains("ended"))
    );
    table.resign(world.any(), 1).await;
    let record = export(world.any(), &table.id, v1::ExportFormat::Record).await;
    let (given, _) = import(world.any(), of_record(&record)).await.expect("imported");
    let given = export(world.any(), &given.id, v1::ExportFormat::Json).await;
    assert!(
        matches!(verdict(&given, Some(&kept)), Verdict::Unproven(why) if why.contains("given"))
    );
    for text in [going_on, given] {
        let (_file, path) = file(&text);
        assert_eq!(python(&[&path]).status.code(), Some(3));
    }
}

/// Every leaf of a document, as a JSON pointer.
fn leaves(path: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| leaves(&format!("{path}/{name}"), value, found));
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(index, value)| leaves(&format!("{path}/{index}"), value, found)),
        _ => found.push(path.to_owned()),
    }
}

/// Another value of the same kind.
fn tampered(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => json!(!flag),
        Value::Number(number) => json!(number.as_u64().expect("no negative numbers") + 1),
        Value::String(text) => {
            let mut bytes = text.clone().into_bytes();
            match bytes.last_mut() {
                None => bytes.push(b'a'),
                Some(last) => *last = if *last == b'1' { b'2' } else { b'1' },
            }
            json!(String::from_utf8(bytes).expect("text"))
        }
        other => panic!("{other} is no leaf of a document"),
    }
}

/// What nothing else in this game depends on: `docs/fairness.md` says so.
const FREE: [&str; 5] = [
    "/rules/chase_limit",
    "/rules/quiet_limit",
    "/seats/0/player_id",
    "/seats/1/player_id",
    "/time_control/inactivity_ms",
];

#[tokio::test]
async fn an_export_that_was_tampered_with_fails_whatever_was_changed() {
    let world = World::start(Backing::Memory, 1).await;
    let (text, kept) = finished(world.any()).await;
    assert_eq!(verdict(&text, Some(&kept)), Verdict::Verified);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let mut paths = Vec::new();
    leaves("", &document, &mut paths);
    assert!(paths.len() > 60, "{paths:?}");
    let mut passed = Vec::new();
    for path in paths {
        let mut changed = document.clone();
        let leaf = changed.pointer_mut(&path).expect("a leaf");
        *leaf = tampered(leaf);
        let read = GameDocument::read(&changed.to_string());
        let verdict = read.map(|document| document.verify(Some(&kept.parse().expect("bytes"))));
        if !matches!(verdict, Err(_) | Ok(Verdict::Failed(_))) {
            passed.push(path);
        }
    }
    passed.sort();
    assert_eq!(passed, FREE, "what nobody noticed");
}

#[rstest]
#[case::commitment("/proof/commitment", "proof.commitment")]
#[case::seed("/proof/server_seed", "the commitment that was kept")]
#[case::entropy("/proof/entropies/0", "proof.deal")]
#[case::deal("/proof/deal", "proof.deal")]
#[case::game("/game_id", "proof.game_id")]
#[case::etag("/log/3/etag", "log[3].etag")]
#[case::time("/log/3/time", "log[3].etag")]
#[case::action("/actions/2", "actions[2]")]
#[tokio::test]
async fn what_was_tampered_with_is_named(#[case] path: &str, #[case] field: &str) {
    let world = World::start(Backing::Memory, 1).await;
    let (text, kept) = finished(world.any()).await;
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let leaf = document.pointer_mut(path).expect("a leaf");
    // Digits and letters that are right in their place, but others.
    let old = leaf.as_str().expect("text").to_owned();
    let new = match path {
        "/proof/deal" => {
            let mut pieces: Vec<&str> = old.split(' ').collect();
            let other = pieces.iter().position(|piece| *piece != pieces[0]).expect("another");
            pieces.swap(0, other);
            pieces.join(" ")
        }
        "/log/3/time" => {
            let seconds = old.find('.').unwrap_or(old.len() - 1);
            let year = if old.starts_with("2031") { "2032" } else { "2031" };
            format!("{year}{}", &old[4..seconds]) + &old[seconds..]
        }
        "/actions/2" => "h4(K)".replace('K', if old.ends_with("(K)") { "A" } else { "K" }),
        _ => tampered(leaf).as_str().expect("text").to_owned(),
    };
    assert_ne!(new, old);
    *leaf = json!(new);
    let Verdict::Failed(fault) = verdict(&document.to_string(), Some(&kept)) else {
        panic!("nobody noticed");
    };
    assert_eq!(fault.field, field, "{fault}");
}

#[rstest]
#[case::no_file(&["nowhere.json"], 1, "nowhere.json: cannot be read")]
#[case::nothing(&[], 2, "required")]
#[case::no_game(&["--server", "127.0.0.1:1"], 2, "--game")]
#[case::nobody_there(&["--server", "127.0.0.1:1", "--game", "g"], 1, "127.0.0.1:1 cannot be reached")]
#[case::no_bytes(&["x", "--commitment", "xyz"], 2, "pairs of hexadecimal digits")]
fn what_cannot_be_checked_is_told(
    #[case] arguments: &[&str],
    #[case] code: i32,
    #[case] expected: &str,
) {
    let output = banqi(arguments);
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains(expected), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_refuses_says_why() {
    let world = World::start(Backing::Memory, 1).await;
    let request = v1::CreateGameRequest { seats: assigned("TAIWANESE"), ..Default::default() };
    Write::Create(request).send(world.any()).await.expect("created");
    let address = world.any().server.grpc.to_string();
    let output = banqi(&["--server", &address, "--game", "nowhere"]);
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains(&format!("{address}: ")) && told.contains("nowhere"), "{told}");
}
