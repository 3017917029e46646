//! The keys of a key file: one a line, its name, its role and its hash. In the hash's place may
//! stand the name of a certificate, which is a key as well.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::api_key::{self, KeyHash, KeyHashError};
use super::certificate::{CertificateName, CertificateNameError, Peer};
use super::role::Role;

/// What a key is called: it tells callers apart, and stands in logs. 1 to 64 characters of `A-Z`,
/// `a-z`, `0-9`, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyName(Arc<str>);

impl KeyName {
    const MAX_LENGTH: usize = 64;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text that is no key's name. It may be a key by mistake and is not repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no name of a key: write 1 to 64 characters of A-Z, a-z, 0-9, `.`, `_` and `-`, not \
     beginning with `bqk_` as keys do"
)]
pub struct KeyNameError;

impl FromStr for KeyName {
    type Err = KeyNameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=Self::MAX_LENGTH).contains(&text.len())
            && text.bytes().all(allowed)
            && !text.starts_with(api_key::PREFIX)
        {
            Ok(Self(text.into()))
        } else {
            Err(KeyNameError)
        }
    }
}

/// What is known of a key: its line in a key file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyEntry {
    /// What it is called.
    pub name: KeyName,
    /// What its holder may do.
    pub role: Role,
    /// What its holder shows.
    pub credential: Credential,
}

impl fmt::Display for KeyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.role, self.credential)
    }
}

/// What the holder of a key shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A text of which only the hash is kept.
    Key(KeyHash),
    /// A certificate with this name, of an authority that the service trusts.
    Certificate(CertificateName),
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(hash) => hash.fmt(f),
            Self::Certificate(name) => name.fmt(f),
        }
    }
}

/// A text that is no credential of a key file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// It is no hash.
    #[error(transparent)]
    Hash(#[from] KeyHashError),
    /// It names no certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateNameError),
}

impl FromStr for Credential {
    type Err = CredentialError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.starts_with(CertificateName::PREFIX) {
            Ok(Self::Certificate(text.parse()?))
        } else {
            Ok(Self::Key(text.parse()?))
        }
    }
}

/// What is wrong with a line of a key file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {field} {fault}")]
pub struct KeyFault {
    /// The line, from 1.
    pub line: usize,
    /// The field.
    pub field: &'static str,
    /// What is wrong with it, and what would be right.
    pub fault: String,
}

/// The keys that a service accepts: at least one; no two have one name or one credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Keys(Vec<Arc<KeyEntry>>);

impl Keys {
    /// Reads the text of a key file.
    ///
    /// # Errors
    /// Every fault at once.
    pub(super) fn read(text: &str) -> Result<Self, Vec<KeyFault>> {
        let (mut keys, mut faults) = (Vec::<(usize, KeyEntry)>::new(), Vec::new());
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let mut note = |field, fault: String| faults.push(KeyFault { line, field, fault });
            let fields: Vec<&str> = text.split_ascii_whitespace().collect();
            let [name, role, credential] = match fields[..] {
                [] => continue,
                [first, ..] if first.starts_with('#') => continue,
                [name, role, credential] => [name, role, credential],
                _ => {
                    let count = fields.len();
                    let fault = format!(
                        "are {count}, but must be 3: name, role, and SHA-256 or certificate"
                    );
                    note("fields", fault);
                    continue;
                }
            };
            let name = name.parse::<KeyName>().map_err(|fault| note("name", fault.to_string()));
            let role = role.parse::<Role>().map_err(|fault| note("role", told(role, &fault)));
            let credential = credential
                .parse::<Credential>()
                .map_err(|fault| note(field_of(credential), fault.to_string()));
            let (Ok(name), Ok(role), Ok(credential)) = (name, role, credential) else { continue };
            for (first, other) in &keys {
                if other.name == name {
                    let fault =
                        format!("`{name}` stands on line {first} too: give each key its own");
                    note("name", fault);
                }
                if other.credential == credential {
                    let fault = format!("stands on line {first} too: a key can have only one line");
                    note(field_of(&credential.to_string()), fault);
                }
            }
            keys.push((line, KeyEntry { name, role, credential }));
        }
        if keys.is_empty() && faults.is_empty() {
            let fault = "are none: add a line that `banqi key` prints".to_owned();
            faults.push(KeyFault { line: 1, field: "keys", fault });
        }
        if faults.is_empty() {
            Ok(Self(keys.into_iter().map(|(_, key)| Arc::new(key)).collect()))
        } else {
            Err(faults)
        }
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The key with this hash. Every key is compared, and each in constant time, so that the time
    /// taken tells nothing of how near a guess came.
    pub(super) fn find(&self, hash: &KeyHash) -> Option<Arc<KeyEntry>> {
        let mut found = None;
        for key in &self.0 {
            if matches!(&key.credential, Credential::Key(other) if other == hash) {
                found = Some(key);
            }
        }
        found.cloned()
    }

