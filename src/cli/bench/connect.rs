//! Connections to the replicas.

use std::time::Duration;

use tokio::net::TcpStream;
use tonic::metadata::AsciiMetadataValue;
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

use super::failure::BenchError;
use crate::api::callers::API_KEY;

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a connection may hold that was not read yet, in bytes: more than HTTP/2's own 64 KiB, of
/// which a thousand streams would have next to nothing each.
const WINDOW: u32 = 4 * 1024 * 1024;

/// The most streams on one connection where the service names no limit.
const MOST_STREAMS: usize = 1024;

/// A connection, over which calls show the caller's key.
pub(super) type Connection = InterceptedService<Channel, Caller>;

/// Who calls.
#[derive(Clone, Debug)]
pub(super) struct Caller(pub(super) Option<AsciiMetadataValue>);

impl Interceptor for Caller {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert(API_KEY, key.clone());
        }
        Ok(request)
    }
}

/// Connects to a replica.
pub(super) async fn connect(address: &str, caller: &Caller) -> Result<Connection, BenchError> {
    let failed = |source: tonic::transport::Error| BenchError::Connect {
        address: address.to_owned(),
        source: source.into(),
    };
    let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(failed)?;
    let endpoint = endpoint.tcp_nodelay(true).initial_connection_window_size(WINDOW);
    let channel = endpoint.connect_timeout(PATIENCE).connect().await.map_err(failed)?;
    Ok(InterceptedService::new(channel, caller.clone()))
}

/// So many connections to each replica.
pub(super) async fn connect_all(
    addresses: &[String],
    connections: usize,
    caller: &Caller,
) -> Result<Vec<Vec<Connection>>, BenchError> {
    let mut replicas = Vec::new();
    for address in addresses {
        let mut replica = Vec::new();
        for _ in 0..connections {
            replica.push(connect(address, caller).await?);
        }
        replicas.push(replica);
    }
    Ok(replicas)
}

/// As many connections to a replica as so many streams at once need: one connection takes as many as
/// the service says.
pub(super) async fn connect_for_streams(
    address: &str,
    streams: usize,
    caller: &Caller,
) -> Result<Vec<Connection>, BenchError> {
    let at_once = most_streams(address).await?;
    let addresses = [address.to_owned()];
    let connections = connect_all(&addresses, streams.div_ceil(at_once), caller).await?;
    Ok(connections.into_iter().flatten().collect())
}

/// How many streams the service lets a connection have open.
async fn most_streams(address: &str) -> Result<usize, BenchError> {
    settings(address)
        .await
        .map(|streams| streams.clamp(1, MOST_STREAMS))
        .map_err(|source| BenchError::Connect { address: address.to_owned(), source })
}

/// Asks on a connection of its own, since channels do not tell.
async fn settings(address: &str) -> Result<usize, Box<dyn std::error::Error + Send + Sync>> {
    let stream = tokio::time::timeout(PATIENCE, TcpStream::connect(address)).await??;
    let (_calls, mut connection) = h2::client::handshake(stream).await?;
    let mut pings = connection.ping_pong().ok_or("no ping was asked for before")?;
    // Settings are what a server sends first, so they are there when a ping is answered.
    let answered = tokio::time::timeout(PATIENCE, async {
        tokio::select! {
            ended = &mut connection => ended.and(Err(h2::Reason::NO_ERROR.into())),
            pong = pings.ping(h2::Ping::opaque()) => pong.map(drop),
        }
    });
    answered.await??;
    Ok(connection.max_concurrent_send_streams())
}
