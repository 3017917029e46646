//! Addresses of this machine's loopback, with the ports that the shipped configurations name.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};

/// 254 addresses that no other test has. Their ports need not be free anywhere else, and stay free
/// while a replica restarts: what connects to them takes a port of another address.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network([u8; 2]);

impl Network {
    /// One for each test, of those that run side by side in this process or others.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        const A_PROCESS: u32 = 16;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        assert!(number < A_PROCESS, "a process has {A_PROCESS} networks at most");
        // 127.0 is everybody's; what is left is gone round once in 4,080 processes.
        let network = (std::process::id() * A_PROCESS + number) % (255 * 256);
        let [.., high, low] = network.to_be_bytes();
        Self([high + 1, low])
    }

    fn address(self, host: u8, port: u16) -> SocketAddr {
        let [high, low] = self.0;
        (Ipv4Addr::new(127, high, low, host), port).into()
    }

    /// Where the balancer takes calls.
    pub(crate) fn balancer(self) -> SocketAddr {
        self.address(254, 50051)
    }

    /// Where the balancer takes calls over HTTP/1.1, if it has a port of its own for them.
    pub(crate) fn balancer_web(self) -> SocketAddr {
        self.address(254, 50052)
    }

    /// Where a replica takes calls.
    pub(crate) fn calls(self, replica: u8) -> SocketAddr {
        self.address(1 + replica, 50051)
    }

    /// Where a replica takes probes.
    pub(crate) fn probes(self, replica: u8) -> SocketAddr {
        self.address(1 + replica, 8080)
    }
}
