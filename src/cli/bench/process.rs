//! Processes: what they use, and servers as children.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use super::failure::BenchError;

/// A process on this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process(pub(super) u32);

impl Process {
    /// The one that asks.
    pub(super) fn this() -> Self {
        Self(std::process::id())
    }

    /// How long its threads have run on a processor, in user and system mode. `None` where the
    /// system does not tell.
    fn processor_time(self) -> Option<Duration> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.0)).ok()?;
        let threads = tasks.filter_map(|task| {
            // A thread may have ended since.
            let told = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            told.split(' ').next()?.parse::<u64>().ok()
        });
        Some(Duration::from_nanos(threads.sum()))
    }

    /// How much of it is in memory, in bytes. `None` where the system does not tell.
    fn resident(self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
        Some(kilobytes * 1024)
    }
}

/// The processor time of all of them; `None` if there are none.
pub(super) fn processor_time(processes: &[Process]) -> Option<Duration> {
    total(processes, Process::processor_time)
}

/// The memory of all of them, in bytes; `None` if there are none.
pub(super) fn resident(processes: &[Process]) -> Option<u64> {
    total(processes, Process::resident)
}

fn total<T: std::iter::Sum>(processes: &[Process], told: fn(Process) -> Option<T>) -> Option<T> {
    if processes.is_empty() { None } else { processes.iter().map(|&process| told(process)).sum() }
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    /// Where it listens.
    pub(super) address: String,
    /// What else it says; it would stop if nobody could read it.
    _out: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server, whose first line ends with the address where it is listening.
    pub(super) fn start(command: &mut Command) -> Result<Self, BenchError> {
        // Ctrl-C is for the measurement, which ends the server once it has its figures.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let name = command.get_program().to_string_lossy().into_owned();
        let fault = |source| BenchError::Start { command: name.clone(), source };
        let mut child = command.spawn().map_err(fault)?;
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let read = out.read_line(&mut first).map_err(fault);
        let address = first.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        let server = Self { child, address, _out: out };
        match read? {
            0 => Err(BenchError::EndedEarly { command: name }),
            _ => Ok(server),
        }
    }

    /// Its process.
    pub(super) fn process(&self) -> Process {
        Process(self.child.id())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be dead already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
