//! `banqi key`.

use std::io::{self, Write as _};

use clap::Args;
use rand::TryRng as _;
use rand::rngs::SysRng;

use crate::api::callers::{ApiKey, Credential, KeyEntry, KeyName, Role};

/// Make an API key: the key goes to standard error, its line for the --auth file to standard output
#[derive(Args, Clone, Debug)]
pub(super) struct NewKey {
    /// What the key is called: 1 to 64 characters of A-Z, a-z, 0-9, `.`, `_` and `-`
    #[arg(long)]
    name: KeyName,

    /// What its holder may do: reader, player or platform
    #[arg(long)]
    role: Role,
}

/// Why no key could be made.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the operating system gives no randomness: {0}")]
    Random(#[from] rand::rngs::SysError),
    #[error("the key could not be printed: {0}")]
    Print(#[from] io::Error),
}

impl NewKey {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut random = [0; 32];
        SysRng.try_fill_bytes(&mut random)?;
        let key = ApiKey::new(random);
        // Its line first: a key whose line went nowhere should not be shown.
        let entry =
            KeyEntry { name: self.name, role: self.role, credential: Credential::Key(key.hash()) };
        let mut out = io::stdout().lock();
        writeln!(out, "{entry}")?;
        out.flush()?;
        writeln!(io::stderr(), "{}", key.expose())?;
        Ok(())
    }
}
