//! Floods of calls: many, reset at once, cancelled, and watches that nobody reads.

use std::process::Command;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use futures_util::future::join_all;
use prost::Message as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use tokio::time::{Instant, interval, timeout};

use crate::bystander::{LASTS, flood};
use crate::factor;
use crate::frames::{
    END_HEADERS, HEADERS, RST_STREAM, call, call_headers, connect_and_send, frame, opening, send,
};
use crate::target::Target;

const MIB: u64 = 1024 * 1024;

/// Connections, and calls over all of them, of the plain flood.
const CONNECTIONS: usize = 200;
const CALLS: usize = 20_000;

/// `h2load` calls the cheapest method that there is, over each connection without a pause.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_calls_is_answered_and_so_are_others() {
    let target = Target::start(&[]).await;
    let before = target.state().await;
    let body = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(body.path(), [0; 5]).expect("an empty message");
    let calls = CALLS * factor();
    let mut command = Command::new("h2load");
    command
        .args(["-c", &CONNECTIONS.to_string(), "-n", &calls.to_string(), "-m", "1", "-t", "1"])
        .arg("-d")
        .arg(body.path())
        .args(["-H", "content-type: application/grpc", "-H", "te: trailers"])
        .arg(format!("http://{}/banqi.v1.RulesService/ListPresets", target.address()));
    let run = tokio::task::spawn_blocking(move || command.output());
    let output = flood(&target, "calls", before, 96 * MIB, run).expect("no panic");
    let output = output.expect("h2load runs: install nghttp2-client, or run `./test`");
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains(&format!("{calls} succeeded, 0 failed")), "{told}");
    // What h2load does not look at: whether an answer is a refusal.
    let answered =
        target.sum("grpc_server_handled_total", "\"ListPresets\",grpc_code=\"OK\"").await;
    assert_eq!(answered, calls as f64);
    assert!(target.sum("banqi_connections_accepted_total", "").await >= CONNECTIONS as f64);
    target.until_calm(before).await;
}

/// Streams that are opened and reset in one breath, over connections that are opened anew where the
/// service closes them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rapid_resets_end_their_own_connections_alone() {
    const RESETS: u32 = 40_000;
    const BURST: u32 = 2_000;
    // Twenty thousand a second: as many as can be sent are a flood of the machine's processors.
    const PACE: Duration = Duration::from_millis(100);
    let target = Target::start(&[]).await;
    let before = target.state().await;
    let headers = call_headers("/banqi.v1.RulesService/ListPresets");
    let cancel = 8_u32.to_be_bytes();
    let burst: Vec<u8> = (0..BURST)
        .flat_map(|number| {
            let stream = 2 * number + 1;
            let headers = frame(HEADERS, END_HEADERS, stream, &headers);
            [headers, frame(RST_STREAM, 0, stream, &cancel)].concat()
        })
        .collect();
    let least = RESETS / BURST * u32::try_from(factor()).expect("a small factor");
    let reset = async {
        let (mut bursts, mut cut) = (0, 0);
        let begun = Instant::now();
        let mut pace = interval(PACE);
        while bursts < least || begun.elapsed() < LASTS {
            pace.tick().await;
            bursts += 1;
            let mut stream = connect_and_send(target.address(), &opening()).await;
            // Where the service has closed the connection, the rest does not go out.
            if !send(&mut stream, &burst).await {
                cut += 1;
            }
        }
        (bursts, cut)
    };
    let (bursts, cut) = flood(&target, "resets", before, 64 * MIB, reset);
    println!(
        "{} streams were reset; {cut} of {bursts} connections did not take them all",
        bursts * BURST
    );
    target.until_calm(before).await;
}

/// Calls that are given up at any moment, before they were sent or while they are answered.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_calls_leave_nothing() {
    const CANCELLED: usize = 20_000;
    const CLIENTS: usize = 16;
    let target = Target::start(&[]).await;
    let game = target.create().await;
    let before = target.state().await;
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let each = CANCELLED * factor() / CLIENTS;
    let cancel = async |number: usize| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(number as u64));
        let mut games = GameServiceClient::new(target.channel().await);
        let mut answered = 0;
        for call in 0..each {
            let limit = Duration::from_micros(random.random_range(0..2_000));
            let is_answered = if call % 4 == 0 {
                let request = v1::CreateGameRequest::default();
                timeout(limit, games.create_game(request)).await.is_ok()
            } else {
                let request =
                    v1::GetGameRequest { game_id: game.game_id.clone(), ..Default::default() };
                timeout(limit, games.get_game(request)).await.is_ok()
            };
            answered += usize::from(is_answered);
        }
        answered
    };
    let flooding = join_all((0..CLIENTS).map(cancel));
    let answered: usize = flood(&target, "cancelled", before, 64 * MIB, flooding).iter().sum();
    let cancelled = target.sum("grpc_server_handled_total", "grpc_code=\"CANCELLED\"").await;
    println!(
        "of {} calls {answered} were answered, {cancelled} cancelled at the service",
        CLIENTS * each
    );
    assert!(cancelled > 0.0, "the metrics tell of them");
    target.until_calm(before).await;
}

/// Watches over connections that take whatever comes into their windows, and never read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn watches_that_nobody_reads_cost_a_bounded_amount() {
    const PEERS: usize = 5;
    const STREAMS: usize = 20;
    const EVENTS: u32 = 3_000;
    let target = Target::start(&[]).await;
    let game = target.create().await;
    let before = target.state().await;
    let request = v1::WatchGameRequest { game_id: game.game_id.clone(), ..Default::default() };
    let request = request.encode_to_vec();
    let watches: Vec<u8> = (0..STREAMS as u32)
        .flat_map(|number| call(2 * number + 1, "/banqi.v1.GameService/WatchGame", &request))
        .collect();
    let opening = [opening(), watches].concat();
    let happen = async {
        let peers: Vec<_> =
            join_all((0..PEERS).map(|_| connect_and_send(target.address(), &opening))).await;
        target
            .until("all watch", Duration::from_secs(10), async || {
                let watchers = target.sum("banqi_watchers", "").await;
                (watchers >= (PEERS * STREAMS) as f64).then_some(()).ok_or(format!("{watchers}"))
            })
            .await;
        let mut games = GameServiceClient::new(target.channel().await);
        let begun = Instant::now();
        for event in 0..EVENTS {
            let seat = 1 + event % 2;
            let game_id = game.game_id.clone();
            let request = v1::ReissueSeatTokenRequest { game_id, seat, ..Default::default() };
            games.reissue_seat_token(request).await.expect("replaced");
        }
        println!("{EVENTS} events in {:?}", begun.elapsed());
        drop(peers);
    };
    // A stream whose peer does not read holds at most 400 KiB of frames for it, which take some more;
    // there is more than twice as much to tell.
    let most = (PEERS * STREAMS) as u64 * MIB + 32 * MIB;
    flood(&target, "unread watches", before, most, happen);
    target.until_calm(before).await;
    assert_eq!(target.sum("banqi_watchers", "").await, 0.0);
}
