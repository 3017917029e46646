//! Files with secrets in them.

use std::path::Path;
use std::{fs, io};

use zeroize::Zeroizing;

/// What stands in a file. One that other users of the machine can read is warned of; `secret` says
/// in the warning what they could read.
///
/// # Errors
/// Where the file cannot be read.
pub(crate) fn read_secret_file(path: &Path, secret: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    let content = Zeroizing::new(fs::read(path)?);
    if is_open_to_others(path) {
        tracing::warn!(file = %path.display(), "other users can read {secret}: chmod 600 the file");
    }
    Ok(content)
}

/// Whether other users of the machine can read a file.
#[cfg(unix)]
pub(crate) fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o044 != 0)
}

#[cfg(not(unix))]
pub(crate) fn is_open_to_others(_: &Path) -> bool {
    false
}
