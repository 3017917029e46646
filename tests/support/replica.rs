//! A real `banqi serve` as a child process, on a port of its own.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running service; killed when dropped.
pub(crate) struct Replica {
    child: Child,
    address: String,
}

impl Replica {
    /// Starts a service with these arguments besides the address to listen on.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_banqi"))
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let address = lines
            .find_map(|line| {
                line.expect("text").strip_prefix("banqi is listening on ").map(str::to_owned)
            })
            .expect("the service prints its address before it closes its output");
        // What it prints later is read and dropped, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// Where it serves gRPC.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Kills it at once, as a crash would (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