    /// The first key whose certificate the peer has shown.
    pub(super) fn find_peer(&self, peer: &Peer) -> Option<Arc<KeyEntry>> {
        let is_shown = |key: &&Arc<KeyEntry>| matches!(&key.credential, Credential::Certificate(name) if peer.names().contains(name));
        self.0.iter().find(is_shown).cloned()
    }

    /// Whether a key is among them as it was.
    pub(super) fn has(&self, entry: &KeyEntry) -> bool {
        self.0.iter().any(|key| **key == *entry)
    }
}

/// What a credential is called in what is told of it.
fn field_of(credential: &str) -> &'static str {
    if credential.starts_with(CertificateName::PREFIX) { "certificate" } else { "hash" }
}

/// What is wrong with a role, unless a key stands in its place.
fn told(role: &str, fault: &impl fmt::Display) -> String {
    if role.starts_with(api_key::PREFIX) {
        "is a key: write reader, player or platform".to_owned()
    } else {
        fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::api_key::ApiKey;
    use super::*;

    fn hash(byte: u8) -> String {
        ApiKey::new([byte; 32]).hash().to_string()
    }

    #[test]
    fn comments_and_blank_lines_are_passed_over() {
        let text = format!("# who calls\n\n  shop\tplayer  {}\r\n #x y z\n", hash(1));
        let keys = Keys::read(&text).expect("one key");
        let key = keys.find(&ApiKey::new([1; 32]).hash()).expect("it is there");
        assert_eq!((key.name.as_str(), key.role), ("shop", Role::Player));
        assert_eq!(key.to_string(), format!("shop player {}", hash(1)));
        assert_eq!(keys.count(), 1);
        assert_eq!(keys.find(&ApiKey::new([2; 32]).hash()), None);
    }

    #[test]
    fn every_bad_line_is_told_with_its_field_and_what_would_be_right() {
        let key = ApiKey::new([9; 32]);
        let text = format!(
            "a reader {}\nb admin {}\nc! player {}\nd player\ne player {}\na platform {}\nf reader \
             {}\n{} {} 12\n",
            hash(1),
            hash(2),
            hash(3),
            key.expose(),
            hash(4),
            hash(1),
            key.expose(),
            key.expose(),
        );
        let faults = Keys::read(&text).expect_err("faults");
        let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let expected = [
            ("line 2: role", "reader, player or platform"),
            ("line 3: name", "1 to 64 characters"),
            ("line 4: fields are 2", "must be 3"),
            ("line 5: hash is a key", "banqi key"),
            ("line 6: name `a` stands on line 1", "its own"),
            ("line 7: hash stands on line 1", "only one line"),
            ("line 8: name", "beginning with `bqk_`"),
            ("line 8: role is a key", "reader, player or platform"),
            ("line 8: hash is no SHA-256", "64 hexadecimal digits"),
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, (start, right)) in told.iter().zip(expected) {
            assert!(told.starts_with(start) && told.contains(right), "{told}");
            assert!(!told.contains(key.expose()), "{told}");
        }
    }

    #[test]
    fn a_file_without_keys_is_refused() {
        let faults = Keys::read("# nobody\n").expect_err("no keys");
        assert!(faults[0].to_string().contains("banqi key"), "{faults:?}");
    }
}
