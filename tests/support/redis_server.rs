//! A real `redis-server` as a child process, on a port and in a directory of its own.

#![expect(clippy::disallowed_methods, reason = "how long to wait for a real process")]

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a server may take to answer after its start.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A running server; killed, and its directory deleted, when dropped.
pub(crate) struct RedisServer {
    child: Child,
    port: u16,
    directory: TempDir,
    environment: Vec<(&'static str, String)>,
    options: Vec<String>,
    configuration: Option<String>,
}

impl RedisServer {
    /// Starts a server that keeps nothing on disk.
    pub(crate) fn start() -> Self {
        Self::start_with(&["--save", "", "--appendonly", "no"])
    }

    /// Starts a server that writes each change to disk before it answers, so that it has lost
    /// nothing after [`Self::kill`] and [`Self::restart`].
    pub(crate) fn start_durable() -> Self {
        Self::start_with(&["--save", "", "--appendonly", "yes", "--appendfsync", "always"])
    }

    /// Starts a server with these options besides those for port, address and directory.
    pub(crate) fn start_with(options: &[&str]) -> Self {
        Self::start_in(Vec::new(), options)
    }

    /// Starts a server with these options and environment variables.
    pub(crate) fn start_in(environment: Vec<(&'static str, String)>, options: &[&str]) -> Self {
        let options = options.iter().map(|&option| option.into()).collect();
        Self::launch(environment, options, None)
    }

    /// Starts a sentinel with this configuration, which it rewrites.
    pub(crate) fn start_sentinel(configuration: String, options: &[&str]) -> Self {
        let options = options.iter().chain(&["--sentinel"]).map(|&option| option.into()).collect();
        Self::launch(Vec::new(), options, Some(configuration))
    }

    fn launch(
        environment: Vec<(&'static str, String)>,
        options: Vec<String>,
        configuration: Option<String>,
    ) -> Self {
        let directory = TempDir::new().expect("a directory for the server");
        // Between the choice of a free port and its use another process may take it.
        for _ in 0..10 {
            let port = free_port();
            if let Some(configuration) = &configuration {
                std::fs::write(directory.path().join("redis.conf"), configuration).expect("a file");
            }
            let configured = configuration.is_some();
            let mut child = spawn(port, &directory, &environment, &options, configured);
            if wait_until_ready(&mut child, port) {
                return Self { child, port, directory, environment, options, configuration };
            }
        }
        panic!("redis-server {options:?} found no free port in ten attempts");
    }

    /// The server's address for `--store` and clients.
    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// The server's port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills the server at once, as a crash would (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("a child can be killed");
        self.child.wait().expect("a killed child ends");
    }

    /// Starts the server again, after [`Self::kill`], on the same port and directory.
    pub(crate) fn restart(&mut self) {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            let configured = self.configuration.is_some();
            self.child =
                spawn(self.port, &self.directory, &self.environment, &self.options, configured);
            if wait_until_ready(&mut self.child, self.port) {
                return;
            }
            // The port may still be closing.
            assert!(Instant::now() < deadline, "redis-server does not come back");
            sleep(Duration::from_millis(20));
        }
    }

    /// Starts the server from a backup, after [`Self::kill`], as docs/operations.md says.
    pub(crate) fn restore(&mut self, backup: &Path) {
        self.directory = TempDir::new().expect("a directory for the server");
        fs::copy(backup, self.directory.path().join("dump.rdb")).expect("the backup is copied");
        // It would not look at the backup if it was to append from the start; of two the last one counts.
        let mut without = self.options.clone();
        without.extend(["--appendonly".into(), "no".into()]);
        let options = std::mem::replace(&mut self.options, without);
        self.restart();
        self.options = options;
    }

    /// A plain client of the server, to look behind the store's back.
    pub(crate) fn client(&self) -> redis::Client {
        redis::Client::open(self.url()).expect("a valid address")
    }

    /// A plain connection to the server.
    pub(crate) async fn connection(&self) -> redis::aio::MultiplexedConnection {
        self.client().get_multiplexed_async_connection().await.expect("the server answers")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        // It may be dead already, which is what is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody uses now.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

fn spawn(
    port: u16,
    directory: &TempDir,
    environment: &[(&'static str, String)],
    options: &[String],
    configured: bool,
) -> Child {
    let mut command = Command::new("redis-server");
    if configured {
        command.arg(directory.path().join("redis.conf"));
    }
    command
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--daemonize", "no"])
        .arg("--dir")
        .arg(directory.path())
        .args(options)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("these tests need `redis-server` 7.0 or newer in PATH, and starting it: {error}")
        })
}

/// Waits until the server answers, or has ended because its port is taken.
fn wait_until_ready(child: &mut Child, port: u16) -> bool {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        if child.try_wait().expect("a child can be asked").is_some() {
            return false;
        }
        if answers(port) {
            return true;
        }
        assert!(Instant::now() < deadline, "redis-server does not answer on port {port}");
        sleep(Duration::from_millis(5));
    }
}

/// Whether the server answers, and has loaded what it keeps.
fn answers(port: u16) -> bool {
    let limit = Duration::from_millis(500);
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Ok(mut stream) = TcpStream::connect_timeout(&address, limit) else { return false };
    let mut answer = [0; 5];
    stream.set_read_timeout(Some(limit)).is_ok()
        && stream.write_all(b"PING\r\n").is_ok()
        && stream.read_exact(&mut answer).is_ok()
        && answer == *b"+PONG"
}
