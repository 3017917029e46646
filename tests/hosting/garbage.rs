//! Whatever is sent, the fault is never the service's own.

use banqi::api::proto::v1;
use bytes::BufMut as _;
use proptest::collection::vec;
use proptest::option::of as option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};

use crate::support::refusal;
use crate::table::Table;
use crate::world::{Backing, Replica, World};
use crate::writes::Write;

/// How many requests of random fields and how many of random bytes are sent.
const CASES: usize = 1500;

/// Checks that a refusal is the caller's fault, and has a reason.
fn check(what: &dyn std::fmt::Debug, status: &Status) {
    let (code, ..) = refusal(status);
    let fault = [
        Code::Internal,
        Code::Unknown,
        Code::DataLoss,
        Code::Cancelled,
        Code::Unavailable,
        Code::DeadlineExceeded,
    ];
    assert!(!fault.contains(&code), "{what:?}: {status:?}");
}

/// Texts of which some are right somewhere.
fn text(right: Vec<String>) -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        16 => select(right),
        2 => "[a-h][1-9](-[a-h][1-9])?",
        1 => "\\PC{0,80}",
        1 => any::<String>(),
        1 => "[0-9]{1,30}\\.[0-9a-f]{16}",
    ]
}

fn number() -> impl Strategy<Value = u32> + Clone {
    prop_oneof![4 => 0..5_u32, 1 => any::<u32>()]
}

fn enumerated() -> impl Strategy<Value = i32> + Clone {
    prop_oneof![4 => 0..4, 1 => any::<i32>()]
}

fn rule_set() -> impl Strategy<Value = Option<v1::RuleSet>> + Clone {
    let enums = vec(option(enumerated()), 7);
    let numbers = vec(option(number()), 4);
    let rules = (option("[KAERHCP]{0,9}"), enums, numbers, option(any::<bool>()));
    option(rules.prop_map(|(ladder, enums, numbers, chain)| v1::RuleSet {
        ladder,
        cannon: enums[0],
        equals: enums[1],
        face_down: enums[2],
        chain,
        chariot: enums[3],
        horse: enums[4],
        quiet_limit: numbers[0],
        repetition: enums[5],
        repetition_count: numbers[1],
        chase_limit: numbers[2],
        board: enums[6],
        seats: numbers[3],
    }))
}

/// Texts that are right for one field or another.
struct Right {
    games: Vec<String>,
    tokens: Vec<String>,
    etags: Vec<String>,
}

