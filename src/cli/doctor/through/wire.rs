//! Connections and calls as clients make them. Over bare HTTP/2, since a client's library hides who
//! gave up at a deadline, and when the first byte of an answer came.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use futures_util::future::poll_fn;
use h2::client::{SendRequest, handshake};
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, StatusCode};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;

use super::url::Url;

/// How long a connection, a handshake, or an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// A connection, secured or not.
pub(super) trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Resolves the address and connects.
pub(super) async fn connect(url: &Url) -> io::Result<TcpStream> {
    let addresses: Vec<SocketAddr> = lookup_host((url.host.as_str(), url.port)).await?.collect();
    let stream = timeout(PATIENCE, TcpStream::connect(&*addresses)).await??;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// A secured connection, what it showed, and what was agreed to be spoken.
pub(super) struct Secured {
    pub(super) connection: Box<dyn Connection>,
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) protocol: Option<Vec<u8>>,
}

/// Shakes hands over TLS, and offers these protocols.
pub(super) async fn secure(
    stream: TcpStream,
    url: &Url,
    roots: &RootCertStore,
    protocols: &[&str],
) -> io::Result<Secured> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let mut config = config
        .map_err(io::Error::other)?
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let name = ServerName::try_from(url.host.clone()).map_err(io::Error::other)?;
    let connector = TlsConnector::from(Arc::new(config));
    let stream = timeout(PATIENCE, connector.connect(name, stream)).await??;
    let (_, session) = stream.get_ref();
    Ok(Secured {
        chain: session
            .peer_certificates()
            .unwrap_or_default()
            .iter()
            .map(|it| it.clone().into_owned())
            .collect(),
        protocol: session.alpn_protocol().map(<[u8]>::to_vec),
        connection: Box::new(stream),
    })
}

/// An HTTP/2 connection over which calls go.
pub(super) struct Calls {
    sender: SendRequest<Bytes>,
    base: String,
    _driver: AbortOnDropHandle<()>,
}

/// What is sent of a request.
pub(super) enum Sent {
    /// One message.
    Whole(Bytes),
    /// The head alone: the message never comes.
    HeadOnly,
}

/// An answer.
pub(super) struct Answer {
    pub(super) http: StatusCode,
    pub(super) head: HeaderMap,
    pub(super) body: Bytes,
    pub(super) trailers: HeaderMap,
}

impl Answer {
    /// What gRPC makes of it; `None` where it is no answer of gRPC.
    pub(super) fn status(&self) -> Option<Status> {
        Status::from_header_map(&self.trailers).or_else(|| Status::from_header_map(&self.head))
    }

    /// The first message.
    pub(super) fn message(&self) -> Option<Bytes> {
        message_of(&self.body)
    }

    /// What it is instead, where it is no answer of gRPC.
    pub(super) fn described(&self) -> String {
        let kind = self.head.get(http::header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("no content type");
        format!("HTTP {} with {kind}, and no grpc-status", self.http)
    }
}

/// The message in the first frame of a body, if all of it is there.
fn message_of(body: &Bytes) -> Option<Bytes> {
    let mut rest = body.clone();
    let length = (rest.len() >= 5).then(|| {
        rest.advance(1);
        rest.get_u32()
    })?;
    let length = usize::try_from(length).ok()?;
    (rest.len() >= length).then(|| rest.slice(..length))
}

/// A message in its frame.
pub(super) fn framed(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(5 + message.len());
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("a short message"));
    frame.put_slice(message);
    frame.freeze()
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

impl Calls {
    /// Begins to speak HTTP/2, and makes sure that the other side does.
    pub(super) async fn begin(connection: Box<dyn Connection>, url: &Url) -> Result<Self, Failed> {
        let base = url.to_string();
        let begun = async {
            let (sender, mut connection) = handshake(connection).await?;
            let mut pings = connection.ping_pong().ok_or("no ping was asked for before")?;
            let driver = AbortOnDropHandle::new(tokio::spawn(async move {
                // Calls that are open are told.
                let _ = connection.await;
            }));
            pings.ping(h2::Ping::opaque()).await?;
            Ok::<_, Failed>(Self { sender, base, _driver: driver })
        };
        timeout(PATIENCE, begun).await?
    }

    /// Calls a method, and waits for all of the answer.
    pub(super) async fn call(
        &self,
        method: &str,
        metadata: &HeaderMap,
        sent: Sent,
    ) -> Result<Answer, Failed> {
        let answer = async {
            let (http, head, mut stream, _unsent) = self.start(method, metadata, sent).await?;
            let mut body = BytesMut::new();
            while let Some(data) = next(&mut stream).await? {
                body.extend_from_slice(&data);
            }
            let trailers = stream.trailers().await?.unwrap_or_default();
            Ok::<_, Failed>(Answer { http, head, body: body.freeze(), trailers })
        };
        timeout(PATIENCE, answer).await.map_err(|_| format!("no answer within {PATIENCE:?}"))?
    }

    /// Calls a method that streams, and waits for its first message only; `None` where the stream
    /// ends before.
    pub(super) async fn first_message(
        &self,
        method: &str,
        message: &[u8],
        limit: Duration,
    ) -> Result<Option<Bytes>, Failed> {
        let first = async {
            let sent = Sent::Whole(framed(message));
            let (_, _, mut stream, _unsent) = self.start(method, &HeaderMap::new(), sent).await?;
            let mut body = BytesMut::new();
            while let Some(data) = next(&mut stream).await? {
                body.extend_from_slice(&data);
                if let Some(message) = message_of(&body.clone().freeze()) {
                    return Ok(Some(message));
                }
            }
            Ok::<_, Failed>(None)
        };
        timeout(limit, first).await.map_err(|_| format!("no message within {limit:?}"))?
    }

    /// Sends a request, and waits for the head of its answer. What is left to send is kept, since
    /// a request that is dropped is cancelled.
    async fn start(
        &self,
        method: &str,
        metadata: &HeaderMap,
        sent: Sent,
    ) -> Result<(StatusCode, HeaderMap, RecvStream, SendStream<Bytes>), Failed> {
        let mut request = Request::post(format!("{}/{method}", self.base))
            .version(http::Version::HTTP_2)
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())?;
        request.headers_mut().extend(metadata.clone());
        let mut sender = self.sender.clone().ready().await?;
        let (answer, mut body) = sender.send_request(request, false)?;
        if let Sent::Whole(frame) = sent {
            body.send_data(frame, true)?;
        }
        let (head, stream) = answer.await?.into_parts();
        Ok((head.status, head.headers, stream, body))
    }
}

/// The next piece of an answer.
async fn next(stream: &mut RecvStream) -> Result<Option<Bytes>, h2::Error> {
    let Some(data) = poll_fn(|context| stream.poll_data(context)).await else { return Ok(None) };
    let data = data?;
    stream.flow_control().release_capacity(data.len())?;
    Ok(Some(data))
}
