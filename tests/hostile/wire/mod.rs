//! Every method of every service, called with arbitrary messages: whatever is sent, the fault is the
//! caller's, it is told with a reason of the catalogue, and the service lives.

mod client;
mod messages;

use std::collections::BTreeMap;

use banqi::api::error::Reason;
use banqi::api::proto::DESCRIPTORS;
use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use tonic::{Code, Status};

use self::client::{Answer, Client};
use self::messages::{Descriptors, Method, Right};
use crate::factor;
use crate::frames::message;
use crate::support::refusal;
use crate::target::Target;

/// How many messages are made up for each method, and how many of bytes alone.
const MESSAGES: usize = 150;
const BYTES: usize = 50;

/// After how many messages there are new games, since those before may have ended.
const FRESH: usize = 150;

const GRPC: &str = "application/grpc";

fn descriptors() -> Descriptors {
    Descriptors::read(&[DESCRIPTORS, tonic_health::pb::FILE_DESCRIPTOR_SET])
}

/// Its seed, which `BANQI_HOSTILE_SEED` sets.
fn random() -> Xoshiro256PlusPlus {
    let seed = match std::env::var("BANQI_HOSTILE_SEED") {
        Ok(text) => text.parse().unwrap_or_else(|e| panic!("BANQI_HOSTILE_SEED={text}: {e}")),
        Err(_) => rand::random(),
    };
    println!("BANQI_HOSTILE_SEED={seed}");
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// Checks a refusal; answers its reason.
fn check(method: &Method, status: &Status) -> Reason {
    let (code, name, _) = refusal(status);
    let reason = Reason::ALL.iter().copied().find(|reason| reason.name() == name);
    let reason = reason.unwrap_or_else(|| panic!("{name} is not in docs/errors.md: {status:?}"));
    assert_eq!(code, reason.code(), "{method:?}: {status:?}");
    let is_ours = matches!(
        code,
        Code::Internal | Code::Unknown | Code::DataLoss | Code::Unavailable | Code::Cancelled
    );
    let is_late = code == Code::DeadlineExceeded && !method.waits;
    assert!(!is_ours && !is_late, "{method:?}: the service's own fault: {status:?}");
    reason
}

/// Checks that nothing went wrong at the service.
async fn check_health(target: &Target) {
    for reason in ["INTERNAL", "RECORD_BROKEN"] {
        let label = format!("reason=\"{reason}\"");
        assert_eq!(target.sum("banqi_refused_calls_total", &label).await, 0.0, "{reason}");
    }
    target.create().await;
}

/// Texts of which each is right for a field, about two games with which anything may be done.
async fn right(target: &Target) -> Right {
    let mut games = GameServiceClient::new(target.channel().await);
    let seats = ["anna", "bert"].map(|player| v1::NewSeat {
        player_id: player.to_owned(),
        claim: v1::SeatClaim::Assigned.into(),
    });
    let mut right: Right = BTreeMap::new();
    for seats in [seats.to_vec(), Vec::new()] {
        let request = v1::CreateGameRequest { seats, ..Default::default() };
        let created = games.create_game(request).await.expect("created").into_inner();
        let game = created.game.expect("a game");
        right.entry("game_id").or_default().push(game.game_id.clone());
        right.entry("game_ids").or_default().push(game.game_id);
        for field in ["etag", "after_etag"] {
            right.entry(field).or_default().extend([game.etag.clone(), String::new()]);
        }
        let tokens = created.seat_tokens.into_iter().map(|it| it.token);
        right.entry("seat_token").or_default().extend(tokens);
    }
    let words: [(&'static str, &[&str]); 12] = [
        ("preset", &["TAIWANESE", "DOUBLE_FOUR", "TCGA", ""]),
        ("player_id", &["anna", "bert", ""]),
        ("action", &["a1", "b2", "a1-a2", "end"]),
        ("actions", &["a1", "b2", "c3", "d4"]),
        ("ladder", &["KAERHCP"]),
        ("request_id", &["936da01f-9abd-4d9d-80c7-02af85c822a8", "", ""]),
        ("deal", &["K A A E E R R H H C C P P P P P k a a e e r r h h c c p p p p p"]),
        ("cells", &["K . . . . . . . . . . . . . . . . . . . . . . . . . . . . . . k", "? K"]),
        ("colours", &["RED", "BLACK"]),
        ("key", &["event"]),
        ("value", &["cup"]),
        ("service", &["banqi.v1.GameService", ""]),
    ];
    for (field, texts) in words {
        right.insert(field, texts.iter().map(ToString::to_string).collect());
    }
    right
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_any_fields_are_never_the_services_fault() {
    let mut random = random();
    let target = Target::start(&[]).await;
    let client = Client::connect(target.address()).await;
    let descriptors = descriptors();
    let mut texts = right(&target).await;
    let mut served: BTreeMap<&str, usize> = BTreeMap::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sent = 0;
    for _ in 0..MESSAGES * factor() {
        for method in &descriptors.methods {
            if sent % FRESH == 0 {
                texts = right(&target).await;
            }
            sent += 1;
            let request = descriptors.request(method, &texts, &mut random);
            match client.call(method, GRPC, message(&request)).await {
                Answer::Served => *served.entry(&method.path).or_default() += 1,
                Answer::Refused(status) => {
                    *reasons.entry(check(method, &status).name()).or_default() += 1;
                }
                Answer::Http(status) => panic!("{method:?}: HTTP {status}"),
            }
        }
    }
    check_health(&target).await;
    println!("{sent} messages; served: {served:#?}; refused: {reasons:#?}");
    // Random play does not get everywhere, but must not stay at the door.
    let all: usize = served.values().sum();
    assert!(all > sent / 50 && 2 * served.len() > descriptors.methods.len(), "{served:?}");
    assert!(reasons.len() > 10, "{reasons:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_that_are_no_message_are_told_as_such() {
    let mut random = random();
    let target = Target::start(&[]).await;
    let client = Client::connect(target.address()).await;
    for method in &descriptors().methods {
        for _ in 0..BYTES * factor() {
            let length = random.random_range(0..200);
            let bytes: Vec<u8> = (0..length).map(|_| random.random()).collect();
            match client.call(method, GRPC, message(&bytes)).await {
                Answer::Served => {}
                Answer::Refused(status) => {
                    check(method, &status);
                }
                Answer::Http(status) => panic!("{method:?}: {bytes:?}: HTTP {status}"),
            }
        }
        let valid = [0; 5];
        let too_large = [&[0], &(8_u32 << 20).to_be_bytes()[..], &[0; 100]].concat();
        // Field 0, and a length that goes beyond the end.
        let framings: [(&str, Vec<u8>, Reason); 8] = [
            ("no message", Vec::new(), Reason::MalformedMessage),
            ("field 0", message(&[2, 1, 1]), Reason::MalformedMessage),
            ("too short", message(&[10, 100, 1]), Reason::MalformedMessage),
            ("half a prefix", valid[..3].to_vec(), Reason::MalformedMessage),
            ("less than its prefix says", [0, 0, 0, 0, 9, 1].to_vec(), Reason::MalformedMessage),
            ("a wrong flag", [7, 0, 0, 0, 0].to_vec(), Reason::MalformedMessage),
            ("compressed", [1, 0, 0, 0, 0].to_vec(), Reason::MalformedMessage),
            ("too large", too_large, Reason::MessageTooLarge),
        ];
        for (what, body, expected) in framings {
            match client.call(method, GRPC, body).await {
                Answer::Refused(status) => {
                    assert_eq!(check(method, &status), expected, "{what}: {method:?}: {status:?}");
                }
                other => panic!("{what}: {method:?}: {other:?}"),
            }
        }
        for content_type in ["text/plain", "application/json", ""] {
            match client.call(method, content_type, valid.to_vec()).await {
                Answer::Http(status) => assert_eq!(status, 415, "{content_type}: {method:?}"),
                other => panic!("{content_type}: {method:?}: {other:?}"),
            }
        }
    }
    check_health(&target).await;
}
