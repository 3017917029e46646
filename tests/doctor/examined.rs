//! What `banqi doctor` says, read from its JSON.

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// What it said: its exit code, and of each check the verdict and the text.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) code: Option<i32>,
    checks: BTreeMap<String, (String, String)>,
}

/// A command line of `doctor`, without any variable of ours but those that are added.
pub(crate) fn doctor<S: AsRef<str>>(arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    command.arg("doctor").args(arguments.iter().map(AsRef::as_ref));
    if !arguments.iter().any(|argument| argument.as_ref().starts_with("--listen")) {
        command.arg("--listen=127.0.0.1:0");
    }
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("BANQI_")) {
        command.env_remove(name);
    }
    command.env("NO_COLOR", "").stdin(Stdio::null());
    command
}

impl Examined {
    /// Runs it with these arguments.
    pub(crate) fn by<S: AsRef<str>>(arguments: &[S]) -> Self {
        Self::of(&mut doctor(arguments))
    }

    /// Runs it.
    pub(crate) fn of(command: &mut Command) -> Self {
        let output: Output = command.arg("--json").output().expect("the command runs");
        let text = String::from_utf8_lossy(&output.stdout);
        let told: Value = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}: {text} {output:?}"));
        let field = |check: &Value, name: &str| check[name].as_str().expect("text").to_owned();
        let checks: BTreeMap<_, _> = told["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .map(|it| (field(it, "check"), (field(it, "verdict"), field(it, "text"))))
            .collect();
        let count = |verdict| checks.values().filter(|it| it.0 == verdict).count();
        assert_eq!(told["faults"], count("fault"), "{text}");
        assert_eq!(told["warnings"], count("warning"), "{text}");
        assert_eq!(output.status.code(), Some(i32::from(told["faults"] != 0)), "{text}");
        Self { code: output.status.code(), checks }
    }

    /// What it said of a check.
    pub(crate) fn text(&self, check: &str) -> &str {
        &self.checks.get(check).unwrap_or_else(|| panic!("no {check} in {self:?}")).1
    }

    /// The names of the checks of these verdicts.
    pub(crate) fn bad(&self) -> Vec<&str> {
        let bad = |it: &&(String, String)| matches!(it.0.as_str(), "warning" | "fault");
        self.checks.iter().filter(|(_, told)| bad(told)).map(|(name, _)| name.as_str()).collect()
    }

    /// That a check has this verdict, and all of this in its text.
    #[track_caller]
    pub(crate) fn assert(&self, check: &str, verdict: &str, expected: &[&str]) -> &Self {
        let text = self.text(check);
        assert_eq!(self.checks[check].0, verdict, "{check}: {text}");
        for expected in expected {
            assert!(text.contains(expected), "{check}: no `{expected}` in: {text}");
        }
        self
    }
}
