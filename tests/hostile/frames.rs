//! HTTP/2 by hand, for peers that keep to none of its rules.

use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What every connection begins with.
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Kinds of frames (RFC 9113 §6).
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;
pub(crate) const CONTINUATION: u8 = 9;

/// Flags of frames.
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

/// How long a peer may take no bytes before nothing more is sent to it.
const WRITE_LIMIT: Duration = Duration::from_secs(2);

/// A frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short payload").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The beginning of a connection that keeps to the rules, with every window as wide as it can be.
pub(crate) fn opening() -> Vec<u8> {
    let widest = (i32::MAX as u32).to_be_bytes();
    let initial_window_size = [&[0, 4], &widest[..]].concat();
    let more = (i32::MAX as u32 - 65_535).to_be_bytes();
    [PREFACE, &frame(SETTINGS, 0, 0, &initial_window_size), &frame(WINDOW_UPDATE, 0, 0, &more)]
        .concat()
}

/// The headers of a gRPC call of this path, compressed as little as can be.
pub(crate) fn call_headers(path: &str) -> Vec<u8> {
    // `:method: POST` and `:scheme: http`, then literals whose names are in the static table.
    let mut block = vec![0x83, 0x86];
    for (name, value) in [(4, path), (1, "127.0.0.1")] {
        block.push(name);
        push_text(&mut block, value);
    }
    for (name, value) in [("content-type", "application/grpc"), ("te", "trailers")] {
        block.extend(literal(name, value));
    }
    block
}

/// A header that no table has and none takes up.
pub(crate) fn literal(name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![0];
    push_text(&mut block, name);
    push_text(&mut block, value);
    block
}

fn push_text(block: &mut Vec<u8>, text: &str) {
    assert!(text.len() < 127, "a length of one byte");
    block.push(text.len() as u8);
    block.extend(text.as_bytes());
}

/// A message as gRPC frames it.
pub(crate) fn message(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("a short message");
    [&[0], &length.to_be_bytes()[..], bytes].concat()
}

/// A whole call of one message.
pub(crate) fn call(stream: u32, path: &str, bytes: &[u8]) -> Vec<u8> {
    let headers = frame(HEADERS, END_HEADERS, stream, &call_headers(path));
    [headers, frame(DATA, END_STREAM, stream, &message(bytes))].concat()
}

/// A connection to a server.
pub(crate) async fn connect(address: &str) -> TcpStream {
    TcpStream::connect(address).await.expect("a connection")
}

/// A connection on which this was sent.
pub(crate) async fn connect_and_send(address: &str, bytes: &[u8]) -> TcpStream {
    let mut stream = connect(address).await;
    stream.write_all(bytes).await.expect("sent");
    stream
}

/// Sends it; answers whether the server took it.
pub(crate) async fn send(stream: &mut TcpStream, bytes: &[u8]) -> bool {
    matches!(timeout(WRITE_LIMIT, stream.write_all(bytes)).await, Ok(Ok(())))
}
