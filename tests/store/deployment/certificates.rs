//! An authority of the test's own, and certificates of it.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::TempDir;

use crate::support::redis_server::{RedisServer, free_port};

/// The files of an authority, of a server and of a client, as PEM.
pub(crate) struct Certificates {
    directory: TempDir,
}

impl Certificates {
    pub(crate) fn make() -> Self {
        let certificates = Self { directory: TempDir::new().expect("a directory") };
        certificates.renew();
        certificates
    }

    /// Makes all of them anew, of another authority, in the same files.
    pub(crate) fn renew(&self) {
        let key = || KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new([]).expect("parameters");
        // Another name than those it signs for, which would look as if they signed themselves.
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(params, key()).expect("an authority");
        let write = |name: &str, pem: String| {
            std::fs::write(self.path(name), pem).expect("a file");
        };
        write("ca.pem", authority.pem());
        for (name, hosts) in
            [("server", vec!["localhost", "127.0.0.1"]), ("client", vec!["client"])]
        {
            let hosts: Vec<String> = hosts.into_iter().map(Into::into).collect();
            let key = key();
            let params = CertificateParams::new(hosts).expect("parameters");
            let certificate = params.signed_by(&key, &authority).expect("a certificate");
            write(&format!("{name}.pem"), certificate.pem());
            write(&format!("{name}.key"), key.serialize_pem());
        }
    }

    /// Where a file is.
    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.path().join(name).display().to_string()
    }

    /// What an address names of them.
    pub(crate) fn options(&self) -> String {
        let [ca, cert, key] = ["ca.pem", "client.pem", "client.key"].map(|name| self.path(name));
        format!("ca={ca}&cert={cert}&key={key}")
    }

    /// Starts a server that wants a certificate of every client of its second port; and says
    /// which that is. Its first one is for the test.
    pub(crate) fn start_server(&self, options: &[&str]) -> (RedisServer, u16) {
        let port = free_port();
        let tls = self.server_options(port);
        let tls: Vec<&str> = tls.iter().map(String::as_str).collect();
        (RedisServer::start_with(&[options, &tls].concat()), port)
    }

    /// The options of a server with TLS on this port.
    pub(crate) fn server_options(&self, port: u16) -> [String; 10] {
        let option = |name: &str| format!("--tls-{name}");
        [
            option("port"),
            port.to_string(),
            option("ca-cert-file"),
            self.path("ca.pem"),
            option("cert-file"),
            self.path("server.pem"),
            option("key-file"),
            self.path("server.key"),
            option("auth-clients"),
            "yes".into(),
        ]
    }
}
