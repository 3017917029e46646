//! HAProxy with configurations that are wrong, each in its way.

#![expect(clippy::disallowed_methods, reason = "how long to wait for a real process")]

use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::files::Files;
use crate::support::redis_server::free_port;

/// How long it may take to listen.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A running balancer, killed at the end.
pub(crate) struct HaProxy {
    child: Child,
    port: u16,
    _files: Files,
}

impl HaProxy {
    /// Starts it with these rules for requests and answers, in front of these servers.
    pub(crate) fn start(rules: &[&str], servers: &[&str]) -> Self {
        // Between the choice of a free port and its use another process may take it.
        for _ in 0..10 {
            let (port, files) = (free_port(), Files::new());
            let rules: String = rules.iter().map(|rule| format!("  {rule}\n")).collect();
            let servers = servers.iter().enumerate();
            let servers: String =
                servers.map(|(n, at)| format!("  server banqi-{n} {at} proto h2\n")).collect();
            let configuration = format!(
                "defaults\n  mode http\n  timeout connect 2s\n  timeout client 30s\n  \
                 timeout server 30s\n  timeout tarpit 30s\nlisten calls\n  bind 127.0.0.1:{port}\n  \
                 balance roundrobin\n  retries 0\n{rules}{servers}"
            );
            files.option("haproxy.cfg", &configuration);
            let mut command = Command::new("haproxy");
            command.arg("-db").arg("-f").arg(files.path("haproxy.cfg"));
            command.stdin(Stdio::null()).stdout(Stdio::null());
            let child = command.spawn().unwrap_or_else(|error| {
                panic!("these tests need `haproxy` 2.6 or newer in PATH, and starting it: {error}")
            });
            let mut started = Self { child, port, _files: files };
            if started.listens() {
                return started;
            }
        }
        panic!("haproxy did not start in ten attempts; what it printed stands above");
    }

    /// What `--through` is given.
    pub(crate) fn option(&self) -> String {
        format!("--through=http://127.0.0.1:{}", self.port)
    }

    /// Waits until it takes connections, or has ended because its port is taken.
    fn listens(&mut self) -> bool {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            if self.child.try_wait().expect("a child can be asked").is_some() {
                return false;
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            assert!(Instant::now() < deadline, "haproxy does not listen on {}", self.port);
            sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for HaProxy {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
