//! Where traces go.

use std::str::FromStr;

use http::Uri;

/// The address of a collector that takes OTLP over gRPC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectorUrl {
    text: String,
    is_secure: bool,
}

/// A text that is no such address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no address of a collector: write `http://HOST:4317`, or `https://HOST:4317` where it \
     has TLS, without a path"
)]
pub struct CollectorUrlError(String);

impl CollectorUrl {
    /// As it was written.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is reached over TLS.
    pub(super) fn is_secure(&self) -> bool {
        self.is_secure
    }
}

impl FromStr for CollectorUrl {
    type Err = CollectorUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // What may be a password is not told.
        let shown = text.rsplit_once('@').map_or(text.to_owned(), |(_, host)| format!("…@{host}"));
        let fault = || CollectorUrlError(shown.clone());
        let uri: Uri = text.parse().map_err(|_| fault())?;
        let is_secure = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(fault()),
        };
        // The path of a call is its method's; credentials are sent as headers and not in addresses.
        let is_whole = uri.query().is_none() && matches!(uri.path(), "" | "/");
        let names_host = uri.authority().is_some_and(|authority| {
            let (host, port) = (authority.host(), authority.port_u16());
            let whole = port.map_or(host.to_owned(), |port| format!("{host}:{port}"));
            !host.is_empty() && authority.as_str() == whole
        });
        if is_whole && names_host {
            Ok(Self { text: text.to_owned(), is_secure })
        } else {
            Err(fault())
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("http://127.0.0.1:4317", Some(false))]
    #[case("http://[::1]:4317/", Some(false))]
    #[case("https://otlp.example", Some(true))]
    #[case("collector:4317", None)]
    #[case("grpc://collector:4317", None)]
    #[case("http://collector:4318/v1/traces", None)]
    #[case("http://collector:4317?tls=no", None)]
    #[case("http://user:password@collector:4317", None)]
    #[case("http://collector:port", None)]
    #[case("http://", None)]
    #[case("", None)]
    fn an_address_is_a_scheme_a_host_and_a_port(#[case] text: &str, #[case] secure: Option<bool>) {
        let read = text.parse::<CollectorUrl>();
        assert_eq!(read.ok().map(|url| url.is_secure()), secure);
    }
}
