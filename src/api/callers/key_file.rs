//! The key file of a service, read again when it changes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::{fs, io};

use super::api_key::KeyHash;
use super::certificate::Peer;
use super::keys::{KeyEntry, KeyFault, Keys};
use crate::api::followed_files::follow;

/// Why a key file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// It cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its lines are wrong.
    #[error("{path} is no key file:{}", lines(.faults))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Every fault.
        faults: Vec<KeyFault>,
    },
}

fn lines(faults: &[KeyFault]) -> String {
    faults.iter().fold(String::new(), |mut text, fault| {
        let _ = write!(text, "\n  {fault}");
        text
    })
}

/// A key file, and the keys that were in it when it last could be read.
#[derive(Debug)]
pub(super) struct KeyFile {
    path: PathBuf,
    keys: RwLock<Keys>,
}

impl KeyFile {
    /// Reads a key file.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn open(path: &Path) -> Result<Self, KeyFileError> {
        let keys = parse(path, fs::read(path))?;
        tracing::info!(file = %path.display(), keys = keys.count(), "API keys are read");
        Ok(Self { path: path.to_owned(), keys: RwLock::new(keys) })
    }

    /// The line of the key with this hash, as the file stands.
    pub(super) fn find(&self, hash: &KeyHash) -> Option<Arc<KeyEntry>> {
        self.keys().find(hash)
    }

    /// The first line that names a certificate which the peer has shown, as the file stands.
    pub(super) fn find_peer(&self, peer: &Peer) -> Option<Arc<KeyEntry>> {
        self.keys().find_peer(peer)
    }

    /// Whether the file still has this line.
    pub(super) fn has(&self, entry: &KeyEntry) -> bool {
        self.keys().has(entry)
    }

    fn keys(&self) -> RwLockReadGuard<'_, Keys> {
        // A replacement is one assignment, which no panic leaves half-done.
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes up changes of the file for as long as it is polled. A file that became wrong changes
    /// nothing and is logged, once.
    pub(super) async fn follow(&self) {
        let take = |contents: Vec<_>| {
            contents.into_iter().for_each(|content| self.take(parse(&self.path, content)));
        };
        follow(vec![self.path.clone()], take).await;
    }

    fn take(&self, read: Result<Keys, KeyFileError>) {
        match read {
            Ok(new) => {
                let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
                if *keys != new {
                    tracing::info!(file = %self.path.display(), keys = new.count(), "API keys have changed");
                    *keys = new;
                }
            }
            Err(error) => tracing::error!(%error, "API keys stay as they were"),
        }
    }
}

fn parse(path: &Path, content: io::Result<Vec<u8>>) -> Result<Keys, KeyFileError> {
    let unreadable = |source| KeyFileError::Unreadable { path: path.to_owned(), source };
    let text = content.and_then(|bytes| {
        String::from_utf8(bytes)
            .map_err(|fault| io::Error::new(io::ErrorKind::InvalidData, fault.utf8_error()))
    });
    Keys::read(&text.map_err(unreadable)?)
        .map_err(|faults| KeyFileError::Malformed { path: path.to_owned(), faults })
}

#[cfg(test)]
mod tests {
    use super::super::api_key::ApiKey;
    use super::*;

    #[test]
    fn a_file_that_became_wrong_changes_nothing() {
        let hash = |byte| ApiKey::new([byte; 32]).hash();
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), format!("a reader {}", hash(1))).expect("written");
        let keys = KeyFile::open(file.path()).expect("a key file");
        let take = |content| keys.take(parse(file.path(), content));
        for content in [
            Ok(format!("a reader {}\nb reader 12", hash(2)).into_bytes()),
            Ok(b"\xff".to_vec()),
            Ok(Vec::new()),
            Err(io::ErrorKind::NotFound.into()),
        ] {
            take(content);
            assert!(keys.find(&hash(1)).is_some() && keys.find(&hash(2)).is_none());
        }
        take(Ok(format!("a reader {}", hash(2)).into_bytes()));
        assert!(keys.find(&hash(1)).is_none() && keys.find(&hash(2)).is_some());
    }
}
