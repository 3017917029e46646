//! The key that a platform's services share: player tokens are made with it.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use zeroize::Zeroizing;

use crate::store::read_secret_file;

/// A secret of at least 32 bytes, the same on every replica.
#[derive(Clone)]
pub struct ServiceKey(Zeroizing<Vec<u8>>);

/// Why a service key cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ServiceKeyError {
    /// Its file cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is too short.
    #[error(
        "{path} has {length} bytes, but must have at least {}: make one with `openssl rand \
         -base64 48`",
        ServiceKey::MIN_LENGTH
    )]
    TooShort {
        /// The file.
        path: PathBuf,
        /// How many bytes it has, white space at its end left out.
        length: usize,
    },
}

impl ServiceKey {
    /// The shortest key, in bytes.
    pub const MIN_LENGTH: usize = 32;

    /// Reads a key. White space at the end of the file, as editors leave it, is no part of it.
    ///
    /// # Errors
    /// Where the file cannot be read or is too short. One that other users can read is warned of.
    pub fn open(path: &Path) -> Result<Self, ServiceKeyError> {
        let content = read_secret_file(path, "the service key, and so make player tokens")
            .map_err(|source| ServiceKeyError::Unreadable { path: path.to_owned(), source })?;
        let key = content.trim_ascii_end();
        if key.len() < Self::MIN_LENGTH {
            let path = path.to_owned();
            return Err(ServiceKeyError::TooShort { path, length: key.len() });
        }
        Ok(Self(Zeroizing::new(key.to_vec())))
    }

    /// The key with these bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: [u8; Self::MIN_LENGTH]) -> Self {
        Self(Zeroizing::new(bytes.to_vec()))
    }

    /// The bytes, for hashing.
    pub(super) fn expose(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ServiceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServiceKey(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(content: &[u8]) -> Result<ServiceKey, ServiceKeyError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), content).expect("written");
        ServiceKey::open(file.path())
    }

    #[test]
    fn a_short_key_is_refused_with_its_length_and_a_remedy() {
        let error = open(&[b"x".repeat(31), b"\r\n \n".to_vec()].concat()).expect_err("short");
        let told = error.to_string();
        assert!(told.contains("has 31 bytes") && told.contains("openssl rand"), "{told}");
        let error = ServiceKey::open(Path::new("no/such/file")).expect_err("nowhere");
        assert!(error.to_string().starts_with("no/such/file cannot be read: "), "{error}");
    }

    #[test]
    fn white_space_at_the_end_is_no_part_of_a_key() {
        let key = open(&[b"x".repeat(32), b"\n".to_vec()].concat()).expect("long enough");
        assert_eq!(key.expose(), b"x".repeat(32));
        assert_eq!(format!("{key:?}"), "ServiceKey(secret)");
    }
}
