//! Starts that fail: each names what is wrong and what would be right, and no secret.

mod support;

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use banqi::store::{Options, open};
use support::authority::{Authority, Validity};
use support::redis_server::{RedisServer, free_port};
use support::replica::Replica;
use tempfile::TempDir;

/// What stands in every password here.
const SECRET: &str = "hunter2";

/// A start that is to fail, and what it must tell.
struct Refused {
    options: Vec<String>,
    environment: Vec<(&'static str, String)>,
    told: Vec<String>,
}

impl Refused {
    fn new(options: &[&str], told: &[&str]) -> Self {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        Self { options: owned(options), environment: Vec::new(), told: owned(told) }
    }

    /// A start on this store.
    fn store(address: &str, told: &[&str]) -> Self {
        Self::new(&["--store", address], told)
    }

    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    fn start(&self) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
        command.arg("serve").args(&self.options);
        if !self.options.iter().any(|option| option.starts_with("--listen")) {
            command.arg("--listen=127.0.0.1:0");
        }
        command.env("NO_COLOR", "").envs(self.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("the command runs")
    }
}

/// Starts all of them, since some wait for two seconds, and looks at what each tells.
fn assert_refused(all: &[Refused]) {
    let started: Vec<Child> = all.iter().map(Refused::start).collect();
    for (refused, child) in all.iter().zip(started) {
        let output = child.wait_with_output().expect("it ends");
        let options = &refused.options;
        assert!(matches!(output.status.code(), Some(1 | 2)), "{options:?}: {}", output.status);
        assert!(output.stdout.is_empty(), "{options:?}: it does not say that it is listening");
        let log = String::from_utf8_lossy(&output.stderr);
        assert!(!log.contains(SECRET), "{options:?} tells a secret: {log}");
        let told = log.lines().skip_while(|line| !line.starts_with("error: "));
        let told = told.collect::<Vec<_>>().join("\n");
        for expected in &refused.told {
            assert!(told.contains(expected), "{options:?}: no `{expected}` in: {told}");
        }
    }
}

/// A server that answers everything as a web server would.
fn web_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // Whoever asks may have gone.
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        }
    });
    port
}

/// A node that is a cluster of its own.
fn cluster_node(slots: bool) -> RedisServer {
    let bus = free_port().to_string();
    let node = RedisServer::start_with(&["--cluster-enabled", "yes", "--cluster-port", &bus]);
    if slots {
        let mut connection = node.client().get_connection().expect("a connection");
        redis::cmd("CLUSTER")
            .arg(&["ADDSLOTSRANGE", "0", "16383"])
            .exec(&mut connection)
            .expect("slots are added");
    }
    node
}

