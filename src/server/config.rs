//! What can be configured, checked apart from where it comes from.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use http::{HeaderValue, Uri};

use super::tls::TlsOptions;
use super::traces::TraceOptions;
use crate::api::callers::CallerOptions;
use crate::api::{HostOptions, WatchPace};

/// The configuration of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Where gRPC and gRPC-Web are served.
    pub listen: SocketAddr,
    /// Where probes are served over plain HTTP, if at all.
    pub http_listen: Option<SocketAddr>,
    /// What gRPC is secured with, if it is.
    pub tls: Option<TlsOptions>,
    /// Whether callers that cannot be told apart may come from other machines.
    pub insecure: bool,
    /// Web pages of which other origins may call.
    pub cors_origins: Vec<CorsOrigin>,
    /// How long to go on as before after readiness is off, so that balancers notice.
    pub stop_delay: Duration,
    /// How long calls in flight may take after that.
    pub stop_grace: Duration,
    /// Whether the page for playing in a browser is served.
    pub page: bool,
    /// How much is taken on at once.
    pub load: Load,
    /// How callers are told apart.
    pub callers: CallerOptions,
    /// How games are hosted.
    pub host: HostOptions,
    /// How watching is paced.
    pub watching: WatchPace,
    /// Where traces go and of which calls, if they go anywhere.
    pub traces: Option<TraceOptions>,
}

/// How much a replica takes on at once, over all connections; what is over that is refused with
/// `OVERLOADED`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// Calls that are being answered.
    pub calls: NonZeroU32,
    /// Streams that are open, and polls that wait.
    pub streams: NonZeroU32,
}

impl Default for Load {
    fn default() -> Self {
        let [calls, streams] =
            [4_096, 250_000].map(|count| NonZeroU32::new(count).expect("not zero"));
        Self { calls, streams }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 50051)),
            http_listen: None,
            tls: None,
            insecure: false,
            cors_origins: Vec::new(),
            stop_delay: Duration::ZERO,
            stop_grace: Duration::from_secs(10),
            page: true,
            load: Load::default(),
            callers: CallerOptions::default(),
            host: HostOptions::default(),
            watching: WatchPace::default(),
            traces: None,
        }
    }
}

/// A configuration that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// An address that other machines can reach, while anyone may call.
    #[error(
        "--listen {address} can be reached from other machines, and anyone there may call: listen \
         on a loopback address such as 127.0.0.1:{}, let only the holders of API keys call \
         (--auth), or only those with a certificate (--tls-client-ca), or add --insecure where the network itself keeps strangers out",
        address.port()
    )]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// Callers told apart and all trusted.
    #[error(
        "--auth and --dev-platform contradict each other: with --dev-platform everyone may do \
         everything; leave it out, and give a key the role platform"
    )]
    AuthAndDevPlatform,
    /// One address for two things.
    #[error(
        "--listen and --http-listen both name {address}: give one of them another port, as \
         --http-listen {}:8080",
        address.ip()
    )]
    OneAddress {
        /// The address.
        address: SocketAddr,
    },
}

impl Config {
    /// Refuses what would be unsafe without being asked for.
    ///
    /// # Errors
    /// What is unsafe, and what to do about it.
    pub fn check(&self) -> Result<(), ConfigError> {
        // Of port 0 each takes another one.
        if self.http_listen == Some(self.listen) && self.listen.port() != 0 {
            return Err(ConfigError::OneAddress { address: self.listen });
        }
        let has_keys = self.callers.auth.is_some();
        if has_keys && self.callers.dev_platform {
            return Err(ConfigError::AuthAndDevPlatform);
        }
        // Whoever shows no certificate of a trusted authority does not get in.
        let clients = self.tls.as_ref().and_then(|tls| tls.clients.as_ref());
        let keeps_out = clients.is_some_and(|clients| !clients.optional);
        let is_safe = has_keys || keeps_out;
        if self.listen.ip().to_canonical().is_loopback() || self.insecure || is_safe {
            Ok(())
        } else {
            Err(ConfigError::Exposed { address: self.listen })
        }
    }
}

/// The origin of web pages that may call: a scheme, a host, and a port unless it is the scheme's
/// own; or `*` for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CorsOrigin {
    /// Every origin.
    Any,
    /// One origin, as browsers send it.
    Exact(HeaderValue),
}

/// A text that is no origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no origin: write `https://play.example`, with `:port` where it is unusual, or `*`"
)]
pub struct CorsOriginError(String);

impl FromStr for CorsOrigin {
    type Err = CorsOriginError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "*" {
            return Ok(Self::Any);
        }
        let fault = || CorsOriginError(text.to_owned());
        let uri: Uri = text.parse().map_err(|_| fault())?;
        let (Some(scheme @ ("http" | "https")), Some(host)) = (uri.scheme_str(), uri.authority())
        else {
            return Err(fault());
        };
        // A path, or a user's name, is no part of an origin; browsers write it in lower case.
        if text != format!("{scheme}://{host}") || host.as_str().contains('@') {
            return Err(fault());
        }
        HeaderValue::from_str(&text.to_lowercase()).map(Self::Exact).map_err(|_| fault())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("127.0.0.1:50051", false, true)]
    #[case("[::1]:50051", false, true)]
    #[case("[::ffff:127.0.0.1]:50051", false, true)]
    #[case("0.0.0.0:50051", false, false)]
    #[case("[::]:50051", false, false)]
    #[case("192.0.2.1:50051", false, false)]
    #[case("0.0.0.0:50051", true, true)]
    fn only_loopback_is_open_to_all(
        #[case] listen: SocketAddr,
        #[case] insecure: bool,
        #[case] allowed: bool,
    ) {
        let config = Config { listen, insecure, ..Config::default() };
        assert_eq!(config.check().is_ok(), allowed);
    }

    #[test]
    fn keys_open_every_address_and_contradict_trust_in_everyone() {
        let callers = CallerOptions { auth: Some("keys".into()), ..CallerOptions::default() };
        let listen = SocketAddr::from(([0, 0, 0, 0], 50051));
        let mut config = Config { listen, callers, ..Config::default() };
        assert_eq!(config.check(), Ok(()));
        config.callers.dev_platform = true;
        assert_eq!(config.check(), Err(ConfigError::AuthAndDevPlatform));
    }

    #[test]
    fn the_default_is_allowed() {
        assert_eq!(Config::default().check(), Ok(()));
    }

    #[rstest]
    #[case("https://play.example", true)]
    #[case("http://localhost:5173", true)]
    #[case("*", true)]
    #[case("https://play.example/", false)]
    #[case("https://play.example/page", false)]
    #[case("https://user@play.example", false)]
    #[case("play.example", false)]
    #[case("ftp://play.example", false)]
    #[case("", false)]
    fn origins_are_scheme_host_and_port(#[case] text: &str, #[case] valid: bool) {
        assert_eq!(text.parse::<CorsOrigin>().is_ok(), valid);
    }

    #[test]
    fn origins_are_compared_as_browsers_write_them() {
        let origin = "https://Play.Example".parse::<CorsOrigin>();
        assert_eq!(origin, Ok(CorsOrigin::Exact(HeaderValue::from_static("https://play.example"))));
    }
}
