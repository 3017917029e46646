//! How far a measurement is, for whoever sits before it.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::sleep;

/// How often the line is written anew.
const EVERY: Duration = Duration::from_millis(500);

/// Back to the beginning of the line, and wipe it.
const WIPE: &str = "\r\x1b[K";

/// A line on standard error, if that is a terminal, until it is dropped.
#[derive(Debug)]
pub(super) struct Progress(Option<JoinHandle<()>>);

impl Progress {
    /// Shows what `line` says.
    pub(super) fn show(line: impl Fn() -> String + Send + 'static) -> Self {
        let shown = std::io::stderr().is_terminal().then(|| {
            tokio::spawn(async move {
                loop {
                    write(&format!("{WIPE}{}", line()));
                    sleep(EVERY).await;
                }
            })
        });
        Self(shown)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(shown) = &self.0 {
            shown.abort();
            write(WIPE);
        }
    }
}

fn write(text: &str) {
    let mut err = std::io::stderr().lock();
    // Who cannot see the line has no less of a measurement.
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}