#[test]
fn a_store_on_redis_that_cannot_be_used() {
    let plain = RedisServer::start();
    let locked = RedisServer::start();
    locked
        .client()
        .get_connection()
        .and_then(|mut it| redis::cmd("CONFIG").arg(&["SET", "requirepass", "other"]).exec(&mut it))
        .expect("a password is set");
    let (node, bare_node) = (cluster_node(true), cluster_node(false));
    let at = |server: &RedisServer| format!("127.0.0.1:{}", server.port());
    let configuration = format!("sentinel monitor others {} 1\n", at(&plain).replace(':', " "));
    let sentinel = RedisServer::start_sentinel(configuration, &[]);
    let closed = free_port();
    let junk = tempfile::NamedTempFile::new().expect("a file");
    fs::write(junk.path(), "junk").expect("written");
    let wrong = format!(":{SECRET}@");
    let secured = |options: &str| format!("rediss://{}?{options}", at(&plain));
    assert_refused(&[
        Refused::store(
            &format!("redis://{wrong}127.0.0.1:{closed}"),
            &[&format!("127.0.0.1:{closed}: Connection refused"), "start Redis, or correct host"],
        ),
        Refused::store(
            &format!("redis://{wrong}no-such-host.invalid"),
            &["no-such-host.invalid:6379", "correct it, or look at the DNS"],
        ),
        Refused::store(&format!("redis://{}", at(&locked)), &[&at(&locked), ":PASSWORD@HOST"]),
        Refused::store(
            &format!("redis://{wrong}{}", at(&locked)),
            &[&at(&locked), "WRONGPASS", "correct user and password"],
        ),
        Refused::store(&format!("redis://127.0.0.1:{}", web_server()), &["no Redis"]),
        Refused::store(&format!("redis://{}/99", at(&plain)), &[&at(&plain), "`databases`"]),
        Refused::store(
            &format!("redis+cluster://{}", at(&plain)),
            &[&at(&plain), "no node of a cluster", "`redis`"],
        ),
        Refused::store(&format!("redis://{}", at(&node)), &[&at(&node), "`redis+cluster`"]),
        Refused::store(
            &format!("redis+cluster://{}", at(&bare_node)),
            &[&at(&bare_node), "serves any slot", "--cluster create"],
        ),
        Refused::store(
            &format!("redis+cluster://{wrong}127.0.0.1:{closed}"),
            &[&format!("127.0.0.1:{closed}"), "Connection refused"],
        ),
        Refused::store(
            &format!("redis+cluster://{wrong}{}", at(&locked)),
            &[&at(&locked), "WRONGPASS"],
        ),
        Refused::store(
            &format!("redis+sentinel://{}/games", at(&sentinel)),
            &[&at(&sentinel), "know no service"],
        ),
        Refused::store(&format!("redis+sentinel://{}/games", at(&plain)), &["no sentinel"]),
        Refused::store(
            &format!("redis+sentinel://127.0.0.1:{closed}/games"),
            &[&format!("127.0.0.1:{closed}")],
        ),
        Refused::store(&secured(""), &[&at(&plain), "without TLS", "`redis`"]),
        Refused::store(&secured("ca=/nowhere/ca.pem"), &["/nowhere/ca.pem", "`ca`"]),
        Refused::store(&secured(&format!("ca={}", junk.path().display())), &["no PEM", "`ca`"]),
        Refused::store(&format!("postgres://me:{SECRET}@host"), &["`postgres`", "redis://"]),
        Refused::new(&["--store", &plain.url(), "--shards=0"], &["--shards"]),
    ]);
}

#[test]
fn a_server_that_wants_tls() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| directory.path().join(name).display().to_string();
    let authority = Authority::new();
    let identity = authority.issue(&["127.0.0.1"], Validity::Now);
    fs::write(path("cert"), &identity.certificate).expect("written");
    fs::write(path("key"), &identity.key).expect("written");
    fs::write(path("ca"), authority.pem()).expect("written");
    fs::write(path("other"), Authority::new().pem()).expect("written");
    let port = free_port();
    let options = [
        ("--tls-port", port.to_string()),
        ("--tls-cert-file", path("cert")),
        ("--tls-key-file", path("key")),
        ("--tls-ca-cert-file", path("ca")),
    ];
    let options: Vec<&str> = options.iter().flat_map(|(name, value)| [*name, value]).collect();
    let _server = RedisServer::start_with(&options);
    let at = format!("127.0.0.1:{port}");
    assert_refused(&[
        Refused::store(&format!("redis://{at}"), &[&at, "begin the address with `rediss`"]),
        Refused::store(
            &format!("rediss://{at}?ca={}", path("other")),
            &[&at, "invalid peer certificate", "?ca=FILE"],
        ),
        Refused::store(&format!("rediss://{at}?ca={}", path("ca")), &[&at, "cert=FILE&key=FILE"]),
        Refused::store(
            &format!("rediss://{at}?cert={}&key={}", path("cert"), path("ca")),
            &["`cert` and `key`"],
        ),
    ]);
}

/// Makes a store in a file.
async fn make_store(path: &Path) {
    open(&format!("file:{}", path.display()), Options::default()).await.expect("a store");
}

