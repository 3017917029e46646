//! HAProxy with the configuration that is shipped.

#![expect(clippy::disallowed_methods, reason = "how long to wait for a real process")]

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long it may take to answer after its start.
const START_LIMIT: Duration = Duration::from_secs(10);

/// A replica as the balancer sees it: where it takes calls, and where probes.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// For calls.
    pub(crate) grpc: SocketAddr,
    /// For probes.
    pub(crate) http: SocketAddr,
}

/// A running balancer, killed at the end.
pub(crate) struct Balancer {
    /// Where it takes calls.
    pub(crate) address: SocketAddr,
    child: Child,
}

impl Balancer {
    /// Starts `deploy/haproxy.cfg` in front of two replicas.
    pub(crate) fn start(replicas: [Target; 2]) -> Self {
        // Between the choice of a free port and its use another process may take it.
        for _ in 0..10 {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
            let address = listener.local_addr().expect("an address");
            drop(listener);
            let mut child = spawn(address, replicas);
            if wait_until_it_listens(&mut child, address) {
                return Self { address, child };
            }
        }
        panic!("haproxy did not start in ten attempts; what it printed stands above");
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(address: SocketAddr, replicas: [Target; 2]) -> Child {
    let configuration = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/haproxy.cfg");
    let mut command = Command::new("haproxy");
    command.arg("-db").arg("-f").arg(configuration);
    command.env("BANQI_BALANCER", address.to_string());
    for (number, replica) in (1..).zip(replicas) {
        command.env(format!("BANQI_{number}"), replica.grpc.to_string());
        command.env(format!("BANQI_{number}_PROBES"), replica.http.port().to_string());
    }
    // Its log goes to standard output; what is wrong with its configuration to standard error.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.spawn().unwrap_or_else(|error| {
        panic!("these tests need `haproxy` 2.6 or newer in PATH, and starting it: {error}")
    })
}

/// Waits until connections are accepted, or the process has ended because its port is taken.
fn wait_until_it_listens(child: &mut Child, address: SocketAddr) -> bool {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        if child.try_wait().expect("a child can be asked").is_some() {
            return false;
        }
        if TcpStream::connect(address).is_ok() {
            return true;
        }
        assert!(Instant::now() < deadline, "haproxy does not listen on {address}");
        sleep(Duration::from_millis(5));
    }
}
