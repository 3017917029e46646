//! `banqi serve` as a process of its own.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};

/// A running replica, killed at the end unless it has ended.
pub(crate) struct Replica {
    /// Where it serves gRPC.
    pub(crate) grpc: SocketAddr,
    /// Where it serves probes.
    pub(crate) http: SocketAddr,
    /// Its process.
    pub(crate) id: u32,
    child: Option<Child>,
    reaping: Option<JoinHandle<()>>,
}

impl Replica {
    /// Starts a replica that keeps its games in `store`.
    pub(crate) fn start(store: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_banqi"))
            .args(["serve", "--listen=127.0.0.1:0", "--http-listen=127.0.0.1:0", "--stop-delay=3"])
            .args(["--store", store])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the service starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut told = |prefix: &str, suffix: &str| {
            let told = lines.find_map(|line| {
                let line = line.expect("text");
                line.strip_prefix(prefix)?.strip_suffix(suffix)?.parse().ok()
            });
            told.unwrap_or_else(|| panic!("the service ended without a line {prefix}…{suffix}"))
        };
        let grpc = told("banqi is listening on ", "");
        let http = told("probes: http://", "/readyz");
        // What it prints later is read and dropped, so that it never waits for a reader.
        thread::spawn(move || lines.for_each(drop));
        Self { grpc, http, id: child.id(), child: Some(child), reaping: None }
    }

    /// From now on its process is gone as soon as it has ended, so that others can wait for that.
    pub(crate) fn reap_when_it_ends(&mut self) {
        let mut child = self.child.take().expect("not asked before");
        self.reaping = Some(thread::spawn(move || {
            child.wait().expect("a child can be waited for");
        }));
    }

    /// Whether it has ended.
    pub(crate) fn ended(&self) -> bool {
        self.reaping.as_ref().is_some_and(JoinHandle::is_finished)
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // Both fail only where it has ended already.
            let _ = child.kill();
            let _ = child.wait();
        } else if !self.ended() {
            let _ = Command::new("kill").args(["-s", "KILL", &self.id.to_string()]).status();
        }
    }
}
