//! Where clients reach the replicas.

use std::fmt;
use std::str::FromStr;

use http::Uri;

/// An address that clients call: a scheme, a host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli::doctor) struct Url {
    pub(super) secure: bool,
    /// Without the brackets of an IPv6 address.
    pub(super) host: String,
    pub(super) port: u16,
}

/// A text that is no such address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected `https://HOST` or `http://HOST`, with `:PORT` where it is unusual, and no path")]
pub(in crate::cli::doctor) struct UrlError;

impl Url {
    /// The host and port as requests name them.
    pub(super) fn authority(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.secure { "https" } else { "http" }, self.authority())
    }
}

impl FromStr for Url {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<Self, UrlError> {
        let uri: Uri = text.parse().map_err(|_| UrlError)?;
        let secure = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(UrlError),
        };
        let authority = uri.authority().ok_or(UrlError)?;
        let bare = uri.query().is_none() && matches!(uri.path(), "" | "/");
        if !bare || authority.as_str().contains('@') || authority.host().is_empty() {
            return Err(UrlError);
        }
        let host = authority.host().trim_matches(['[', ']']).to_owned();
        let port = authority.port_u16().unwrap_or(if secure { 443 } else { 80 });
        Ok(Self { secure, host, port })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://banqi.example", Some("https://banqi.example:443"))]
    #[case("http://127.0.0.1:50051/", Some("http://127.0.0.1:50051"))]
    #[case("http://[::1]:7", Some("http://[::1]:7"))]
    #[case("banqi.example:443", None)]
    #[case("grpc://banqi.example", None)]
    #[case("https://user:secret@banqi.example", None)]
    #[case("https://banqi.example/v1", None)]
    fn an_address_has_a_scheme_and_a_host(#[case] text: &str, #[case] read: Option<&str>) {
        let url = text.parse::<Url>().ok().map(|url| url.to_string());
        assert_eq!(url.as_deref(), read);
    }
}
