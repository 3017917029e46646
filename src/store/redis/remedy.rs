//! What an operator can do about an error of a server or of the way to it.

use std::fmt;

use redis::{ErrorKind, RedisError};

use super::access::HostPort;
use super::failure::{failure, is_refusal};
use crate::store::StoreError;

/// An attempt to connect that failed: where, and why.
#[derive(Clone, Debug)]
pub(super) struct Unreached {
    at: HostPort,
    error: RedisError,
}

impl Unreached {
    pub(super) fn new(at: &HostPort, error: RedisError) -> Self {
        Self { at: at.clone(), error }
    }

    /// Whether the server refuses us, which waiting does not change.
    pub(super) fn is_refusal(&self) -> bool {
        is_refusal(&self.error)
    }
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.at, told(&self.error))
    }
}

impl From<Unreached> for StoreError {
    fn from(unreached: Unreached) -> Self {
        if unreached.is_refusal() {
            return failure(&unreached.error).about(&unreached.at.to_string());
        }
        // Without a connection nothing was sent.
        Self::not_applied(unreached)
    }
}

/// An error with its remedy, on one line.
pub(super) fn told(error: &RedisError) -> String {
    // Of several commands that were sent at once the first says what is wrong.
    let first = error.clone().into_server_errors().and_then(|all| all.first().cloned());
    let text = first.map_or_else(|| error.to_string(), |(_, error)| error.to_string());
    // The parser tells what it expected on lines of their own.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match remedy(error, &text) {
        Some(remedy) => format!("{text}; {remedy}"),
        None => text,
    }
}

/// Errors of a server with codes of their own.
const BY_CODE: &[(&str, &str)] = &[
    (
        "NOAUTH",
        "it wants a password: write it into the address as `USER:PASSWORD@HOST` or `:PASSWORD@HOST`",
    ),
    (
        "WRONGPASS",
        "correct user and password in the address, with `%XX` for characters that mean something there",
    ),
    ("NOPERM", "give the user the rights that docs/operations.md lists (Rights in Redis)"),
    ("MOVED", "the server is a node of a cluster: begin the address with `redis+cluster`"),
    (
        "CLUSTERDOWN",
        "the cluster does not serve all its slots: `redis-cli --cluster check` says which; its nodes are reached with `redis+cluster`",
    ),
    ("READONLY", "it is a replica: name the primary, or its sentinels"),
    ("LOADING", "it reads what it has kept: wait until it has"),
    ("MISCONF", "it cannot write to its disk: look at its log, and at the space that is left"),
    ("OOM", "its memory is full: raise `maxmemory`, or keep ended games for a shorter time"),
];

/// What stands in other errors.
const BY_TEXT: &[(&str, &str)] = &[
    (
        "DB index is out of range",
        "end the address with the number of a database that there is (16 unless `databases` says otherwise)",
    ),
    ("cluster support disabled", "it is no node of a cluster: begin the address with `redis`"),
    (
        "No such master",
        "its sentinels know no service of the name after the `/` of the address: `SENTINEL MASTERS` lists those that they know",
    ),
    (
        "unknown command 'SENTINEL'",
        "it is no sentinel: name sentinels, whose port is 26379 unless set",
    ),
    (
        "invalid peer certificate",
        "name its authority with `?ca=FILE`, and the server as its certificate does",
    ),
    ("CertificateRequired", "it wants a certificate: show one with `?cert=FILE&key=FILE`"),
    ("received fatal alert", "it refuses what it is shown: look at `?cert=FILE&key=FILE`"),
    ("lookup address", "this machine does not know the name: correct it, or look at the DNS"),
];

fn remedy(error: &RedisError, text: &str) -> Option<&'static str> {
    let code = error.code().unwrap_or_default();
    let by_code = BY_CODE.iter().find(|(it, _)| *it == code);
    let by_text = || BY_TEXT.iter().find(|(it, _)| text.contains(it));
    if let Some((_, remedy)) = by_code.or_else(by_text) {
        return Some(remedy);
    }
    match error.kind() {
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
            Some("what answers there is no Redis: correct host and port")
        }
        _ if error.is_connection_refusal() => {
            Some("nothing listens there: start Redis, or correct host and port")
        }
        _ if error.is_timeout() => Some(
            "nobody answers there: correct the address, or look at firewalls and at whether the \
             server hangs",
        ),
        _ if error.is_connection_dropped() => {
            Some("it closes the connection: if it wants TLS, begin the address with `rediss`")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn an_error_is_told_on_one_line_with_its_remedy() {
        for (error, expected) in [
            (RedisError::from(io::Error::from(io::ErrorKind::ConnectionRefused)), "start Redis"),
            (io::Error::from(io::ErrorKind::TimedOut).into(), "firewalls"),
            (io::Error::from(io::ErrorKind::UnexpectedEof).into(), "`rediss`"),
            ((ErrorKind::UnexpectedReturnType, "at\n1").into(), "no Redis"),
            (redis::make_extension_error("NOAUTH".into(), None), ":PASSWORD@HOST"),
        ] {
            let told = told(&error);
            assert!(told.contains(expected) && !told.contains('\n'), "{told}");
        }
    }
}
