//! Options, variables and files.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::examined::{Examined, doctor};
use crate::support::authority::{Authority, Identity, Validity};

/// A directory for files that options name.
pub(crate) struct Files(TempDir);

impl Files {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file that only its owner reads, and says with which option it is named.
    pub(crate) fn option(&self, option: &str, content: &str) -> String {
        self.option_with(option, content, 0o600)
    }

    pub(crate) fn option_with(&self, option: &str, content: &str, mode: u32) -> String {
        let path = self.path(option);
        fs::write(&path, content).expect("written");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("permitted");
        named(option, &path)
    }

    /// The options of a certificate and its key.
    pub(crate) fn identity(&self, identity: &Identity) -> [String; 2] {
        [self.option("tls-cert", &identity.certificate), self.option("tls-key", &identity.key)]
    }
}

pub(crate) fn named(option: &str, path: &Path) -> String {
    format!("--{option}={}", path.display())
}

/// A line of a key file and its key, as `banqi key` makes them.
pub(crate) fn new_key() -> (String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    let output = command.args(["key", "--name=doctor", "--role=reader"]).output().expect("a key");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    (text(output.stdout), text(output.stderr))
}

#[test]
fn certificates_that_cannot_be_used() {
    let (files, authority) = (Files::new(), Authority::new());
    let good = authority.issue(&["localhost"], Validity::Now);
    let over = authority.issue(&["localhost"], Validity::Over);
    Examined::by(&files.identity(&over)).assert("tls.files", "ok", &[]).assert(
        "tls.validity",
        "fault",
        &["has expired", "replace its file"],
    );
    let mixed = Identity { certificate: good.certificate, key: over.key };
    Examined::by(&files.identity(&mixed))
        .assert("tls.files", "fault", &["--tls-cert and --tls-key", "first certificate"])
        .assert("tls.validity", "skipped", &[]);
    fs::remove_file(files.path("tls-key")).expect("removed");
    let options = ["tls-cert", "tls-key"].map(|option| named(option, &files.path(option)));
    Examined::by(&options).assert("tls.files", "fault", &["--tls-key", "cannot be read"]);
}

#[test]
fn a_certificate_that_ends_within_two_weeks() {
    let files = Files::new();
    let command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 10 \
                   -subj /CN=localhost -keyout";
    let mut openssl = Command::new("sh");
    let [cert, key] = ["tls-cert", "tls-key"].map(|name| files.path(name));
    openssl.arg("-c").arg(format!("{command} {} -out {}", key.display(), cert.display()));
    assert!(openssl.output().expect("openssl runs").status.success());
    Examined::by(&[named("tls-cert", &cert), named("tls-key", &key)]).assert(
        "tls.validity",
        "warning",
        &["within 10 days", "replace its file"],
    );
}

#[test]
fn files_of_keys_that_cannot_be_used() {
    let files = Files::new();
    let examined = Examined::by(&[
        files.option("auth", "shop player nonsense\n"),
        files.option("service-key", "short"),
        files.option("seal-keys", "nonsense\n"),
    ]);
    examined
        .assert("auth.file", "fault", &["line 1: hash"])
        .assert("service_key.file", "fault", &["has 5 bytes", "openssl rand"])
        .assert("seal_keys.file", "fault", &["line 1: is no key"])
        .assert("secrets.permissions", "ok", &[]);
    assert_eq!(examined.code, Some(1));
    let missing = Examined::by(&["--record-format=2"]);
    missing.assert("seal_keys.file", "fault", &["--record-format 2", "--seal-keys"]);
}

#[test]
fn a_secret_that_others_can_read() {
    let files = Files::new();
    let key = files.option_with("service-key", &"k".repeat(40), 0o644);
    let path = files.path("service-key").display().to_string();
    Examined::by(&[key]).assert("service_key.file", "ok", &[]).assert(
        "secrets.permissions",
        "warning",
        &[&path, "chmod 600"],
    );
}

#[test]
fn options_that_let_strangers_in() {
    Examined::by(&["--listen=0.0.0.0:0"]).assert("options.together", "fault", &["--insecure"]);
}

#[test]
fn variables_that_mean_nothing() {
    let mut command = doctor(&["--otlp-endpoint=http://127.0.0.1:4317"]);
    command.env("BANQI_SOTRE", "redis://:hunter2@127.0.0.1").env("OTEL_BSP_SCHEDULE_DELAY", "soon");
    let examined = Examined::of(&mut command);
    examined
        .assert("environment.variables", "warning", &["BANQI_SOTRE", "write BANQI_STORE"])
        .assert("traces.variables", "fault", &["OTEL_BSP_SCHEDULE_DELAY", "a whole number"]);
    assert!(!format!("{examined:?}").contains("hunter2"), "{examined:?}");
}

#[test]
fn too_few_files_may_be_open() {
    let banqi = env!("CARGO_BIN_EXE_banqi");
    let mut command = Command::new("sh");
    let line = format!("ulimit -n 300; exec {banqi} doctor --listen=127.0.0.1:0 \"$@\"");
    command.args(["-c", &line, "sh"]);
    let few = ["300 files", "ulimit -n"];
    Examined::of(&mut command).assert("process.open_files", "warning", &few);
}

#[test]
fn warnings_count_where_nothing_may_be_lost() {
    let code = |arguments: &[&str]| doctor(arguments).output().expect("it runs").status.code();
    // A store in memory is a warning.
    assert_eq!((code(&[]), code(&["--strict"])), (Some(0), Some(1)));
    assert_eq!(code(&["--through=nowhere"]), Some(2));
    let output = doctor(&[] as &[&str]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\nwarning  store.persistence"), "{text}");
    let skipped: Vec<&str> = text.lines().filter(|line| line.starts_with("skipped  ")).collect();
    let through = |line: &&str| {
        line.contains(" through.call, ") && line.ends_with(": --through is not given")
    };
    assert_eq!(skipped.iter().copied().filter(|line| through(line)).count(), 1, "{text}");
    assert!(skipped.len() < 12, "a line for each reason: {text}");
    assert!(text.ends_with("faults: 0, warnings: 1\n"), "{text}");
}
