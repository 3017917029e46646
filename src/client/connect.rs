//! The way to a service.

use std::path::PathBuf;
use std::time::Duration;

use tonic::metadata::AsciiMetadataValue;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};

/// How long a connection may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How a client behaves.
#[derive(Clone, Debug)]
pub struct Options {
    /// An API key, where the service wants one.
    pub api_key: Option<AsciiMetadataValue>,
    /// A file of authorities to trust instead of the system's (PEM), for `https`.
    pub authorities: Option<PathBuf>,
    /// How long one attempt of a call may take: 5 s by default.
    pub attempt: Duration,
    /// How long a call may take with all its repetitions: 30 s by default.
    pub total: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            api_key: None,
            authorities: None,
            attempt: Duration::from_secs(5),
            total: Duration::from_secs(30),
        }
    }
}

/// Why there is no way to a service.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is none.
    #[error(
        "`{address}` is no address of a service: write HOST:PORT, http://HOST:PORT or https://HOST[:PORT]"
    )]
    Address {
        /// What was given.
        address: String,
    },
    /// The file of authorities cannot be read.
    #[error("{}: the authorities cannot be read: {source}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It cannot be reached.
    #[error("{address} cannot be reached: {}; is a service running there?", innermost(source))]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        source: tonic::transport::Error,
    },
}

/// The cause that says something: transport errors by themselves say "transport error".
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Connects; the connection is made anew by itself when it is lost.
pub(super) async fn connect(address: &str, options: &Options) -> Result<Channel, ConnectError> {
    let wrong = || ConnectError::Address { address: address.to_owned() };
    let written =
        if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
    let mut endpoint = Endpoint::from_shared(written).map_err(|_| wrong())?;
    let (scheme, host) = (endpoint.uri().scheme_str(), endpoint.uri().host());
    if !matches!(scheme, Some("http" | "https")) || host.is_none_or(str::is_empty) {
        return Err(wrong());
    }
    if scheme == Some("https") {
        let tls = match &options.authorities {
            None => ClientTlsConfig::new().with_native_roots(),
            Some(path) => {
                let pem = std::fs::read(path)
                    .map_err(|source| ConnectError::Authorities { path: path.clone(), source })?;
                ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem))
            }
        };
        endpoint = endpoint.tls_config(tls).map_err(|_| wrong())?;
    }
    let endpoint = endpoint
        .connect_timeout(PATIENCE)
        .tcp_nodelay(true)
        // So that a watch learns of a service that went without a word.
        .http2_keep_alive_interval(Duration::from_secs(10))
        .keep_alive_timeout(Duration::from_secs(10));
    endpoint
        .connect()
        .await
        .map_err(|source| ConnectError::Unreachable { address: address.to_owned(), source })
}
