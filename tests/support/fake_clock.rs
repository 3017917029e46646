//! Processes whose clock is wrong, by libfaketime.

use std::process::Command;

/// How a process sees the time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// As it is.
    True,
    /// This far off, as `faketime` reads it: `+5m`, `-600s`.
    Off(&'static str),
}

impl Clock {
    /// The environment in which a process sees the time so.
    pub(crate) fn environment(self) -> Vec<(&'static str, String)> {
        let Self::Off(offset) = self else { return Vec::new() };
        vec![
            // Some servers bring an allocator that asks for the time before the library is ready for
            // that; the system's own, found before theirs, does not.
            ("LD_PRELOAD", format!("{}:libc.so.6", library())),
            ("FAKETIME", offset.to_owned()),
            // What measures spans is right on a machine whose clock was set wrong. The name of the
            // variable has changed in the course of time.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
            ("DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }
}

/// The library for processes of many threads. The command itself is no help beyond this: it stays
/// between the test and the process, which then could not be killed.
fn library() -> String {
    let mut faketime = Command::new("faketime");
    let told = faketime.args(["-m", "-f", "+0", "printenv", "LD_PRELOAD"]).output();
    let told = told.unwrap_or_else(|error| {
        panic!("these tests need `faketime` in PATH, and starting it: {error}")
    });
    assert!(told.status.success(), "{told:?}");
    String::from_utf8(told.stdout).expect("a path").trim().to_owned()
}
