//! Stands between replicas and Redis, and loses messages of channels on the way.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// How a message of a channel begins that is pushed in version 3 of the protocol.
const MESSAGE: &[u8] = b">3\r\n$8\r\nsmessage\r\n";

/// A proxy that loses so many of a hundred messages.
pub(crate) struct StoreProxy {
    address: SocketAddr,
    dropped: Arc<AtomicUsize>,
    _relaying: AbortOnDropHandle<()>,
}

impl StoreProxy {
    pub(crate) async fn to(port: u16, percent: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let dropped = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&dropped);
        let relaying = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = TcpStream::connect(("127.0.0.1", port)).await.expect("the server");
                for socket in [&client, &server] {
                    socket.set_nodelay(true).expect("a socket");
                }
                let (mut asked, answers) = client.into_split();
                let (answered, mut asks) = server.into_split();
                // Whichever side ends first, the other one is closed with it.
                let count = Arc::clone(&count);
                tokio::spawn(async move {
                    tokio::select! {
                        _ = copy(&mut asked, &mut asks) => {}
                        _ = relay(answered, answers, percent, &count) => {}
                    }
                });
            }
        });
        Self { address, dropped, _relaying: AbortOnDropHandle::new(relaying) }
    }

    /// The address for `--store`.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// How many messages were lost.
    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }
}

/// Passes on what the server sends, value by value, but for some messages.
async fn relay(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    percent: u32,
    dropped: &AtomicUsize,
) -> std::io::Result<()> {
    let mut random: Xoshiro256PlusPlus = rand::make_rng();
    let mut buffer = Vec::new();
    while from.read_buf(&mut buffer).await? > 0 {
        while let Some(length) = length(&buffer) {
            let value: Vec<u8> = buffer.drain(..length).collect();
            if value.starts_with(MESSAGE) && random.random_ratio(percent, 100) {
                dropped.fetch_add(1, Ordering::SeqCst);
            } else {
                to.write_all(&value).await?;
            }
        }
    }
    Ok(())
}

/// The length of the value that the bytes begin with, once it is all there.
fn length(bytes: &[u8]) -> Option<usize> {
    let line = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let head = line + 2;
    let count = || {
        let number = std::str::from_utf8(&bytes[1..line]).expect("a number");
        number.parse::<i64>().expect("a number").max(0) as usize
    };
    let values =
        |number: usize| (0..number).try_fold(head, |at, _| Some(at + length(bytes.get(at..)?)?));
    match bytes[0] {
        b'+' | b'-' | b':' | b'_' | b',' | b'#' | b'(' => Some(head),
        // Nothing at all, in version 2 of the protocol.
        b'$' | b'*' if bytes[1] == b'-' => Some(head),
        b'$' | b'!' | b'=' => Some(head + count() + 2).filter(|end| *end <= bytes.len()),
        b'*' | b'~' | b'>' => values(count()),
        b'%' => values(2 * count()),
        kind => panic!("no value begins with {:?}", char::from(kind)),
    }
}

#[test]
fn values_are_told_apart() {
    let values: [&[u8]; 6] = [
        b"+OK\r\n",
        b"$3\r\na\r\n\r\n",
        b"$-1\r\n",
        b"%1\r\n+a\r\n*2\r\n:1\r\n$0\r\n\r\n",
        b">3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\np\r\n",
        b"*0\r\n",
    ];
    for value in values {
        let more = [value, b"+more\r\n"].concat();
        assert_eq!(length(&more), Some(value.len()));
        for part in 0..value.len() {
            assert_eq!(length(&value[..part]), None, "{part} bytes");
        }
    }
}
