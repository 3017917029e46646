//! Accepting connections, and shaking hands with those who open them.

use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tonic::transport::server::TcpIncoming;

use super::Tls;
use super::connection::Connection;

/// How long a handshake may take. Who takes longer is cut off, since he holds one of the places.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// How many handshakes go on at the same time. Whoever comes besides waits for a place.
const HANDSHAKES: usize = 1024;

/// The connections that are opened to a listener, each ready for its first request.
pub(in crate::server) fn connections(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
) -> impl Stream<Item = io::Result<Connection>> + Send + 'static {
    TcpIncoming::from(listener)
        .with_nodelay(Some(true))
        .map(move |accepted| {
            let tls = tls.clone();
            async move {
                match (accepted, tls) {
                    (Ok(stream), Some(tls)) => secure(stream, &tls).await.map(Ok),
                    (accepted, _) => Some(accepted.map(Connection::Plain)),
                }
            }
        })
        .buffer_unordered(HANDSHAKES)
        .filter_map(ready)
}

/// Shakes hands; `None` where that failed, which concerns nobody else.
async fn secure(stream: TcpStream, tls: &Tls) -> Option<Connection> {
    let peer = stream.peer_addr().ok();
    match timeout(HANDSHAKE, tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => Some(Connection::secured(stream)),
        Ok(Err(error)) => {
            tracing::debug!(?peer, %error, "a TLS handshake failed");
            None
        }
        Err(_) => {
            tracing::debug!(?peer, limit = ?HANDSHAKE, "a TLS handshake took too long");
            None
        }
    }
}
