//! Accepting connections, and shaking hands with those who open them.

use std::future::ready;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tonic::transport::server::TcpIncoming;

use super::Tls;
use super::connection::Connection;
use crate::server::metrics::{ConnectionMetrics, Cut, OpenConnection};

/// How long a handshake may take. Who takes longer is cut off, since he holds one of the places.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// How many handshakes go on at the same time. Whoever comes besides waits for a place.
const HANDSHAKES: usize = 1024;

/// How long no connection is accepted after one could not be: the process has as many files open as
/// it may, and would ask for nothing else until some are closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The connections that are opened to a listener, each ready for its first request.
pub(in crate::server) fn connections(
    listener: TcpListener,
    tls: Option<Arc<Tls>>,
    metrics: ConnectionMetrics,
) -> impl Stream<Item = io::Result<Connection>> + Send + 'static {
    TcpIncoming::from(listener)
        .with_nodelay(Some(true))
        .then(async |accepted| {
            if let Err(error) = &accepted
                && !concerns_one_peer(error)
            {
                tracing::warn!(%error, "connections cannot be accepted");
                sleep(ACCEPT_PAUSE).await;
            }
            accepted
        })
        .map(move |accepted| {
            let tls = tls.clone();
            let accepted = accepted.map(|stream| (stream, metrics.open()));
            async move {
                match (accepted, tls) {
                    (Ok((stream, counted)), Some(tls)) => {
                        secure(stream, counted, &tls).await.map(Ok)
                    }
                    (accepted, _) => {
                        Some(accepted.map(|(stream, counted)| Connection::plain(stream, counted)))
                    }
                }
            }
        })
        .buffer_unordered(HANDSHAKES)
        .filter_map(ready)
}

/// Whether a connection could not be accepted because its peer has gone again.
fn concerns_one_peer(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Shakes hands; `None` where that failed, which concerns nobody else.
async fn secure(stream: TcpStream, counted: OpenConnection, tls: &Tls) -> Option<Connection> {
    let peer = stream.peer_addr().ok();
    match timeout(HANDSHAKE, tls.acceptor().accept(stream)).await {
        Ok(Ok(stream)) => return Some(Connection::secured(stream, counted)),
        Ok(Err(error)) => tracing::debug!(?peer, %error, "a TLS handshake failed"),
        Err(_) => tracing::debug!(?peer, limit = ?HANDSHAKE, "a TLS handshake took too long"),
    }
    counted.cut(Cut::Handshake);
    None
}
