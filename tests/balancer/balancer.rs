//! HAProxy, Envoy and nginx with the configurations that are shipped.

#![expect(clippy::disallowed_methods, reason = "how long to wait for a real process")]

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::network::Network;
use crate::support::python::{ROOT, environment};
use crate::support::signal;

/// How long it may take to answer after its start, or to take up another configuration.
const LIMIT: Duration = Duration::from_secs(10);

/// The file that it logs to, in a directory of its own.
const LOG: &str = "log";

/// A program that spreads calls over replicas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    HaProxy,
    Envoy,
    Nginx,
}

impl Kind {
    /// Its file in `deploy/`.
    const fn file(self) -> &'static str {
        match self {
            Self::HaProxy => "haproxy.cfg",
            Self::Envoy => "envoy.yaml",
            Self::Nginx => "nginx.conf",
        }
    }

    /// Whether it asks replicas if they want calls, so that it may know of some that are not there yet.
    const fn probes(self) -> bool {
        !matches!(self, Self::Nginx)
    }

    /// Where it takes calls over HTTP/1.1.
    pub(crate) fn web(self, network: Network) -> SocketAddr {
        match self {
            Self::HaProxy | Self::Envoy => network.balancer(),
            Self::Nginx => network.balancer_web(),
        }
    }

    /// The shipped configuration, for replicas at addresses in the place of a name that resolves to
    /// all of them.
    fn configuration(self, network: Network, replicas: u8, directory: &Path) -> String {
        let text = fs::read_to_string(Path::new(ROOT).join("deploy").join(self.file()));
        let text = text.unwrap_or_else(|error| panic!("deploy/{}: {error}", self.file()));
        let lines = |line: fn(Network, u8) -> String| {
            (0..replicas).map(|replica| line(network, replica)).collect::<Vec<_>>().join("\n")
        };
        let balancer = network.balancer();
        match self {
            Self::HaProxy => {
                let text = replace(&text, "bind :50051", &format!("bind {balancer}"));
                let servers = lines(|network, replica| {
                    let [calls, probes] = [network.calls(replica), network.probes(replica)];
                    format!("    server banqi-{replica} {calls} port {}", probes.port())
                });
                let template = "    server-template banqi- 10 banqi:50051 port 8080 resolvers names init-addr none";
                replace(&text, template, &servers)
            }
            Self::Envoy => {
                let address = |address: &str| {
                    format!("socket_address: {{ address: {address}, port_value: 50051 }}")
                };
                let listens = address(&balancer.ip().to_string());
                let text = replace(&text, &address("0.0.0.0"), &listens);
                let endpoints = lines(|network, replica| {
                    let (ip, port) = (network.calls(replica).ip(), network.calls(replica).port());
                    format!(
                        "              - endpoint: {{ address: {{ socket_address: \
                         {{ address: {ip}, port_value: {port} }} }} }}"
                    )
                });
                let name = "              - endpoint: { address: { socket_address: { address: banqi, port_value: 50051 } } }";
                replace(&text, name, &endpoints)
            }
            Self::Nginx => {
                let text =
                    replace(&text, "listen 50051 http2;", &format!("listen {balancer} http2;"));
                let web = format!("listen {};", network.balancer_web());
                let text = replace(&text, "listen 50052;", &web);
                // Where it would keep what it does not keep in memory belongs to root.
                let kept = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                    .map(|what| format!("{what}_temp_path {};", directory.join(what).display()));
                let text = replace(&text, "http {", &format!("http {{\n{}", kept.join("\n")));
                let servers = lines(|network, replica| {
                    format!("server {} max_fails=1 fail_timeout=5s;", network.calls(replica))
                });
                replace(&text, "server banqi:50051 max_fails=1 fail_timeout=5s;", &servers)
            }
        }
    }

    fn command(self, configuration: &Path, directory: &Path) -> Command {
        match self {
            Self::HaProxy => {
                let mut command = Command::new("haproxy");
                command.arg("-db").arg("-f").arg(configuration);
                command
            }
            Self::Envoy => {
                let mut command = Command::new(environment().join("bin/envoy"));
                command.arg("--config-path").arg(configuration);
                // Several may run on this machine.
                command.args(["--use-dynamic-base-id", "--concurrency", "2"]);
                command.args(["--log-level", "warning"]);
                command
            }
            Self::Nginx => {
                let mut command = Command::new("nginx");
                let identity = directory.join("nginx.pid");
                command.arg("-c").arg(configuration);
                command.arg("-g").arg(format!("daemon off; pid {};", identity.display()));
                command
            }
        }
    }
}

