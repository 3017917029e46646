//! Floods of frames that are none, or make no sense, after the beginning that every connection has.

use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use tokio::time::Instant;

use crate::bystander::{LASTS, flood};
use crate::factor;
use crate::frames::{
    CONTINUATION, DATA, END_HEADERS, HEADERS, PING, PREFACE, SETTINGS, call_headers,
    connect_and_send, frame, literal, opening, send,
};
use crate::target::Target;

/// How many connections send it at least, one after the other.
const CONNECTIONS: usize = 20;

/// How much each sends at once, and how often, unless it is cut off.
const FRAMES: usize = 500;
const TIMES: usize = 20;

/// What is sent.
#[derive(Clone, Copy, Debug)]
enum Junk {
    /// Bytes that are drawn.
    Bytes,
    /// Settings, each of which must be acknowledged.
    Settings,
    /// Pings, each of which must be answered.
    Pings,
    /// Headers that go on and on.
    Continuation,
    /// A call of many headers, each of which is small.
    Headers,
    /// Parts of a message that have no bytes.
    EmptyData,
}

impl Junk {
    /// What comes first, and what follows again and again.
    fn parts(self, random: &mut Xoshiro256PlusPlus) -> (Vec<u8>, Vec<u8>) {
        let call = call_headers("/banqi.v1.GameService/GetGame");
        let many: Vec<u8> = (0..FRAMES)
            .flat_map(|number| literal(&format!("x-{number}"), &"y".repeat(100)))
            .collect();
        match self {
            Self::Bytes => {
                let mut bytes = vec![0; 16 * FRAMES];
                random.fill(&mut bytes[..]);
                (PREFACE.to_vec(), bytes)
            }
            Self::Settings => {
                (opening(), frame(SETTINGS, 0, 0, &[0, 4, 0, 1, 0, 0]).repeat(FRAMES))
            }
            Self::Pings => (opening(), frame(PING, 0, 0, &[7; 8]).repeat(FRAMES)),
            Self::Continuation => {
                let begun = frame(HEADERS, 0, 1, &call);
                let more = frame(CONTINUATION, 0, 1, &many[..8_000]);
                ([opening(), begun].concat(), more.repeat(FRAMES / 10))
            }
            Self::Headers => {
                let call = [call, many].concat();
                let (first, rest) = call.split_at(16_000);
                let (second, third) = rest.split_at(16_000);
                let frames = [
                    frame(HEADERS, 0, 1, first),
                    frame(CONTINUATION, 0, 1, second),
                    frame(CONTINUATION, END_HEADERS, 1, third),
                ];
                ([opening(), frames.concat()].concat(), frame(PING, 0, 0, &[7; 8]))
            }
            Self::EmptyData => {
                let begun = frame(HEADERS, END_HEADERS, 1, &call);
                ([opening(), begun].concat(), frame(DATA, 0, 1, &[]).repeat(FRAMES))
            }
        }
    }
}

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn junk_costs_its_own_connection_alone(
    #[values(
        Junk::Bytes,
        Junk::Settings,
        Junk::Pings,
        Junk::Continuation,
        Junk::Headers,
        Junk::EmptyData
    )]
    junk: Junk,
) {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let target = Target::start(&[]).await;
    let before = target.state().await;
    let send_all = async {
        let (mut connections, mut frames, mut cut) = (0, 0, 0);
        let begun = Instant::now();
        while connections < CONNECTIONS * factor() || begun.elapsed() < LASTS {
            connections += 1;
            let (first, again) = junk.parts(&mut random);
            let mut stream = connect_and_send(target.address(), &first).await;
            let mut is_taken = true;
            for _ in 0..TIMES {
                is_taken = send(&mut stream, &again).await;
                if !is_taken {
                    break;
                }
                frames += FRAMES;
            }
            cut += usize::from(!is_taken);
        }
        (connections, frames, cut)
    };
    let name = format!("{junk:?}");
    let (connections, frames, cut) = flood(&target, &name, before, 64 * 1024 * 1024, send_all);
    println!(
        "{junk:?}: {frames} frames or so were taken; {cut} of {connections} connections were not read \
         to the end"
    );
    target.until_calm(before).await;
}
