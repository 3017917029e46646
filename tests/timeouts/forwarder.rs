//! One address for a server that may move, as a failover leaves it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

/// Passes connections on to a port of this machine.
pub(crate) struct Forwarder {
    address: SocketAddr,
    port: Arc<AtomicU16>,
    _forwarding: AbortOnDropHandle<()>,
}

impl Forwarder {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let port = Arc::new(AtomicU16::new(port));
        let target = Arc::clone(&port);
        let forwarding = tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let port = target.load(Ordering::SeqCst);
                tokio::spawn(async move {
                    // Where nobody listens, the client's connection ends with this task.
                    if let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await {
                        let _ = copy_bidirectional(&mut client, &mut server).await;
                    }
                });
            }
        });
        Self { address, port, _forwarding: AbortOnDropHandle::new(forwarding) }
    }

    /// Passes later connections on to another port.
    pub(crate) fn switch(&self, port: u16) {
        self.port.store(port, Ordering::SeqCst);
    }

    /// The address for `--store`.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }
}
