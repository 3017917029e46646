//! How servers are reached: where, with which credentials, over TLS or not.

use std::fmt;

use redis::io::tcp::TcpSettings;
use redis::{
    Client, ClientTlsConfig, ConnectionAddr, IntoConnectionInfo, ProtocolVersion,
    RedisConnectionInfo, RedisResult, TlsCertificates,
};
use zeroize::Zeroizing;

/// The host and port of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostPort {
    pub(super) host: String,
    pub(super) port: u16,
}

impl fmt::Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// What a server is to be shown, and the other way round.
#[derive(Clone, Default)]
pub(super) struct Access {
    pub(super) user: Option<String>,
    pub(super) password: Option<Zeroizing<String>>,
    pub(super) database: i64,
    /// Certificates, where servers are reached over TLS.
    pub(super) tls: Option<Tls>,
}

/// What TLS needs. Without any of it the system's roots are trusted, and no certificate is shown.
#[derive(Clone, Default)]
pub(super) struct Tls {
    /// The authorities to trust instead of the system's, as PEM.
    pub(super) authorities: Option<Vec<u8>>,
    /// The certificate to show, with its key.
    pub(super) own: Option<Own>,
}

/// A certificate and its private key, as PEM.
#[derive(Clone)]
pub(super) struct Own {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Zeroizing<Vec<u8>>,
}

impl Access {
    /// A client for the server at an address.
    ///
    /// # Errors
    /// When what is given for TLS cannot be used.
    pub(super) fn client(&self, at: &HostPort) -> RedisResult<Client> {
        let mut settings = RedisConnectionInfo::default()
            // Hints arrive, and a lost connection is noticed, only with this version.
            .set_protocol(ProtocolVersion::RESP3)
            // Takes a right that Redis 7.0 does not know.
            .set_skip_set_lib_name()
            .set_db(self.database);
        if let Some(user) = &self.user {
            settings = settings.set_username(user);
        }
        if let Some(password) = &self.password {
            settings = settings.set_password(password.as_str());
        }
        let address = match &self.tls {
            None => ConnectionAddr::Tcp(at.host.clone(), at.port),
            Some(_) => ConnectionAddr::TcpTls {
                host: at.host.clone(),
                port: at.port,
                insecure: false,
                tls_params: None,
            },
        };
        let info = address
            .into_connection_info()?
            .set_redis_settings(settings)
            .set_tcp_settings(TcpSettings::default().set_nodelay(true));
        let Some(tls) = &self.tls else { return Client::open(info) };
        // Fails only where there is one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let own = tls.own.as_ref().map(|own| ClientTlsConfig {
            client_cert: own.certificate.clone(),
            client_key: own.key.to_vec(),
        });
        let certificates = TlsCertificates { client_tls: own, root_cert: tls.authorities.clone() };
        Client::build_with_tls(info, certificates)
    }
}

impl fmt::Debug for Access {
    /// Without credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Access")
            .field("database", &self.database)
            .field("tls", &self.tls.is_some())
            .finish_non_exhaustive()
    }
}
