//! What stands in front of the replicas, as a client meets it.

mod calls;
mod release;
mod url;
mod web;
mod wire;

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use http::{HeaderMap, HeaderValue};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use tonic::metadata::AsciiMetadataValue;

pub(super) use self::url::Url;
use self::wire::{Calls, Connection, Sent, connect, framed, secure};
use super::check::Check;
use super::files::tell_validity;
use super::report::Report;
use crate::api::callers::API_KEY;
use crate::server::Validity;
use crate::store::{SystemTimeSource, TimeSource as _};

/// A method that needs no store, no game and no more than the role of a reader.
const PRESETS: &str = "banqi.v1.RulesService/ListPresets";

/// The way that clients take.
pub(super) struct Through<'a> {
    pub(super) url: &'a Url,
    pub(super) ca: Option<&'a Path>,
    pub(super) key: Option<&'a AsciiMetadataValue>,
}

/// Whether a banqi answers at an address, without TLS.
pub(super) async fn is_banqi(address: SocketAddr) -> bool {
    let url = Url { secure: false, host: address.ip().to_string(), port: address.port() };
    let Ok(stream) = connect(&url).await else { return false };
    let Ok(calls) = Calls::begin(Box::new(stream), &url).await else { return false };
    let answer = calls.call(PRESETS, &HeaderMap::new(), Sent::Whole(framed(&[]))).await;
    // One that wants a key says so as another service would not.
    answer.ok().and_then(|answer| answer.status()).is_some_and(|status| {
        matches!(status.code(), tonic::Code::Ok | tonic::Code::Unauthenticated)
    })
}

impl Through<'_> {
    /// Makes the calls of a client, until one fails that the others need.
    pub(super) async fn check(&self, report: &mut Report) {
        let stream = match connect(self.url).await {
            Ok(stream) => stream,
            Err(error) => return report.fault(Check::ThroughReached, self.unreached(&error)),
        };
        report.ok(Check::ThroughReached, format!("{} takes connections", self.url));
        let Some(connection) = self.http2(stream, report).await else { return };
        let calls = match Calls::begin(connection, self.url).await {
            Ok(calls) => calls,
            Err(error) => {
                let text = format!(
                    "it does not speak HTTP/2 ({error}): have it do so towards clients, by prior \
                     knowledge without TLS (h2c)"
                );
                return report.fault(Check::ThroughHttp2, text);
            }
        };
        report.ok(Check::ThroughHttp2, "it speaks HTTP/2");
        if calls::unary(&calls, &self.metadata(), self.key.is_some(), report).await {
            calls::replicas(&calls, &self.metadata(), report).await;
            calls::metadata(&calls, self.metadata(), report).await;
            calls::deadline(&calls, self.metadata(), report).await;
            self.web(report).await;
        }
        calls::stream(&calls, report).await;
        calls::health(&calls, report).await;
        release::check(&calls, report).await;
    }

    /// A connection that is to speak HTTP/2, secured where it must be.
    async fn http2(
        &self,
        stream: tokio::net::TcpStream,
        report: &mut Report,
    ) -> Option<Box<dyn Connection>> {
        if !self.url.secure {
            report.skipped(Check::ThroughTls, "the address is not https");
            return Some(Box::new(stream));
        }
        let secured = match self.roots() {
            Ok(roots) => secure(stream, self.url, &roots, &["h2"]).await,
            Err(error) => Err(error),
        };
        let secured = match secured {
            Ok(secured) => secured,
            Err(error) => {
                let text = format!(
                    "no TLS with {}: {error}; its certificate must be for that name, with those \
                     between it and an authority that is trusted (--ca names one)",
                    self.url
                );
                report.fault(Check::ThroughTls, text);
                return None;
            }
        };
        let now = SystemTimeSource.now();
        tell_validity(Check::ThroughTls, Validity::of(&secured.chain, now), report);
        if secured.protocol.as_deref() != Some(b"h2") {
            let text = "it does not agree to HTTP/2 (ALPN `h2`): allow it towards clients";
            report.fault(Check::ThroughHttp2, text);
            return None;
        }
        Some(secured.connection)
    }

    /// gRPC-Web, over a connection of its own.
    async fn web(&self, report: &mut Report) {
        let answer = async {
            let stream = connect(self.url).await?;
            let connection: Box<dyn Connection> = if self.url.secure {
                secure(stream, self.url, &self.roots()?, &["http/1.1"]).await?.connection
            } else {
                Box::new(stream)
            };
            web::call(connection, self.url, &self.metadata()).await
        };
        match answer.await {
            Ok(answer) if web::is_answered(&answer) => {
                report.ok(Check::ThroughWeb, "a call of gRPC-Web is answered over HTTP/1.1");
            }
            outcome => {
                let told = match &outcome {
                    Ok(answer) => answer.lines().next().unwrap_or("nothing").to_owned(),
                    Err(error) => error.to_string(),
                };
                let text = format!(
                    "a call of gRPC-Web is not answered over HTTP/1.1 ({told}): let it through \
                     if web pages are to call"
                );
                report.warning(Check::ThroughWeb, text);
            }
        }
    }

    /// The key that calls show.
    fn metadata(&self) -> HeaderMap {
        let mut metadata = HeaderMap::new();
        if let Some(key) = self.key
            && let Ok(mut value) = HeaderValue::from_bytes(key.as_bytes())
        {
            value.set_sensitive(true);
            metadata.insert(API_KEY, value);
        }
        metadata
    }

    fn roots(&self) -> io::Result<RootCertStore> {
        let mut roots = RootCertStore::empty();
        let certificates = match self.ca {
            Some(path) => {
                let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
                read.map_err(|error| {
                    io::Error::other(format!(
                        "--ca {} is no PEM with certificates: {error}",
                        path.display()
                    ))
                })?
            }
            None => rustls_native_certs::load_native_certs().certs,
        };
        roots.add_parsable_certificates(certificates);
        Ok(roots)
    }

    fn unreached(&self, error: &io::Error) -> String {
        let remedy = match error.kind() {
            io::ErrorKind::ConnectionRefused => {
                "nothing listens there: start the balancer, or correct host and port"
            }
            io::ErrorKind::TimedOut => "nobody answers: look at firewalls and routes",
            _ => "correct the name, or look at the DNS and the network",
        };
        format!("{} cannot be reached: {error}; {remedy}", self.url)
    }
}
