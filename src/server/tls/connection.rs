//! A connection, secured or not, as the HTTP server takes it.

use std::future::Future as _;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_rustls::server::TlsStream;
use tonic::transport::server::Connected;

use crate::api::callers::Peer;
use crate::server::metrics::{Cut, OpenConnection};

/// How long a peer may take until it has said which HTTP it speaks. Nothing else would end a
/// connection whose peer says nothing: keep-alive begins only with HTTP/2.
const OPENING: Duration = Duration::from_secs(10);

/// How many bytes say it: as many as HTTP/2 begins with. A first request of HTTP/1 is longer.
const OPENING_BYTES: usize = 24;

/// A connection that was accepted.
pub(in crate::server) struct Connection {
    stream: Stream,
    opening: Option<Opening>,
    counted: OpenConnection,
}

enum Stream {
    Plain(TcpStream),
    Secured { stream: Box<TlsStream<TcpStream>>, peer: Peer },
}

/// What a peer has said so far, and until when it must have said the rest.
struct Opening {
    bytes: usize,
    limit: Pin<Box<Sleep>>,
}

impl Connection {
    /// A connection without TLS.
    pub(super) fn plain(stream: TcpStream, counted: OpenConnection) -> Self {
        Self::opening(Stream::Plain(stream), counted)
    }

    /// A connection after its handshake.
    pub(super) fn secured(stream: TlsStream<TcpStream>, counted: OpenConnection) -> Self {
        // The first certificate is the peer's own.
        let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let peer = certificate.map(|it| Peer::with_certificate(it)).unwrap_or_default();
        Self::opening(Stream::Secured { stream: Box::new(stream), peer }, counted)
    }

    fn opening(stream: Stream, counted: OpenConnection) -> Self {
        let opening = Opening { bytes: 0, limit: Box::pin(sleep(OPENING)) };
        Self { stream, opening: Some(opening), counted }
    }
}

impl Connected for Connection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        match &self.stream {
            Stream::Plain(_) => Peer::default(),
            Stream::Secured { peer, .. } => peer.clone(),
        }
    }
}

/// Does the same to either kind of stream.
macro_rules! either {
    ($connection:expr, $stream:ident => $then:expr) => {
        match &mut $connection.get_mut().stream {
            Stream::Plain($stream) => $then,
            Stream::Secured { stream: $stream, .. } => $then,
        }
    };
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        let read = either!(self.as_mut(), stream => Pin::new(stream).poll_read(context, buffer));
        let Self { opening, counted, .. } = self.get_mut();
        let Some(awaited) = opening else { return read };
        if read.is_ready() {
            awaited.bytes += buffer.filled().len() - before;
            if awaited.bytes >= OPENING_BYTES {
                *opening = None;
            }
            return read;
        }
        ready!(awaited.limit.as_mut().poll(context));
        *opening = None;
        counted.cut(Cut::Silent);
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the peer has not said what it speaks")))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        either!(self, stream => Pin::new(stream).poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match &self.stream {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Secured { stream, .. } => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        either!(self, stream => Pin::new(stream).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        either!(self, stream => Pin::new(stream).poll_shutdown(context))
    }
}
