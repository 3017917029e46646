//! Making a connection.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ErrorKind, PushInfo, RedisResult, ServerErrorKind, Value, cmd,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::access::HostPort;

/// How long one attempt to connect may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// How many commands wait to be written to the connection before callers wait themselves.
const QUEUE: usize = 1_024;

/// Connects once.
pub(super) async fn connect(
    client: &Client,
    on_push: impl Fn(PushInfo) + Send + Sync + 'static,
) -> RedisResult<MultiplexedConnection> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(CONNECT_LIMIT))
        // Each call has a deadline of its own.
        .set_response_timeout(None)
        .set_pipeline_buffer_size(QUEUE)
        .set_push_sender(move |push| {
            on_push(push);
            Ok::<(), redis::aio::SendError>(())
        });
    client.get_multiplexed_async_connection_with_config(&config).await
}

/// Whether a server answers as Redis does where no TLS is spoken.
pub(super) async fn answers_without_tls(at: &HostPort) -> bool {
    let answer = async {
        let mut stream = TcpStream::connect((&*at.host, at.port)).await?;
        stream.write_all(b"PING\r\n").await?;
        let mut answer = [0; 1];
        stream.read_exact(&mut answer).await?;
        // `+PONG`, or `-NOAUTH`.
        std::io::Result::Ok(matches!(answer, [b'+' | b'-']))
    };
    matches!(timeout(CONNECT_LIMIT, answer).await, Ok(Ok(true)))
}

/// Refuses a server that is no primary, as one that a failover has demoted.
pub(super) async fn check_primary(connection: &mut MultiplexedConnection) -> RedisResult<()> {
    let answer = timeout(CONNECT_LIMIT, cmd("ROLE").query_async::<Vec<Value>>(connection)).await;
    let role = answer
        .map_err(|_| (ErrorKind::Io, "the server does not tell its role in time"))??
        .into_iter()
        .next();
    match role {
        Some(Value::BulkString(role)) if role == b"master" => Ok(()),
        _ => Err((
            ErrorKind::Server(ServerErrorKind::ReadOnly),
            "the server that the sentinels name is no primary",
        )
            .into()),
    }
}
