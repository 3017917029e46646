//! A TCP proxy between one client and one replica that cuts connections when it is told to.

use std::net::SocketAddr;
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
}

impl Proxy {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let fate = Arc::new(Mutex::new(Fate::default()));
        let told = Arc::clone(&fate);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let told = Arc::clone(&told);
                // Both sides see a connection that was cut; which error it is to them is theirs.
                tokio::spawn(async move { relay(client, server, &told).await.ok() });
            }
        });
        Self { address, fate }
    }

    /// Says what happens to the next call.
    pub(crate) fn decide(&self, fate: Fate) {
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
            }
        }
    }
}
