//! A `redis-server` for the length of a measurement, which keeps nothing on disk.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::failure::BenchError;
use super::process::Process;

/// How long the server may take to answer after its start.
const START_LIMIT: Duration = Duration::from_secs(10);

/// How often its start is tried: between the choice of a free port and its use another process may
/// take it.
const ATTEMPTS: usize = 10;

/// A running server; killed when dropped.
#[derive(Debug)]
pub(super) struct RedisServer {
    child: Child,
    port: u16,
}

impl RedisServer {
    pub(super) fn start() -> Result<Self, BenchError> {
        for _ in 0..ATTEMPTS {
            let mut server = Self::spawn(free_port().map_err(BenchError::System)?)?;
            if server.becomes_ready()? {
                return Ok(server);
            }
        }
        Err(BenchError::NoRedisServer { attempts: ATTEMPTS })
    }

    /// Its address, as `--store` takes it.
    pub(super) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Its process.
    pub(super) fn process(&self) -> Process {
        Process(self.child.id())
    }

    fn spawn(port: u16) -> Result<Self, BenchError> {
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--daemonize", "no"])
            .args(["--save", "", "--appendonly", "no"])
            // Ctrl-C is for the measurement.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| BenchError::Start { command: "redis-server".into(), source })?;
        Ok(Self { child, port })
    }

    /// Waits until it answers, or has ended because its port is taken.
    fn becomes_ready(&mut self) -> Result<bool, BenchError> {
        let deadline = Instant::now() + START_LIMIT;
        while Instant::now() < deadline {
            if self.child.try_wait().map_err(BenchError::System)?.is_some() {
                return Ok(false);
            }
            if self.answers() {
                return Ok(true);
            }
            sleep(Duration::from_millis(5));
        }
        Ok(false)
    }

    fn answers(&self) -> bool {
        let limit = Duration::from_millis(500);
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let Ok(mut stream) = TcpStream::connect_timeout(&address, limit) else { return false };
        let mut answer = [0; 5];
        stream.set_read_timeout(Some(limit)).is_ok()
            && stream.write_all(b"PING\r\n").is_ok()
            && stream.read_exact(&mut answer).is_ok()
            && answer == *b"+PONG"
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
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
