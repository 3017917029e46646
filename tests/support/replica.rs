//! A real `banqi serve` as a child process, on ports of its own.

#![expect(clippy::disallowed_methods, reason = "how long to wait for a real process")]

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::fake_clock::Clock;
use super::signal;

/// How long it may take to stop.
const STOP_LIMIT: Duration = Duration::from_secs(30);

/// A free port, which the system chooses.
const ANY_PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

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

    /// Starts a service that listens on these addresses, for calls and for probes.
    pub(crate) fn start_on(calls: SocketAddr, probes: SocketAddr, arguments: &[&str]) -> Self {
        Self::launch(Self::command(calls, probes, arguments))
    }

    /// Starts a service that sees the time so.
    pub(crate) fn start_at(clock: Clock, arguments: &[&str]) -> Self {
        let mut command = Self::command(ANY_PORT, ANY_PORT, arguments);
        command.envs(clock.environment());
        Self::launch(command)
    }

    /// Starts a service with these environment variables besides, which logs to a file.
    pub(crate) fn start_logging(
        log: File,
        environment: &[(&str, &str)],
        arguments: &[&str],
    ) -> Self {
        let mut command = Self::command(ANY_PORT, ANY_PORT, arguments);
        command.envs(environment.iter().copied()).stderr(log);
        Self::launch(command)
    }

    fn command(calls: SocketAddr, probes: SocketAddr, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
        command.arg("serve");
        command.arg(format!("--listen={calls}")).arg(format!("--http-listen={probes}"));
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        command
    }

    fn launch(mut command: Command) -> Self {
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
        self.exit_status().is_some()
    }

    /// How it has ended, if it has.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("a child can be asked")
    }

    /// Asks it to stop, and waits until it has.
    pub(crate) fn stop(&mut self) -> ExitStatus {
        if self.exit_status().is_none() {
            signal(self.id(), "TERM");
        }
        let deadline = Instant::now() + STOP_LIMIT;
        loop {
            if let Some(status) = self.exit_status() {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not stop");
            sleep(Duration::from_millis(10));
        }
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
