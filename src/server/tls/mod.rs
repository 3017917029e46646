//! Serving over TLS, with certificates that can be replaced while serving.

mod accept;
mod connection;
mod files;
mod validity;

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::server::VerifierBuilderError;
use tokio_rustls::TlsAcceptor;

pub(super) use accept::connections;

pub use self::validity::Validity;

use self::files::Contents;
use crate::api::followed_files::follow;

/// Which files TLS needs, all of them PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsOptions {
    /// The certificate to show, with those between it and its authority.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
    /// Whose certificates callers may show; without it they are not asked for any.
    pub clients: Option<ClientCertificates>,
}

/// Which certificates callers may show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCertificates {
    /// The authorities that they must be of.
    pub authorities: PathBuf,
    /// Whether those who show none may connect all the same.
    pub optional: bool,
}

/// Why TLS cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{option} {path} cannot be read: {source}")]
    Unreadable {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("{option} {path} is not PEM with {expected}")]
    Content {
        /// The option that names it.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What it should hold.
        expected: &'static str,
    },
    /// The certificate and the key cannot be used, or not together.
    #[error(
        "--tls-cert and --tls-key cannot be used together: {0}; the key must be the one that the \
         file's first certificate is for"
    )]
    Unusable(#[from] rustls::Error),
    /// The authorities of callers' certificates cannot be used.
    #[error("--tls-client-ca cannot be used: {0}")]
    Authorities(#[from] VerifierBuilderError),
}

/// What TLS is served with.
#[derive(Debug)]
pub struct Tls {
    options: TlsOptions,
    current: RwLock<Arc<ServerConfig>>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// What is wrong with one.
    pub fn open(options: TlsOptions) -> Result<Arc<Self>, TlsError> {
        let (contents, validity) = Contents::open(&options)?;
        let current = RwLock::new(Arc::new(contents.configure()?));
        validity.warn();
        Ok(Arc::new(Self { options, current }))
    }

    /// Whether TLS could be served with these files, and for how long their certificate is good.
    ///
    /// # Errors
    /// What is wrong with one.
    pub fn check(options: &TlsOptions) -> Result<Validity, TlsError> {
        let (contents, validity) = Contents::open(options)?;
        contents.configure()?;
        Ok(validity)
    }

    /// Takes up changes of the files for as long as it is polled; never ends. Files that became
    /// wrong change nothing and are logged, once. Connections that are open stay as they are.
    pub(super) async fn follow(&self) {
        let mut first = true;
        let take = |contents| {
            let read = Contents::read(&self.options, contents).and_then(|contents| {
                let validity = contents.validity();
                Ok((contents.configure()?, validity))
            });
            match read {
                Ok((config, validity)) => {
                    // A replacement is one assignment, which no panic leaves half-done.
                    let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
                    *current = Arc::new(config);
                    if !std::mem::take(&mut first) {
                        tracing::info!("certificates have changed");
                        validity.warn();
                    }
                }
                Err(error) => tracing::error!(%error, "certificates stay as they were"),
            }
        };
        follow(self.options.paths(), take).await;
    }

    /// What shakes hands as the files stand.
    fn acceptor(&self) -> TlsAcceptor {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner)).into()
    }
}