#[tokio::test]
async fn a_file_that_cannot_be_used() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let store = |name: &str| format!("file:{}", path(name).display());
    make_store(&path("damaged")).await;
    let mut content = fs::read(path("damaged")).expect("a file");
    let junk = (0..).map(|place: usize| (place * 31 % 251) as u8);
    content[8192..].iter_mut().zip(junk).for_each(|(byte, junk)| *byte = junk);
    fs::write(path("damaged"), content).expect("written");
    fs::write(path("foreign"), [b'x'; 8192]).expect("written");
    let taken = format!("--store={}", store("taken"));
    let _holder = Replica::start(&[&taken]);
    assert_refused(&[
        Refused::store("file:/nowhere/games", &["/nowhere/games", "make the directory"]),
        // The kernel's own, where not even root makes a file.
        Refused::store("file:/sys/games", &["/sys/games", "let the user of this process write"]),
        Refused::store(&store(""), &["name a file"]),
        Refused::store(&store("damaged"), &["damaged", "put a backup in its place"]),
        Refused::store(&store("foreign"), &["foreign", "choose another file"]),
        Refused::new(&[&taken], &["another process uses it", "stop that one"]),
    ]);
}

#[test]
fn an_option_that_cannot_be_used() {
    let traced = "--otlp-endpoint=http://127.0.0.1:4317";
    let holder = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = holder.local_addr().expect("an address");
    assert_refused(&[
        Refused::new(&["--listen", "localhost:7"], &["--listen", "an IP address", "127.0.0.1:7"]),
        Refused::new(&["--listen=192.0.2.1:0", "--insecure"], &["--listen 192.0.2.1:0", "0.0.0.0"]),
        Refused::new(&[&format!("--listen={taken}")], &["--listen", "in use", "127.0.0.1:0"]),
        Refused::new(&[&format!("--http-listen={taken}")], &["--http-listen", "in use"]),
        Refused::new(
            &["--listen=127.0.0.1:7", "--http-listen=127.0.0.1:7"],
            &["both name 127.0.0.1:7", "--http-listen 127.0.0.1:8080"],
        ),
        Refused::new(&["--stop-grace", "-1"], &["--stop-grace", "a number of seconds"]),
        Refused::new(&["--shards", "-1"], &["--shards", "a whole number"]),
        Refused::new(&["--ended-days", "-3"], &["--ended-days", "1..=3650"]),
        Refused::new(&["--namespace", "a:b"], &["--namespace", "1 to 32 characters"]),
        Refused::new(&["--log", "banqi=bogus"], &["--log", "banqi=debug,warn"]),
        Refused::new(&["--log", "bogus"], &["--log", "`bogus` is no level"]),
        Refused::new(&["--durability=1"], &["replicas", "leave --durability out"]),
        Refused::new(&["--record-format=2"], &["--record-format 2", "--seal-keys"]),
        Refused::new(&[traced], &["OTEL_BSP_SCHEDULE_DELAY", "a whole number"])
            .with("OTEL_BSP_SCHEDULE_DELAY", "soon"),
        Refused::new(&[traced], &["OTEL_EXPORTER_OTLP_HEADERS", "NAME=VALUE"])
            .with("OTEL_EXPORTER_OTLP_HEADERS", SECRET),
        Refused::new(&[traced], &["OTEL_RESOURCE_ATTRIBUTES", "NAME=VALUE"])
            .with("OTEL_RESOURCE_ATTRIBUTES", "junk"),
    ]);
}

#[test]
fn a_certificate_that_has_expired_is_warned_of() {
    let directory = TempDir::new().expect("a directory");
    let path = |name: &str| directory.path().join(name);
    let identity = Authority::new().issue(&["localhost"], Validity::Over);
    fs::write(path("cert"), &identity.certificate).expect("written");
    fs::write(path("key"), &identity.key).expect("written");
    let log = fs::File::create(path("log")).expect("a file");
    let options = ["cert", "key"].map(|name| format!("--tls-{name}={}", path(name).display()));
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    // It serves all the same, and has written what it had to say when it has stopped.
    assert!(Replica::start_logging(log, &[], &options).stop().success());
    let log = fs::read_to_string(path("log")).expect("its log");
    let warned = log.lines().find(|line| line.contains("WARN") && line.contains("--tls-cert"));
    assert!(warned.is_some_and(|line| line.contains("has expired")), "{log}");
}
