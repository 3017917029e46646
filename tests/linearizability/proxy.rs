//! A TCP proxy between one client and one replica that cuts connections when it is told to.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What happens to the next call over a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    #[default]
    Pass,
    /// The answer takes so much longer.
    Delay(Duration),
    /// The connection is cut before anything of the request gets through.
    CutBefore,
    /// The connection is cut in the middle of the request.
    CutWithin,
    /// The connection is cut when the answer is under way.
    CutAfter,
}

/// A proxy; its connections end with the runtime.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    fate: Arc<Mutex<Fate>>,
    carried: Arc<Carried>,
}

/// What a proxy has carried since the next call's fate was decided: to be told where no answer comes.
#[derive(Debug, Default)]
struct Carried {
    connections: AtomicUsize,
    request: AtomicUsize,
    answer: AtomicUsize,
    cut: AtomicUsize,
}

impl Proxy {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let fate = Arc::new(Mutex::new(Fate::default()));
        let carried = Arc::new(Carried::default());
        let (told, counted) = (Arc::clone(&fate), Arc::clone(&carried));
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.expect("a connection");
                let (told, counted) = (Arc::clone(&told), Arc::clone(&counted));
                tokio::spawn(async move {
                    counted.connections.fetch_add(1, Ordering::SeqCst);
                    // Both sides see a connection that was cut; which error it is to them is theirs.
                    relay(client, server, &told, &counted).await.ok();
                    counted.cut.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Self { address, fate, carried }
    }

    /// Whether any of a request has got through since the last decision.
    pub(crate) fn has_carried_a_request(&self) -> bool {
        self.carried.request.load(Ordering::SeqCst) > 0
    }

    /// What was carried since the last decision.
    pub(crate) fn carried(&self) -> String {
        let Carried { connections, request, answer, cut } = &*self.carried;
        let [connections, request, answer, cut] =
            [connections, request, answer, cut].map(|count| count.load(Ordering::SeqCst));
        format!(
            "{connections} connections made and {cut} ended, {request} bytes of requests and \
             {answer} of answers carried"
        )
    }

    /// Says what happens to the next call.
    pub(crate) fn decide(&self, fate: Fate) {
        let Carried { connections, request, answer, cut } = &*self.carried;
        for count in [connections, request, answer, cut] {
            count.store(0, Ordering::SeqCst);
        }
        set(&self.fate, fate);
    }
}

fn get(fate: &Mutex<Fate>) -> Fate {
    *fate.lock().unwrap_or_else(PoisonError::into_inner)
}

fn set(fate: &Mutex<Fate>, new: Fate) {
    *fate.lock().unwrap_or_else(PoisonError::into_inner) = new;
}

/// Carries bytes both ways until a side closes or the connection is cut.
async fn relay(
    mut client: TcpStream,
    server: SocketAddr,
    fate: &Mutex<Fate>,
    carried: &Carried,
) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut request, mut answer) = (vec![0; 16 * 1024], vec![0; 16 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut request) => {
                let read = read?;
                match get(fate) {
                    _ if read == 0 => return Ok(()),
                    Fate::CutBefore => return Ok(()),
                    Fate::CutWithin => return server.write_all(&request[..read / 2]).await,
                    Fate::Pass | Fate::Delay(_) | Fate::CutAfter => {
                        server.write_all(&request[..read]).await?;
                        carried.request.fetch_add(read, Ordering::SeqCst);
                    }
                }
            }
            read = server.read(&mut answer) => {
                let read = read?;
                match get(fate) {
                    _ if read == 0 => return Ok(()),
                    Fate::CutAfter => return Ok(()),
                    Fate::Delay(longer) => tokio::time::sleep(longer).await,
                    Fate::Pass | Fate::CutBefore | Fate::CutWithin => {}
                }
                client.write_all(&answer[..read]).await?;
                carried.answer.fetch_add(read, Ordering::SeqCst);
            }
        }
    }
}
