//! Authorities of the tests' own, and certificates of theirs.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};

/// An authority, in which only those trust who are told to.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, as PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// When a certificate is good for something.
#[derive(Clone, Copy)]
pub(crate) enum Validity {
    /// For longer than any test runs.
    Now,
    /// Not any more.
    Over,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new([]).expect("parameters");
        // Another name than those it signs for, which would look as if they signed themselves.
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("an authority"))
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names.
    pub(crate) fn issue(&self, names: &[&str], validity: Validity) -> Identity {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).expect("parameters");
        params.not_after = match validity {
            Validity::Now => date_time_ymd(4000, 1, 1),
            Validity::Over => date_time_ymd(2020, 1, 1),
        };
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        Identity { certificate: certificate.pem(), key: key.serialize_pem() }
    }
}