impl Right {
    async fn of(replica: &Replica) -> Self {
        let table = Table::create(replica, "TAIWANESE").await;
        let open = Write::Create(v1::CreateGameRequest {
            preset: "DOUBLE_FOUR".to_owned(),
            ..Default::default()
        });
        let open = open.send(replica).await.expect("created").game;
        let etag = replica.get(&table.id).await.etag;
        Self {
            games: vec![table.id, open.game_id, "nowhere".to_owned()],
            tokens: [table.tokens, vec![String::new()]].concat(),
            etags: vec![etag, open.etag, String::new(), String::new(), String::new()],
        }
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// A write of any kind with any fields.
fn write(right: &Right) -> impl Strategy<Value = Write> + use<> {
    let game = || text(right.games.clone());
    let player = || text(words(&["", "anna", "bert"]));
    let request = || text(words(&["", "", "936da01f-9abd-4d9d-80c7-02af85c822a8"]));
    let new_game = prop_oneof![2 => Just(String::new()), 1 => game()];
    let preset = text(words(&["", "TAIWANESE", "DOUBLE_FOUR"]));
    let seat = (player(), enumerated());
    let seat = seat.prop_map(|(player_id, claim)| v1::NewSeat { player_id, claim });
    let seats = prop_oneof![Just(Vec::new()), vec(seat, 0..5)];
    let labels = proptest::collection::btree_map(player(), player(), 0..2);
    let texts = (new_game, preset, request());
    let creation = (texts, rule_set(), seats, labels, enumerated(), any::<bool>()).boxed();

    let action = text(words(&["a1", "b1", "c1", "h4", "a1-a2", "end"]));
    let texts = (game(), text(right.tokens.clone()), text(right.etags.clone()), request(), action);
    let action = (texts, player(), number(), any::<bool>(), vec(any::<u8>(), 0..70));
    prop_oneof![
        creation.clone().prop_map(|(texts, rules, seats, labels, seating, entropy_required)| {
            let (game_id, preset, request_id) = texts;
            Write::Create(v1::CreateGameRequest {
                game_id,
                preset,
                rules,
                seats,
                seating,
                labels,
                entropy_required,
                request_id,
                ..Default::default()
            })
        }),
        creation.prop_map(|(texts, rules, seats, labels, seating, _)| {
            let (game_id, deal, request_id) = texts;
            let start = v1::import_game_request::Start::Deal(deal);
            Write::Import(v1::ImportGameRequest {
                game_id,
                request_id,
                rules,
                seats,
                labels,
                start: (seating != 0).then_some(start),
                ..Default::default()
            })
        }),
        action.prop_map(|(texts, player_id, seat, flag, entropy)| {
            let (game_id, seat_token, etag, request_id, action) = texts;
            match (seat % 4, flag) {
                (0, _) => Write::Join(v1::JoinGameRequest {
                    game_id,
                    seat,
                    player_id,
                    entropy,
                    etag,
                    request_id,
                }),
                (1, true) => Write::Resign(v1::ResignGameRequest {
                    game_id,
                    seat_token,
                    seat,
                    etag,
                    request_id,
                }),
                (1, false) => Write::AddEntropy(v1::AddEntropyRequest {
                    game_id,
                    seat_token,
                    seat,
                    entropy,
                    etag,
                    request_id,
                }),
                _ => Write::Play(v1::PlayActionRequest {
                    game_id,
                    seat_token,
                    seat,
                    action,
                    validate_only: flag,
                    etag,
                    request_id,
                }),
            }
        }),
    ]
}

#[tokio::test]
async fn requests_of_any_fields_are_never_the_services_fault() {
    let world = World::start(Backing::Memory, 1).await;
    let replica = world.any();
    let right = Right::of(replica).await;
    // The same requests every time.
    let mut runner = TestRunner::deterministic();
    let (writes, games, etags) = (write(&right), text(right.games), text(right.etags));
    let mut served = 0;
    for _ in 0..CASES {
        let write = writes.new_tree(&mut runner).expect("a value").current();
        match write.send(replica).await {
            Ok(_) => served += 1,
            Err(status) => check(&write, &status),
        }
        let game_id = games.new_tree(&mut runner).expect("a value").current();
        let after = etags.new_tree(&mut runner).expect("a value").current();
        match replica.watch(&game_id, &after).await {
            Ok(mut watch) => {
                watch.message().await.expect("no error").expect("a message");
            }
            Err(status) => check(&(&game_id, &after), &status),
        }
        let view = enumerated().new_tree(&mut runner).expect("a value").current();
        let request = v1::BatchGetGamesRequest { game_ids: vec![game_id, after], view };
        if let Err(status) = replica.games().batch_get_games(request.clone()).await {
            check(&request, &status);
        }
    }
    println!("{served} of {CASES} writes were served");
    assert!(served > 20, "some of it is right");
}

/// Sends bytes as they are.
#[derive(Clone, Copy, Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = ();
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, bytes: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&bytes);
        Ok(())
    }
}

impl Decoder for Raw {
    type Item = ();
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<()>, Status> {
        use bytes::Buf as _;
        buffer.advance(buffer.remaining());
        Ok(Some(()))
    }
}

#[tokio::test]
async fn requests_of_any_bytes_are_never_the_services_fault() {
    let world = World::start(Backing::Memory, 1).await;
    let channel = &world.any().channel;
    let methods = [
        "GameService/CreateGame",
        "GameService/JoinGame",
        "GameService/AddEntropy",
        "GameService/GetGame",
        "GameService/BatchGetGames",
        "GameService/ListLegalActions",
        "GameService/PlayAction",
        "GameService/ResignGame",
        "GameService/WatchGame",
        "GameService/GetFairnessProof",
        "GameService/ExportGame",
        "PlatformService/ImportGame",
    ];
    let mut runner = TestRunner::deterministic();
    // Keys of fields 1 to 8 with lengths, or anything.
    let field = (1..=8_u8, vec(any::<u8>(), 0..20)).prop_map(|(field, content)| {
        [&[field << 3 | 2, content.len() as u8], &content[..]].concat()
    });
    let fields = vec(field, 0..4).prop_map(|fields| fields.concat());
    let bytes = prop_oneof![fields, vec(any::<u8>(), 0..40)];
    for _ in 0..CASES / methods.len() {
        for method in methods {
            let message = bytes.new_tree(&mut runner).expect("a value").current();
            let mut grpc = tonic::client::Grpc::new(channel.clone());
            grpc.ready().await.expect("connected");
            let path: PathAndQuery = format!("/banqi.v1.{method}").parse().expect("a path");
            let answer = grpc.unary(Request::new(message.clone()), path, Raw).await;
            if let Err(status) = answer {
                check(&(method, message), &status);
            }
        }
    }
}
