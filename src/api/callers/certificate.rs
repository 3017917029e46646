//! What the certificates that callers show prove of them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use x509_parser::extensions::GeneralName;
use x509_parser::parse_x509_certificate;

/// A name that a certificate proves: a DNS name, a URI or an e-mail address among its alternative
/// names (RFC 5280 §4.2.1.6), as it stands there. Not its common name, which is of no kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CertificateName(Arc<str>);

impl CertificateName {
    /// What a certificate's name begins with in a key file, which a key's hash cannot begin with.
    pub const PREFIX: &'static str = "cert:";
}

impl fmt::Display for CertificateName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0)
    }
}

/// A text that names no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "names no certificate: write `cert:` and a DNS name, URI or e-mail address among its \
     alternative names, like `cert:lobby.example`"
)]
pub struct CertificateNameError;

impl FromStr for CertificateName {
    type Err = CertificateNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix(Self::PREFIX) {
            Some(name) if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Self(name.into()))
            }
            _ => Err(CertificateNameError),
        }
    }
}

/// What a connection proves of whoever opened it: the names in the certificate that it showed, of
/// an authority that the service trusts. None where it showed none.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    names: Arc<[CertificateName]>,
}

impl Peer {
    /// Whoever showed this certificate, in DER, which must have been verified before.
    pub fn with_certificate(certificate: &[u8]) -> Self {
        let names = parse_x509_certificate(certificate).ok().and_then(|(_, certificate)| {
            let names = certificate.subject_alternative_name().ok()??;
            Some(names.value.general_names.iter().filter_map(name).collect())
        });
        Self { names: names.unwrap_or_default() }
    }

    /// The names.
    pub fn names(&self) -> &[CertificateName] {
        &self.names
    }
}

fn name(name: &GeneralName<'_>) -> Option<CertificateName> {
    match name {
        GeneralName::DNSName(text) | GeneralName::URI(text) | GeneralName::RFC822Name(text) => {
            Some(CertificateName((*text).into()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair, SanType};
    use rstest::rstest;

    use super::*;

    #[test]
    fn names_are_the_alternative_ones() {
        let names = ["lobby.example".to_owned()];
        let mut params = CertificateParams::new(names).expect("parameters");
        params.distinguished_name.push(DnType::CommonName, "common");
        for san in [
            SanType::URI("spiffe://example/lobby".try_into().expect("ASCII")),
            SanType::Rfc822Name("lobby@example".try_into().expect("ASCII")),
            SanType::IpAddress([127, 0, 0, 1].into()),
        ] {
            params.subject_alt_names.push(san);
        }
        let certificate = params.self_signed(&KeyPair::generate().expect("a key"));
        let peer = Peer::with_certificate(certificate.expect("a certificate").der());
        let names: Vec<String> = peer.names().iter().map(ToString::to_string).collect();
        assert_eq!(
            names,
            ["cert:lobby.example", "cert:spiffe://example/lobby", "cert:lobby@example"]
        );
    }

    #[test]
    fn what_is_no_certificate_proves_nothing() {
        assert!(Peer::with_certificate(b"\x30\x03\x02\x01\x01").names().is_empty());
    }

    #[rstest]
    #[case("cert:lobby.example", true)]
    #[case("cert:spiffe://example/lobby", true)]
    #[case("cert:", false)]
    #[case("lobby.example", false)]
    #[case("cert:lobby example", false)]
    fn names_are_written_with_their_prefix(#[case] text: &str, #[case] valid: bool) {
        let name = text.parse::<CertificateName>();
        assert_eq!(name.is_ok(), valid);
        assert!(name.is_err() || name.expect("a name").to_string() == text);
    }
}
