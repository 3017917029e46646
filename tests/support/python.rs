//! Python, for clients that share nothing with the service but `proto/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// The top of the repository.
pub(crate) const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The environment that `./test` makes, below the target directory.
pub(crate) fn environment() -> PathBuf {
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../python");
    environment.canonicalize().unwrap_or_else(|error| {
        panic!("{}: {error}; run `./test` once, which makes it", environment.display())
    })
}

/// The modules of the API, made by Google's own compiler in a directory of their own, since tests
/// run side by side.
pub(crate) struct Stubs(TempDir);

impl Stubs {
    pub(crate) fn make() -> Self {
        let stubs = TempDir::new().expect("a directory for the stubs");
        let proto = Path::new(ROOT).join("proto");
        let mut protoc = Command::new(environment().join("bin/python"));
        protoc.args(["-m", "grpc_tools.protoc", "-I"]).arg(&proto);
        protoc.arg("--python_out").arg(stubs.path()).arg("--grpc_python_out").arg(stubs.path());
        for file in fs::read_dir(proto.join("banqi/v1")).expect("the API's files") {
            protoc.arg(file.expect("a file").path());
        }
        assert!(protoc.status().expect("protoc runs").success(), "{protoc:?}");
        Self(stubs)
    }

    /// A run of a script of `tests/python` that finds the modules, and those of `tools`.
    pub(crate) fn script(&self, name: &str) -> Command {
        let path = std::env::join_paths([self.0.path(), &Path::new(ROOT).join("tools")]);
        let mut python = Command::new(environment().join("bin/python"));
        python
            .arg(Path::new(ROOT).join("tests/python").join(name))
            .env("PYTHONPATH", path.expect("paths without colons"))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        python
    }
}
