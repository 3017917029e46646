//! The options of `banqi serve` that TLS takes.

use std::path::PathBuf;

use clap::Args;

use crate::server::{ClientCertificates, TlsOptions};

/// With what gRPC is secured.
#[derive(Args, Clone, Debug)]
pub(super) struct TlsArguments {
    /// File of the certificate to serve TLS with, and of those up to its authority, as PEM
    #[arg(long, env = "BANQI_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// File of the certificate's private key, as PEM
    #[arg(long, env = "BANQI_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// File of the authorities, as PEM, of which callers must show a certificate (mutual TLS)
    #[arg(long, env = "BANQI_TLS_CLIENT_CA", value_name = "FILE", requires = "tls_cert")]
    tls_client_ca: Option<PathBuf>,

    /// Let those connect as well who show no certificate; one that is shown must be right
    #[arg(long, env = "BANQI_TLS_CLIENT_OPTIONAL", requires = "tls_client_ca")]
    tls_client_optional: bool,
}

impl TlsArguments {
    /// Whether TLS is to be served.
    pub(super) fn is_given(&self) -> bool {
        self.tls_cert.is_some()
    }
}

impl From<TlsArguments> for Option<TlsOptions> {
    fn from(arguments: TlsArguments) -> Self {
        let clients = arguments.tls_client_ca.map(|authorities| ClientCertificates {
            authorities,
            optional: arguments.tls_client_optional,
        });
        let (certificate, key) = arguments.tls_cert.zip(arguments.tls_key)?;
        Some(TlsOptions { certificate, key, clients })
    }
}