/// Replaces something that must be there once.
fn replace(text: &str, what: &str, with: &str) -> String {
    assert_eq!(text.matches(what).count(), 1, "`{what}` is to be there once:\n{text}");
    text.replace(what, with)
}

/// A running balancer, killed at the end.
pub(crate) struct Balancer {
    kind: Kind,
    network: Network,
    child: Child,
    directory: TempDir,
}

impl Balancer {
    /// Starts one in front of the first replicas of a network, which may be as many as `most` later.
    pub(crate) fn start(kind: Kind, network: Network, replicas: u8, most: u8) -> Self {
        let directory = TempDir::new().expect("a directory");
        let configuration = directory.path().join(kind.file());
        let known = if kind.probes() { most } else { replicas };
        let text = kind.configuration(network, known, directory.path());
        fs::write(&configuration, text).expect("written");
        let log = directory.path().join(LOG);
        let mut command = kind.command(&configuration, directory.path());
        command
            .stdin(Stdio::null())
            .stdout(File::create(&log).expect("a file"))
            .stderr(File::options().append(true).open(&log).expect("a file"));
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("these tests need {kind:?}, which `./test` installs, and {command:?}: {error}")
        });
        let mut balancer = Self { kind, network, child, directory };
        balancer.wait_until_it_listens(&log);
        balancer
    }

    fn wait_until_it_listens(&mut self, log: &PathBuf) {
        let deadline = Instant::now() + LIMIT;
        let address = self.network.balancer();
        while TcpStream::connect(address).is_err() {
            let ended = self.child.try_wait().expect("a child can be asked");
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "{:?} does not listen on {address}:\n{}",
                self.kind,
                fs::read_to_string(log).unwrap_or_default()
            );
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until it has found a replica that answers.
    pub(crate) fn wait_until_it_is_answered(&self) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let mut answer = String::new();
            let mut connection =
                TcpStream::connect(self.kind.web(self.network)).expect("it listens");
            connection
                .write_all(b"GET / HTTP/1.1\r\nhost: banqi\r\nconnection: close\r\n\r\n")
                .and_then(|()| connection.read_to_string(&mut answer))
                .expect("an answer, of the balancer or of a replica");
            if answer.contains("banqi-replica: 127.") {
                return;
            }
            assert!(Instant::now() < deadline, "{:?} has no replica: {answer}", self.kind);
            sleep(Duration::from_millis(10));
        }
    }

    /// Lets it know of so many replicas, if it has to be told.
    pub(crate) fn tell(&self, replicas: u8) {
        if self.kind.probes() {
            return;
        }
        let directory = self.directory.path();
        let text = self.kind.configuration(self.network, replicas, directory);
        fs::write(directory.join(self.kind.file()), text).expect("written");
        let before = self.workers();
        signal(self.child.id(), "HUP");
        // Those that worked before take no connection any more, and others do.
        let deadline = Instant::now() + LIMIT;
        loop {
            let now = self.workers();
            let old = now.iter().filter(|worker| before.contains(worker));
            if now.iter().any(|worker| !before.contains(worker))
                && old.clone().all(|&worker| is_shutting_down(worker))
            {
                return;
            }
            assert!(Instant::now() < deadline, "{:?} still works as before", self.kind);
            sleep(Duration::from_millis(5));
        }
    }

    fn workers(&self) -> Vec<u32> {
        let process = self.child.id();
        let path = format!("/proc/{process}/task/{process}/children");
        let children = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        children.split_whitespace().map(|child| child.parse().expect("a number")).collect()
    }
}

/// Whether one of nginx's workers only ends what it has begun. One that is gone does not even that.
fn is_shutting_down(worker: u32) -> bool {
    fs::read_to_string(format!("/proc/{worker}/cmdline"))
        .map_or(true, |title| title.is_empty() || title.contains("is shutting down"))
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // Workers go with their master only where it is asked to end.
        if self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            signal(self.child.id(), "TERM");
        }
        // It fails only where it has ended already.
        let _ = self.child.wait();
        if std::thread::panicking() {
            let log = fs::read_to_string(self.directory.path().join(LOG)).unwrap_or_default();
            println!("{:?} told:\n{log}", self.kind);
        }
    }
}
