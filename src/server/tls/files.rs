//! From files to what TLS is served with.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use zeroize::Zeroizing;

use super::{ClientCertificates, TlsError, TlsOptions, Validity};
use crate::store::{SystemTimeSource, TimeSource as _};

impl TlsOptions {
    /// The files, in the order in which [`Contents::read`] takes what is in them.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let authorities = self.clients.as_ref().map(|clients| clients.authorities.clone());
        [self.certificate.clone(), self.key.clone()].into_iter().chain(authorities).collect()
    }
}

/// What the files hold.
pub(super) struct Contents {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    clients: Option<Clients>,
}

struct Clients {
    authorities: RootCertStore,
    optional: bool,
}

impl Contents {
    /// Reads the files, and says for how long their certificate is good.
    pub(super) fn open(options: &TlsOptions) -> Result<(Self, Validity), TlsError> {
        let contents = options.paths().into_iter().map(std::fs::read).collect();
        let contents = Self::read(options, contents)?;
        let validity = contents.validity();
        Ok((contents, validity))
    }

    /// For how long the certificate is good, and those up to its authority.
    pub(super) fn validity(&self) -> Validity {
        Validity::of(&self.chain, SystemTimeSource.now())
    }

    /// Reads what was found in the files that the options name.
    pub(super) fn read(
        options: &TlsOptions,
        contents: Vec<io::Result<Vec<u8>>>,
    ) -> Result<Self, TlsError> {
        let mut contents = contents.into_iter();
        let mut next = |option, path: &PathBuf| {
            let content = contents.next().expect("a content for each path");
            let unreadable = |source| TlsError::Unreadable { option, path: path.clone(), source };
            content.map(Zeroizing::new).map_err(unreadable)
        };
        let TlsOptions { certificate, key, clients } = options;
        let chain = next("--tls-cert", certificate)?;
        let chain = certificates(&chain).ok_or_else(|| TlsError::Content {
            option: "--tls-cert",
            path: certificate.clone(),
            expected: "certificates, the server's own first",
        })?;
        let own = next("--tls-key", key)?;
        let own = PrivateKeyDer::from_pem_slice(&own).map_err(|_| TlsError::Content {
            option: "--tls-key",
            path: key.clone(),
            expected: "a private key that is not encrypted",
        })?;
        let clients = clients.as_ref().map(|ClientCertificates { authorities: path, optional }| {
            let option = "--tls-client-ca";
            let content = next(option, path)?;
            let mut authorities = RootCertStore::empty();
            let all = certificates(&content).filter(|all| {
                all.iter().all(|certificate| authorities.add(certificate.clone()).is_ok())
            });
            all.ok_or_else(|| TlsError::Content {
                option,
                path: path.clone(),
                expected: "certificates of authorities",
            })?;
            Ok::<_, TlsError>(Clients { authorities, optional: *optional })
        });
        Ok(Self { chain, key: own, clients: clients.transpose()? })
    }

    /// What TLS is served with.
    pub(super) fn configure(self) -> Result<ServerConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()?;
        let builder = match self.clients {
            None => builder.with_no_client_auth(),
            Some(Clients { authorities, optional }) => {
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider);
                let verifier = if optional { verifier.allow_unauthenticated() } else { verifier };
                builder.with_client_cert_verifier(verifier.build()?)
            }
        };
        let mut config = builder.with_single_cert(self.chain, self.key)?;
        // gRPC is HTTP/2; gRPC-Web also comes over HTTP/1.1.
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// The certificates in a file: at least one, and nothing that is not PEM.
fn certificates(pem: &[u8]) -> Option<Vec<CertificateDer<'static>>> {
    let all = CertificateDer::pem_slice_iter(pem).collect::<Result<Vec<_>, _>>().ok()?;
    Some(all).filter(|all| !all.is_empty())
}
