//! Peers that stop in the middle of something, and stay.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::net::TcpStream;

use crate::bystander::flood;
use crate::frames::{
    DATA, END_HEADERS, HEADERS, PREFACE, call_headers, connect_and_send, frame, message, opening,
};
use crate::target::Target;

/// How many peers stop at each place.
const PEERS: usize = 100;

const GET: &str = "/banqi.v1.GameService/GetGame";

/// How long a silent peer may stay: a keep-alive after 30 s, and 20 s to answer it; the rest is for a
/// busy machine.
const STAY: Duration = Duration::from_secs(60);

/// How long a peer may take to say what it speaks, and how much longer on a busy machine.
const OPENING: Duration = Duration::from_secs(20);

async fn stop_after(target: &Target, bytes: &[u8]) -> Vec<TcpStream> {
    join_all((0..PEERS).map(|_| connect_and_send(target.address(), bytes))).await
}

/// The beginning of a call whose message does not come whole.
fn half_a_message(stream: u32) -> Vec<u8> {
    let headers = frame(HEADERS, END_HEADERS, stream, &call_headers(GET));
    [headers, frame(DATA, 0, stream, &message(&[0; 64])[..30])].concat()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peers_that_stop_in_the_middle_are_let_go() {
    let target = Target::start(&["--max-calls=32"]).await;
    let before = target.state().await;
    let headers = frame(HEADERS, END_HEADERS, 1, &call_headers(GET));
    let kept = flood(&target, "silent peers", before, 64 * 1024 * 1024, async {
        let mut kept = stop_after(&target, &[]).await;
        kept.extend(stop_after(&target, &PREFACE[..PREFACE.len() / 2]).await);
        kept.extend(stop_after(&target, PREFACE).await);
        kept.extend(stop_after(&target, &[opening(), headers[..20].to_vec()].concat()).await);
        kept.extend(stop_after(&target, &[opening(), half_a_message(1)].concat()).await);
        // HTTP/1, in the middle of a head.
        kept.extend(
            stop_after(&target, b"POST /banqi.v1.RulesService/ListPresets HTTP/1.1\r\n").await,
        );
        let cut = "banqi_connections_cut_total{reason=\"silent\"}";
        target
            .until("those that say nothing are cut off", OPENING, async || {
                let told = target.sum(cut, "").await;
                (told >= 2.0 * PEERS as f64).then_some(()).ok_or(format!("{told} are"))
            })
            .await;
        kept
    });
    // The metrics tell how the half calls ended, before their connections did.
    let state = target
        .until("all are let go", STAY, async || {
            let state = target.state().await;
            let is_calm = state.connections <= before.connections && state.calls <= before.calls;
            is_calm.then_some(state).ok_or(format!("{state:?}"))
        })
        .await;
    let late = target.sum("grpc_server_handled_total", "grpc_code=\"DEADLINE_EXCEEDED\"").await;
    assert_eq!(late, PEERS as f64, "half a message is waited for, and not for ever");
    assert!(state.files <= before.files + 4, "{state:?}, before {before:?}");
    println!("{} peers were let go: {state:?}, before {before:?}", kept.len());
}

/// Calls of which only half has come take no places from those that are there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_calls_do_not_keep_others_out() {
    const PLACES: usize = 32;
    let target = Target::start(&[&format!("--max-calls={PLACES}")]).await;
    let before = target.state().await;
    let halves: Vec<u8> =
        (0..1_000_u32).flat_map(|number| half_a_message(2 * number + 1)).collect();
    let bytes = [opening(), halves].concat();
    let peers = flood(&target, "half calls", before, 96 * 1024 * 1024, async {
        let peers = join_all((0..4).map(|_| connect_and_send(target.address(), &bytes))).await;
        target
            .until("half calls have begun", Duration::from_secs(10), async || {
                let calls = target.state().await.calls;
                (calls > 10.0 * PLACES as f64).then_some(()).ok_or(format!("{calls}"))
            })
            .await;
        peers
    });
    drop(peers);
    target.until_calm(before).await;
}

/// A process that has as many files open as it may goes on with the connections that it has, takes
/// no more of the processor than else, and accepts again when some are closed.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_connections_wait_and_are_accepted_later() {
    let target = Target::start(&[]).await;
    let before = target.state().await;
    let channel = target.channel().await;
    let process = target.replica.id().to_string();
    let limit = format!("--nofile={0}:{0}", before.files + 40);
    let limited = std::process::Command::new("prlimit").args([&limit, "--pid", &process]).status();
    assert!(limited.expect("prlimit runs").success());
    let peers = stop_after(&target, PREFACE).await;
    let mut games = banqi::api::proto::v1::game_service_client::GameServiceClient::new(channel);
    let used = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let fields: Vec<&str> = stat.rsplit(") ").next().expect("fields").split(' ').collect();
        let ticks: u64 =
            fields[11].parse::<u64>().expect("ticks") + fields[12].parse::<u64>().expect("ticks");
        ticks
    };
    let begun = used();
    for _ in 0..20 {
        crate::target::create(&mut games).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let ticks = used() - begun;
    println!("{ticks} hundredths of a second of the processor in a second without files");
    assert!(ticks < 50, "{ticks} ticks: it asks for connections without a pause");
    drop((games, peers));
    target.create().await;
    target.until_calm(before).await;
}
