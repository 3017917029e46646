//! How servers are reached: where, with which credentials, over TLS or not.

use std::fmt;
use std::sync::Arc;

use redis::io::tcp::TcpSettings;
use redis::{
    Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisConnectionInfo, RedisResult,
    TlsCertificates,
};
use zeroize::Zeroizing;

use super::tls::Tls;

/// The host and port of a server.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HostPort {
    pub(super) host: Arc<str>,
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

impl Access {
    /// A client for the server at an address.
    ///
    /// # Errors
    /// When a file of those for TLS cannot be read now, or used.
    pub(super) async fn client(&self, at: &HostPort) -> RedisResult<Client> {
        let certificates = match &self.tls {
            Some(tls) => Some(tls.read_now().await?),
            None => None,
        };
        self.client_with(at, certificates)
    }

    /// A client for the server at an address, with these certificates where it is reached over TLS.
    ///
    /// # Errors
    /// When they cannot be used.
    pub(super) fn client_with(
        &self,
        at: &HostPort,
        certificates: Option<TlsCertificates>,
    ) -> RedisResult<Client> {
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
        let address = match &certificates {
            None => ConnectionAddr::Tcp(at.host.to_string(), at.port),
            Some(_) => ConnectionAddr::TcpTls {
                host: at.host.to_string(),
                port: at.port,
                insecure: false,
                tls_params: None,
            },
        };
        let info = address
            .into_connection_info()?
            .set_redis_settings(settings)
            .set_tcp_settings(TcpSettings::default().set_nodelay(true));
        let Some(certificates) = certificates else { return Client::open(info) };
        // Fails only where there is one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
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
