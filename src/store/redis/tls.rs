//! Certificates for connections over TLS, read anew for each of them: whoever replaces the files
//! need not start the service again.

use std::path::PathBuf;

use redis::{ClientTlsConfig, ErrorKind, RedisResult, TlsCertificates};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use zeroize::Zeroizing;

use crate::store::Misconfiguration;

/// What TLS needs. Without any of it the system's roots are trusted, and no certificate is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Tls {
    /// The file of the authorities to trust instead of the system's, as PEM.
    pub(super) authorities: Option<PathBuf>,
    /// The certificate to show, with its key.
    pub(super) own: Option<Own>,
}

/// The files of a certificate and its private key, as PEM.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

impl Tls {
    /// What the files hold now.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub(super) fn read(&self) -> Result<TlsCertificates, Misconfiguration> {
        let own = |own: &Own| {
            let client_cert = read(&own.certificate)?.to_vec();
            Ok(ClientTlsConfig { client_cert, client_key: read(&own.key)?.to_vec() })
        };
        let authorities = self.authorities.as_ref().map(read_certificates).transpose()?;
        Ok(TlsCertificates {
            client_tls: self.own.as_ref().map(own).transpose()?,
            root_cert: authorities.map(|authorities| authorities.to_vec()),
        })
    }

    /// The same, for who connects.
    ///
    /// # Errors
    /// The same.
    pub(super) async fn read_now(&self) -> RedisResult<TlsCertificates> {
        let files = self.clone();
        let what = "a file of `ca`, `cert` or `key` cannot be read";
        let unusable = |reason: String| (ErrorKind::InvalidClientConfig, what, reason);
        let read = tokio::task::spawn_blocking(move || files.read()).await;
        let read = read.map_err(|error| unusable(error.to_string()))?;
        Ok(read.map_err(|error| unusable(error.to_string()))?)
    }
}

/// Reads a file that must hold certificates: none at all would be trusted without a word.
fn read_certificates(path: &PathBuf) -> Result<Zeroizing<Vec<u8>>, Misconfiguration> {
    let content = read(path)?;
    let certificates = CertificateDer::pem_slice_iter(&content).collect::<Result<Vec<_>, _>>();
    match certificates {
        Ok(certificates) if !certificates.is_empty() => Ok(content),
        _ => Err(Misconfiguration::UnusableFile {
            path: path.display().to_string(),
            reason: "it is no PEM with certificates of authorities, as `ca` names".into(),
        }),
    }
}

fn read(path: &PathBuf) -> Result<Zeroizing<Vec<u8>>, Misconfiguration> {
    let unusable = |error: std::io::Error| Misconfiguration::UnusableFile {
        path: path.display().to_string(),
        reason: format!("{error}; correct `ca`, `cert` or `key` in the address"),
    };
    Ok(Zeroizing::new(std::fs::read(path).map_err(unusable)?))
}
