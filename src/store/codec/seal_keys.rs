//! The keys that records are sealed with.

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use super::seal_key::{SealKey, SealKeyError, SealKeyId};
use crate::store::read_secret_file;

/// Keys that records are sealed with: the first seals, all of them open. That is how keys are
/// replaced while games go on.
#[derive(Clone, Debug)]
pub struct SealKeys {
    first: SealKey,
    others: Vec<SealKey>,
}

/// What is wrong with a line of a file of keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct SealKeyFault {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: SealKeyLineError,
}

/// Why a line cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealKeyLineError {
    /// It is no key.
    #[error(transparent)]
    Malformed(#[from] SealKeyError),
    /// Its key stands there already, or one that records could not tell from it, which happens to
    /// one pair of keys in four thousand million.
    #[error("is the key of line {0} again, or has the same id: leave it out, or make another key")]
    Repeated(usize),
    /// There is no key in the file.
    #[error("there is no key yet: write one, as `openssl rand -base64 32` prints it")]
    NoKeys,
}

/// Why a file of keys cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SealKeysError {
    /// It cannot be read.
    #[error("{path} cannot be read: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its lines are wrong.
    #[error("{path} is no file of keys to seal records with:{}", lines(.faults))]
    Malformed {
        /// The file.
        path: PathBuf,
        /// Every fault.
        faults: Vec<SealKeyFault>,
    },
}

fn lines(faults: &[SealKeyFault]) -> String {
    faults.iter().fold(String::new(), |mut text, fault| {
        let _ = write!(text, "\n  {fault}");
        text
    })
}

impl SealKeys {
    /// Reads a file of keys, one a line. Blank lines, and lines that begin with `#`, are passed over.
    ///
    /// # Errors
    /// What is wrong with it. A file that other users can read is warned of.
    pub fn open(path: &Path) -> Result<Self, SealKeysError> {
        let content = read_secret_file(path, "the keys that records are sealed with");
        let content = content
            .map_err(|source| SealKeysError::Unreadable { path: path.to_owned(), source })?;
        // What is no text is no key either, and its line says so.
        Self::read(&String::from_utf8_lossy(&content))
            .map_err(|faults| SealKeysError::Malformed { path: path.to_owned(), faults })
    }

    /// Reads the text of a file of keys.
    ///
    /// # Errors
    /// Every line that is wrong.
    pub fn read(text: &str) -> Result<Self, Vec<SealKeyFault>> {
        let mut keys: Vec<(usize, SealKey)> = Vec::new();
        let mut faults = Vec::new();
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
        for (line, text) in lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#')) {
            match text.parse::<SealKey>() {
                Ok(key) => match keys.iter().find(|(_, other)| other.id() == key.id()) {
                    None => keys.push((line, key)),
                    Some(&(first, _)) => {
                        faults
                            .push(SealKeyFault { line, fault: SealKeyLineError::Repeated(first) });
                    }
                },
                Err(fault) => faults.push(SealKeyFault { line, fault: fault.into() }),
            }
        }
        let mut keys = keys.into_iter().map(|(_, key)| key);
        match (keys.next(), faults.is_empty()) {
            (Some(first), true) => Ok(Self { first, others: keys.collect() }),
            (None, true) => Err(vec![SealKeyFault { line: 1, fault: SealKeyLineError::NoKeys }]),
            (_, false) => Err(faults),
        }
    }

    /// The ids of the keys, that of the one that seals first.
    pub fn ids(&self) -> impl Iterator<Item = SealKeyId> {
        self.all().map(SealKey::id)
    }

    /// The key that seals.
    pub(super) fn sealing(&self) -> &SealKey {
        &self.first
    }

    /// The key with this id.
    pub(super) fn find(&self, id: SealKeyId) -> Option<&SealKey> {
        self.all().find(|key| key.id() == id)
    }

    fn all(&self) -> impl Iterator<Item = &SealKey> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl fmt::Display for SealKeys {
    /// The ids of the keys, that of the one that seals first.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.ids().map(|id| id.to_string()).collect();
        f.write_str(&ids.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf 'A%.0s' $(seq 32) | openssl base64`, and the same for B.
    const A: &str = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
    const B: &str = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=";

    fn faults(text: &str) -> Vec<String> {
        let faults = SealKeys::read(text).expect_err("wrong");
        faults.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_first_key_seals_and_an_id_is_the_start_of_a_hash() {
        let keys = SealKeys::read(&format!("# keys\n\n  {B}\r\n{A}\n")).expect("keys");
        // (printf 'banqi-sealing-key-v1\0'; printf 'B%.0s' $(seq 32)) | sha256sum
        assert_eq!(keys.to_string(), "42d57675, db412410");
        assert_eq!(keys.sealing().id(), keys.ids().next().expect("a key"));
    }

    #[test]
    fn every_wrong_line_is_told_with_its_number_and_what_would_be_right() {
        let short = &A[4..];
        let cases = format!("{A}\n{short}\n#\n{A}{A}\nnonsense\n{}\n\u{e4}", "0".repeat(64));
        let told = faults(&cases);
        assert_eq!(told.len(), 5, "{told:?}");
        for (line, told) in [2, 4, 5, 6, 7].into_iter().zip(&told) {
            assert!(told.starts_with(&format!("line {line}: is no key: ")), "{told}");
            assert!(told.contains("openssl rand -base64 32"), "{told}");
        }
        assert!(!told.concat().contains(short), "no key is repeated");
    }

    #[test]
    fn a_key_that_stands_there_twice_is_refused_and_so_is_a_file_without_one() {
        let told = faults(&format!("{A}\n{B}\n{A}"));
        assert!(told[0].starts_with("line 3: is the key of line 1 again"), "{told:?}");
        for text in ["", "\n# nothing yet\n"] {
            assert!(faults(text)[0].contains("there is no key yet"));
        }
    }

    #[test]
    fn nothing_of_a_key_is_printed_by_accident() {
        let keys = SealKeys::read(&format!("{A}\n{B}")).expect("keys");
        let told = format!("{keys:?} {keys:#?} {keys}");
        assert!(told.contains("secret"), "{told}");
        for secret in [A, B, "AAAA", "BBBB", "65, 65", "66, 66", "41, 41"] {
            assert!(!told.contains(secret), "{told}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_told() {
        let error = SealKeys::open(Path::new("no/such/file")).expect_err("nowhere");
        assert!(error.to_string().starts_with("no/such/file cannot be read: "), "{error}");
    }
}
