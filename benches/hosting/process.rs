//! Servers as processes of their own, and the processor time that they take.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

/// A running server; killed when dropped.
pub(crate) struct Server {
    child: Child,
    /// Where it listens.
    pub(crate) address: String,
    /// What else it says; it would stop if nobody could read it.
    _out: BufReader<ChildStdout>,
}

impl Server {
    /// Starts the service.
    pub(crate) fn banqi(redis: &str) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
        Self::start(command.args(["serve", "--listen", "127.0.0.1:0", "--store", redis]))
    }

    /// Starts the floor.
    pub(crate) fn floor(redis: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        Self::start(command.args(["floor", redis]))
    }

    /// Starts a server, which says in its first line where it is listening.
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        out.read_line(&mut first).expect("it says where it listens");
        let address = first.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Self { child, address, _out: out }
    }

    /// How long its threads have run on a processor, in user and system mode.
    pub(crate) fn processor_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).expect("it runs");
        let threads = tasks.filter_map(|task| {
            // A thread may have ended since; what it did was noted before.
            let told = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            told.split(' ').next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(threads.sum())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may be dead already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
