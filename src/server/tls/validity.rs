//! For how long a certificate is good.

use std::fmt;

use rustls::pki_types::CertificateDer;
use x509_parser::parse_x509_certificate;

use crate::game::{Millis, Span};

/// How long before the end of a certificate somebody is told.
const NOTICE: Span = Span::days(14);

/// Whether a certificate is good now, and for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validity {
    /// For longer than the notice that is given.
    Good,
    /// It ends within the notice.
    Ending {
        /// How many whole days are left.
        days: u64,
    },
    /// It has ended.
    Over,
    /// It has not begun.
    NotYet,
}

impl Validity {
    /// The validity of a chain of certificates, in DER: that of its worst. What is no certificate
    /// does not count.
    pub fn of<'a>(
        chain: impl IntoIterator<Item = &'a CertificateDer<'static>>,
        now: Millis,
    ) -> Self {
        let each = chain.into_iter().filter_map(|der| {
            let (_, certificate) = parse_x509_certificate(der).ok()?;
            let validity = certificate.validity();
            // What is before 1970 is long over.
            let time = |seconds: i64| Millis(u64::try_from(seconds).unwrap_or(0) * 1_000);
            Some(Self::between(
                time(validity.not_before.timestamp()),
                time(validity.not_after.timestamp()),
                now,
            ))
        });
        each.max_by_key(|validity| match validity {
            Self::Good => (0, 0),
            Self::Ending { days } => (1, u64::MAX - days),
            Self::NotYet => (2, 0),
            Self::Over => (3, 0),
        })
        .unwrap_or(Self::Good)
    }

    fn between(begins: Millis, ends: Millis, now: Millis) -> Self {
        if now < begins {
            Self::NotYet
        } else if now >= ends {
            Self::Over
        } else if ends.since(now) < NOTICE {
            Self::Ending { days: ends.since(now).0 / Span::days(1).0 }
        } else {
            Self::Good
        }
    }

    /// Warns the log of a certificate that is not good for long.
    pub(super) fn warn(self) {
        if self != Self::Good {
            tracing::warn!("--tls-cert: {self}");
        }
    }
}

impl fmt::Display for Validity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => f.write_str("the certificate is good for longer than two weeks"),
            Self::Ending { days } => {
                write!(f, "the certificate expires within {} days: replace its file", days + 1)
            }
            Self::Over => f.write_str(
                "the certificate has expired, and no client believes it: replace its file",
            ),
            Self::NotYet => f.write_str(
                "the certificate is not good yet: look at this machine's clock, or use another one",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_told_two_weeks_ahead() {
        let (begins, ends) = (Millis(1_000), Millis(1_000) + Span::days(90));
        let at = |now| Validity::between(begins, ends, now);
        assert_eq!(at(Millis(999)), Validity::NotYet);
        assert_eq!(at(begins), Validity::Good);
        assert_eq!(at(begins + Span::days(76)), Validity::Good);
        assert_eq!(at(begins + Span::days(77)), Validity::Ending { days: 13 });
        assert_eq!(at(Millis(ends.0 - 1)), Validity::Ending { days: 0 });
        assert_eq!(at(ends), Validity::Over);
    }
}
