//! A server on a free port, and what clients of it share.

// Each test file takes what it needs.
#![allow(dead_code)]

pub(crate) mod authority;
pub(crate) mod document;
pub(crate) mod fake_clock;
pub(crate) mod python;
pub(crate) mod redis_server;
pub(crate) mod replica;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::callers::Callers;
use banqi::api::proto::v1;
use banqi::api::proto::v1::rules_service_client::RulesServiceClient;
use banqi::server::{Config, Listeners, ServeError, Stopped, run};
use banqi::store::{Options, Store, SystemTimeSource};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt as _};

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A server that runs until it is stopped or dropped.
pub(crate) struct TestServer {
    /// Where gRPC is served.
    pub(crate) grpc: SocketAddr,
    /// Where probes are served.
    pub(crate) http: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<Result<Stopped, ServeError>>,
}

impl TestServer {
    /// Starts a server with the default configuration.
    pub(crate) async fn start() -> Self {
        Self::with(Config::default()).await
    }

    /// Starts a server; the addresses of the configuration do not count.
    pub(crate) async fn with(config: Config) -> Self {
        let store = banqi::store::open("memory:", Options::default()).await.expect("a store");
        Self::on(store, config).await
    }

    /// Starts a server for the games of a store.
    pub(crate) async fn on(store: Arc<dyn Store>, config: Config) -> Self {
        let grpc = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let http = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addresses = [&grpc, &http].map(|listener| listener.local_addr().expect("an address"));
        let (stop, stopped) = oneshot::channel();
        let callers = Callers::open(&config.callers, Arc::new(SystemTimeSource)).expect("callers");
        let running = tokio::spawn(async move {
            let shutdown = async { stopped.await.unwrap_or(()) };
            run(Listeners { grpc, tls: None, http: Some(http) }, &config, &callers, store, shutdown)
                .await
        });
        let [grpc, http] = addresses;
        Self { grpc, http, stop: Some(stop), running }
    }

    /// A connection to it.
    pub(crate) async fn channel(&self) -> Channel {
        let endpoint = Endpoint::from_shared(format!("http://{}", self.grpc)).expect("a URI");
        endpoint.connect().await.expect("a connection")
    }

    /// A client of `RulesService`.
    pub(crate) async fn rules(&self) -> RulesServiceClient<Channel> {
        RulesServiceClient::new(self.channel().await)
    }

    /// Asks it to stop, and goes on at once.
    pub(crate) fn ask_to_stop(&mut self) {
        self.stop.take().expect("not asked before").send(()).expect("the server runs");
    }

    /// Waits until it has stopped.
    pub(crate) async fn stopped(self) -> Stopped {
        let result = timeout(PATIENCE, self.running).await.expect("it stops within its bound");
        result.expect("no panic").expect("no failure")
    }
}

/// Sends a signal to a process.
pub(crate) fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status();
    assert!(status.expect("`kill` runs").success(), "{name}");
}

/// How much of a process is in memory, in bytes.
pub(crate) fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("its size");
    let kilobytes = line.trim().strip_suffix(" kB").expect("in kB").trim();
    kilobytes.parse::<u64>().expect("a number") * 1024
}

/// What a refusal says, checked for what every one has: a reason of the domain `banqi`.
pub(crate) fn refusal(status: &Status) -> (Code, String, ErrorDetails) {
    let details = status.get_error_details();
    let info = details.error_info().unwrap_or_else(|| panic!("no ErrorInfo in {status:?}"));
    assert_eq!(info.domain, "banqi");
    assert!(!status.message().is_empty());
    (status.code(), info.reason.clone(), details)
}

/// The paths of the malformed fields that a refusal names.
pub(crate) fn bad_fields(status: &Status) -> Vec<String> {
    let (code, reason, details) = refusal(status);
    assert_eq!((code, reason.as_str()), (Code::InvalidArgument, "INVALID_FIELDS"), "{status:?}");
    let violations = &details.bad_request().expect("a BadRequest").field_violations;
    assert!(violations.iter().all(|violation| !violation.description.is_empty()));
    violations.iter().map(|violation| violation.field.clone()).collect()
}

/// A board in the form of requests.
pub(crate) fn board(cells: &str, to_move: u32, colours: &[&str]) -> v1::Board {
    v1::Board {
        cells: cells.to_owned(),
        to_move,
        colours: colours.iter().map(ToString::to_string).collect(),
        quiet_turns: 0,
    }
}

/// The cells of a single board on which only the given squares are not empty.
pub(crate) fn cells(pieces: &[(&str, &str)]) -> String {
    let mut cells = vec!["."; 32];
    for (square, piece) in pieces {
        let square: banqi::rules::Square = square.parse().expect("a square");
        cells[usize::from(square.index())] = piece;
    }
    cells.join(" ")
}

/// Sends bytes over a connection of its own and reads all that comes back until it is closed.
pub(crate) async fn exchange(address: SocketAddr, request: &[u8]) -> String {
    let mut connection = TcpStream::connect(address).await.expect("a connection");
    connection.write_all(request).await.expect("sent");
    read_all(&mut connection).await
}

/// Reads until the other side closes.
pub(crate) async fn read_all(connection: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    timeout(PATIENCE, connection.read_to_end(&mut answer))
        .await
        .expect("an answer in time")
        .expect("read");
    String::from_utf8_lossy(&answer).into_owned()
}

/// A gRPC-Web call over HTTP/1 as a browser sends it: the head, and the body with one message.
pub(crate) fn web_call(
    address: SocketAddr,
    method: &str,
    more: &str,
    message: &[u8],
) -> (String, Vec<u8>) {
    let length = u32::try_from(message.len()).expect("a small message");
    let body = [&[0], &length.to_be_bytes()[..], message].concat();
    let head = format!(
        "POST /banqi.v1.RulesService/{method} HTTP/1.1\r\nhost: {address}\r\n\
         content-type: application/grpc-web+proto\r\nx-grpc-web: 1\r\nconnection: close\r\n\
         content-length: {}\r\n{more}\r\n",
        body.len()
    );
    (head, body)
}
