//! A real `banqi serve` as a child process, on ports of its own.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::fake_clock::Clock;

/// A running service; killed when dropped.
pub(crate) struct Replica {
    child: Child,
    address: String,
    probes: SocketAddr,
}

impl Replica {
    /// Starts a service with these arguments besides the addresses to listen on.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_at(Clock::True, arguments)
    }

    /// Starts a service that sees the time so.
    pub(crate) fn start_at(clock: Clock, arguments: &[&str]) -> Self {
        Self::launch(&clock.environment(), arguments, Stdio::inherit())
    }

    /// Starts a service that logs to a file.
    pub(crate) fn start_logging(log: File, arguments: &[&str]) -> Self {
        Self::start_in(&[], log, arguments)
    }

    /// Starts a service with these environment variables that logs to a file.
    pub(crate) fn start_in(
        environment: &[(&'static str, String)],
        log: File,
        arguments: &[&str],
    ) -> Self {
        Self::launch(environment, arguments, log.into())
    }

    fn launch(environment: &[(&'static str, String)], arguments: &[&str], log: Stdio) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
        command.args(["serve", "--listen=127.0.0.1:0", "--http-listen=127.0.0.1:0"]);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(log);
        command.envs(environment.iter().cloned());
        let mut child = command.spawn().expect("the service starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let mut told = |prefix: &str, suffix: &str| {
            let told = lines.find_map(|line| {
                let line = line.expect("text");
                Some(line.strip_prefix(prefix)?.strip_suffix(suffix)?.to_owned())
            });
            told.unwrap_or_else(|| panic!("the service ended without a line {prefix}…{suffix}"))
        };
        let address = told("banqi is listening on ", "");
        let probes = told("probes: http://", "/readyz").parse().expect("an address");
        // What it prints later is read and dropped, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address, probes }
    }

    /// Where it serves gRPC.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Where it serves probes.
    pub(crate) fn probes(&self) -> SocketAddr {
        self.probes
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended. Until this or [`Self::kill`] is called, a process that has ended is
    /// still there for others to see.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child can be asked").is_some()
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
