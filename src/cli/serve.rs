//! `banqi serve`.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::net::TcpListener;

use super::tls::TlsArguments;
use super::traces::TraceArguments;
use super::values::{address, positive, seconds, shards, threads};
use crate::api::callers::{CallerLimits, CallerOptions, Callers, CallersError};
use crate::api::{HostOptions, StreamAge, WatchPace};
use crate::game::{Limits, Span};
use crate::server::telemetry::FilterError;
use crate::server::{
    self, Config, ConfigError, CorsOrigin, Listeners, Load, ServeError, Stopped, Tls, TlsError,
    TlsOptions, VariableError, check_variables, signals, telemetry,
};
use crate::store::codec::{RecordCodec, RecordFormat, SealKeys, SealKeysError, SealedWithoutKeys};
use crate::store::{self, Finding, Namespace, Options, ShardCount, StoreError, SystemTimeSource};

/// Serve gRPC and gRPC-Web until SIGTERM or Ctrl-C
#[derive(Args, Clone, Debug)]
pub(super) struct Serve {
    /// Address to serve gRPC and gRPC-Web on; port 0 takes a free one
    #[arg(long, env = "BANQI_LISTEN", default_value = "127.0.0.1:50051", value_parser = address)]
    pub(super) listen: SocketAddr,

    /// Address to serve /livez, /readyz and /metrics on over plain HTTP; not served unless given
    #[arg(long, env = "BANQI_HTTP_LISTEN", value_parser = address)]
    pub(super) http_listen: Option<SocketAddr>,

    #[command(flatten)]
    pub(super) tls: TlsArguments,

    /// Let anyone who reaches a non-loopback --listen address call
    #[arg(long, env = "BANQI_INSECURE")]
    insecure: bool,

    /// Origins whose web pages may call, beside the service's own; * for all
    #[arg(long, env = "BANQI_CORS_ORIGIN", value_name = "ORIGIN", value_delimiter = ',')]
    cors_origin: Vec<CorsOrigin>,

    /// Do not serve the page for playing in a browser
    #[arg(long, env = "BANQI_NO_PAGE")]
    no_page: bool,

    /// Seconds to go on accepting calls after readiness went off, so that balancers notice
    #[arg(long, env = "BANQI_STOP_DELAY", value_name = "SECONDS", default_value = "0", value_parser = seconds)]
    stop_delay: Duration,

    /// Seconds that calls in flight have to finish after that
    #[arg(long, env = "BANQI_STOP_GRACE", value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    stop_grace: Duration,

    /// Seconds that a stream lasts at most, and at least half as long; 0 for no end
    #[arg(long, env = "BANQI_STREAM_MAX_AGE", value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    stream_max_age: Duration,

    /// Where games are kept: memory:, file:PATH, redis://…, redis+sentinel://… or redis+cluster://…
    // Help would show the variable's value, and with it a password.
    #[arg(
        long,
        env = "BANQI_STORE",
        hide_env_values = true,
        value_name = "ADDRESS",
        default_value = "memory:"
    )]
    pub(super) store: String,

    /// Prefix of all keys, so that several services can share one Redis
    #[arg(long, env = "BANQI_NAMESPACE")]
    namespace: Option<Namespace>,

    /// Into how many shards games are spread; a store keeps the number it was first used with
    #[arg(long, env = "BANQI_SHARDS", default_value = "1024", value_parser = shards)]
    shards: ShardCount,

    /// How many replicas of Redis each write waits for, a second at most; 0 for none
    #[arg(long, env = "BANQI_DURABILITY", value_name = "REPLICAS", default_value = "0", value_parser = clap::value_parser!(u32).range(..=16))]
    durability: u32,

    /// Refuse to start on a store whose set-up would lose games, instead of warning of it
    #[arg(long, env = "BANQI_STRICT")]
    pub(super) strict: bool,

    /// Format of the records that are written: 1, or 2, which is sealed; all of them are read
    #[arg(long, env = "BANQI_RECORD_FORMAT", value_name = "FORMAT", default_value = "1")]
    record_format: RecordFormat,

    /// File of keys that records are sealed with, one a line: the first seals, all of them open
    #[arg(long, env = "BANQI_SEAL_KEYS", value_name = "FILE")]
    pub(super) seal_keys: Option<PathBuf>,

    /// File of API keys: only their holders may call; without one everyone may
    #[arg(long, env = "BANQI_AUTH", value_name = "FILE")]
    pub(super) auth: Option<PathBuf>,

    /// File of at least 32 random bytes that player tokens are made with, the same for each replica
    #[arg(long, env = "BANQI_SERVICE_KEY", value_name = "FILE")]
    pub(super) service_key: Option<PathBuf>,

    /// Let everyone call PlatformService and act by seat number; for development
    #[arg(long, env = "BANQI_DEV_PLATFORM")]
    dev_platform: bool,

    /// Calls that are answered at the same time; those over that are refused as OVERLOADED
    #[arg(long, env = "BANQI_MAX_CALLS", value_name = "CALLS", default_value_t = Load::default().calls, value_parser = positive)]
    max_calls: NonZeroU32,

    /// Streams and waiting polls that are open at the same time; those over that are refused too
    #[arg(long, env = "BANQI_MAX_STREAMS", value_name = "STREAMS", default_value_t = Load::default().streams, value_parser = positive)]
    pub(super) max_streams: NonZeroU32,

    /// Streams that one caller may have open over this replica; 0 for as many as there may be
    #[arg(long, env = "BANQI_MAX_STREAMS_PER_CALLER", value_name = "STREAMS", default_value = "0")]
    max_streams_per_caller: u32,

    /// Games that one caller may create a second over this replica; 0 for no limit
    #[arg(long, env = "BANQI_CREATIONS_PER_SECOND", value_name = "GAMES", default_value = "0")]
    creations_per_second: u32,

    /// Hours after which a game that nobody has begun is aborted
    #[arg(long, env = "BANQI_UNBEGUN_HOURS", value_name = "HOURS", default_value = "24", value_parser = clap::value_parser!(u32).range(1..=87_600))]
    unbegun_hours: u32,

    /// Days for which an ended game is kept
    #[arg(long, env = "BANQI_ENDED_DAYS", value_name = "DAYS", default_value = "30", value_parser = clap::value_parser!(u32).range(1..=3_650))]
    ended_days: u32,

    /// How many threads serve calls: one a core unless given; 1 takes the least time a call
    #[arg(long, env = "BANQI_THREADS", value_name = "THREADS", value_parser = threads)]
    threads: Option<NonZeroUsize>,

    /// What to log: a level, or levels by target like banqi=debug,warn
    #[arg(long, env = "BANQI_LOG", value_name = "FILTER", default_value = "info")]
    log: String,

    #[command(flatten)]
    traces: TraceArguments,
}

/// Why the service could not be started, or failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Callers(#[from] CallersError),
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("--log cannot be read: {0}; write a level such as info, or banqi=debug,warn")]
    Log(#[from] FilterError),
    #[error(
        "{option} {address}: the port is in use; stop what uses it, or choose another with \
         {option} {}:0, which takes a free one",
        address.ip()
    )]
    PortInUse { option: &'static str, address: SocketAddr },
    #[error(
        "{option} {address}: cannot listen there: {source}; the address must be one of this \
         machine's (0.0.0.0 and [::] stand for all), and ports below 1024 need the right to use \
         them"
    )]
    Listen { option: &'static str, address: SocketAddr, source: io::Error },
    #[error("--seal-keys: {0}")]
    SealKeys(#[from] SealKeysError),
    #[error(
        "--record-format {format}: {0}; name a file of keys (--seal-keys), or leave the format at \
         {plain}",
        format = .0.0,
        plain = RecordFormat::default()
    )]
    SealedWithoutKeys(#[from] SealedWithoutKeys),
    #[error("--store: {0}")]
    Store(#[from] StoreError),
    #[error("--strict: this store would lose games:{}", lines(.0))]
    WouldLoseGames(Vec<Finding>),
    #[error(transparent)]
    Variable(#[from] VariableError),
    #[error("the process could not be set up: {0}")]
    System(#[from] io::Error),
    #[error(transparent)]
    Serve(#[from] ServeError),
}

impl Serve {
    pub(super) fn run(self) -> Result<(), Failure> {
        let _logging = telemetry::start(&self.log)?;
        let (store, options, strict) = (self.store.clone(), self.store_options()?, self.strict);
        let threads = self.threads;
        let config = self.config();
        config.check()?;
        if config.traces.is_some() {
            check_variables(|name| std::env::var(name).ok())?;
        }
        server::runtime(threads)?.block_on(serve(&config, &store, options, strict))
    }

    pub(super) fn store_options(&self) -> Result<Options, Failure> {
        Ok(Options {
            shards: self.shards,
            namespace: self.namespace.clone(),
            durability: NonZeroU32::new(self.durability),
            records: self.records()?,
            ..Options::default()
        })
    }

    /// How records are written and read; the log is told with which keys.
    fn records(&self) -> Result<RecordCodec, Failure> {
        let keys = self.seal_keys.as_deref().map(SealKeys::open).transpose()?;
        let records = RecordCodec::new(self.record_format, keys)?;
        if let Some(keys) = records.keys() {
            let sealed = self.record_format.is_sealed();
            tracing::info!(%keys, sealed, "keys for sealed records are read");
        }
        Ok(records)
    }

    pub(super) fn config(self) -> Config {
        Config {
            tls: self.tls.into(),
            listen: self.listen,
            http_listen: self.http_listen,
            insecure: self.insecure,
            cors_origins: self.cors_origin,
            stop_delay: self.stop_delay,
            stop_grace: self.stop_grace,
            page: !self.no_page,
            load: Load { calls: self.max_calls, streams: self.max_streams },
            callers: CallerOptions {
                auth: self.auth,
                dev_platform: self.dev_platform,
                service_key: self.service_key,
                limits: CallerLimits {
                    creations: NonZeroU32::new(self.creations_per_second),
                    streams: NonZeroU32::new(self.max_streams_per_caller),
                },
            },
            host: HostOptions {
                limits: Limits {
                    unbegun: Span::hours(self.unbegun_hours.into()),
                    ended: Span::days(self.ended_days.into()),
                },
                ..HostOptions::default()
            },
            watching: WatchPace {
                stream_age: StreamAge::up_to(self.stream_max_age),
                ..WatchPace::default()
            },
            traces: self.traces.into(),
        }
    }
}

async fn serve(
    config: &Config,
    store: &str,
    options: Options,
    strict: bool,
) -> Result<(), Failure> {
    let mut shutdown = Box::pin(signals::stop()?);
    let started = async {
        let store = store::open(store, options).await?;
        let findings = store.checkup().await?;
        Ok::<_, Failure>((store, findings))
    };
    let callers = Callers::open(&config.callers, Arc::new(SystemTimeSource))?;
    let tls = config.tls.clone().map(Tls::open).transpose()?;
    let (store, findings) = tokio::select! {
        started = started => started?,
        // There is nothing to stop yet.
        () = &mut shutdown => return Ok(()),
    };
    let (losing, fine): (Vec<Finding>, Vec<Finding>) =
        findings.into_iter().partition(Finding::loses_games);
    for finding in fine {
        tracing::info!("{finding}");
    }
    if strict && !losing.is_empty() {
        return Err(Failure::WouldLoseGames(losing));
    }
    for finding in losing {
        tracing::warn!("{finding}");
    }
    let grpc = bind("--listen", config.listen).await?;
    let http = match config.http_listen {
        Some(address) => Some(bind("--http-listen", address).await?),
        None => None,
    };
    announce(config, &grpc, http.as_ref())?;
    match server::run(Listeners { grpc, tls, http }, config, &callers, store, shutdown).await? {
        Stopped::Finished => tracing::info!("stopped"),
        Stopped::CutOff => tracing::warn!(
            grace = ?config.stop_grace,
            "stopped with calls or connections still open; --stop-grace gives them longer"
        ),
    }
    Ok(())
}

async fn bind(option: &'static str, address: SocketAddr) -> Result<TcpListener, Failure> {
    TcpListener::bind(address).await.map_err(|source| match source.kind() {
        io::ErrorKind::AddrInUse => Failure::PortInUse { option, address },
        _ => Failure::Listen { option, address, source },
    })
}

/// Says on standard output where the service is, and what to try next. A reader who has seen
/// enough, or none, is no reason not to serve.
fn announce(config: &Config, grpc: &TcpListener, http: Option<&TcpListener>) -> io::Result<()> {
    let address = grpc.local_addr()?;
    let mut text = format!("banqi is listening on {address}\n");
    if let Some(http) = http {
        text += &format!("probes: http://{}/readyz\n", http.local_addr()?);
    }
    let trust = match &config.tls {
        None => "-plaintext",
        Some(TlsOptions { clients: None, .. }) => "-cacert ca.pem",
        Some(_) => "-cacert ca.pem -cert client.pem -key client.key",
    };
    let key = config.callers.auth.as_ref().map_or("", |_| "-H \"x-api-key: $KEY\" ");
    text += &format!("try: grpcurl {trust} {key}{address} banqi.v1.RulesService/ListPresets\n");
    let mut out = io::stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        tracing::warn!(%error, "standard output cannot be written to");
    }
    Ok(())
}

/// Each finding on a line of its own.
fn lines(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("\n  {finding}")).collect()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::server::{ClientCertificates, TraceOptions};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        serve: Serve,
    }

    fn read(arguments: &[&str]) -> Result<Config, clap::Error> {
        let line = Line::try_parse_from([&["serve"], arguments].concat())?;
        Ok(line.serve.config())
    }

    #[test]
    fn no_options_give_the_default_configuration() {
        assert_eq!(read(&[]).expect("a configuration"), Config::default());
    }

    #[test]
    fn every_option_reaches_the_configuration() {
        let config = read(&[
            "--listen=[::1]:1",
            "--http-listen=127.0.0.1:2",
            "--tls-cert=cert.pem",
            "--tls-key=key.pem",
            "--tls-client-ca=ca.pem",
            "--tls-client-optional",
            "--insecure",
            "--cors-origin=https://a.example,https://b.example",
            "--no-page",
            "--stop-delay=1.5",
            "--stop-grace=3",
            "--stream-max-age=60",
            "--dev-platform",
            "--auth=keys",
            "--service-key=service key",
            "--max-calls=5",
            "--max-streams=6",
            "--max-streams-per-caller=7",
            "--creations-per-second=8",
            "--unbegun-hours=2",
            "--ended-days=4",
            "--otlp-endpoint=http://localhost:4317",
            "--trace-ratio=0.5",
        ])
        .expect("a configuration");
        let expected = Config {
            listen: "[::1]:1".parse().expect("an address"),
            http_listen: Some("127.0.0.1:2".parse().expect("an address")),
            tls: Some(TlsOptions {
                certificate: "cert.pem".into(),
                key: "key.pem".into(),
                clients: Some(ClientCertificates { authorities: "ca.pem".into(), optional: true }),
            }),
            insecure: true,
            cors_origins: ["https://a.example", "https://b.example"]
                .map(|origin| origin.parse().expect("an origin"))
                .to_vec(),
            page: false,
            stop_delay: Duration::from_millis(1500),
            stop_grace: Duration::from_secs(3),
            callers: CallerOptions {
                auth: Some("keys".into()),
                dev_platform: true,
                service_key: Some("service key".into()),
                limits: CallerLimits { creations: NonZeroU32::new(8), streams: NonZeroU32::new(7) },
            },
            load: Load {
                calls: NonZeroU32::new(5).expect("not zero"),
                streams: NonZeroU32::new(6).expect("not zero"),
            },
            host: HostOptions {
                limits: Limits { unbegun: Span::hours(2), ended: Span::days(4) },
                ..HostOptions::default()
            },
            watching: WatchPace {
                stream_age: StreamAge::up_to(Duration::from_secs(60)),
                ..WatchPace::default()
            },
            traces: Some(TraceOptions {
                collector: "http://localhost:4317".parse().expect("a URL"),
                ratio: "0.5".parse().expect("a ratio"),
            }),
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn the_format_of_records_reaches_the_store_with_its_keys() {
        let records = |arguments: &[&str]| {
            let line = Line::try_parse_from([&["serve"], arguments].concat()).expect("options");
            line.serve.records()
        };
        assert_eq!(records(&[]).expect("a codec").format(), RecordFormat::One);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=")
            .expect("written");
        let keys = format!("--seal-keys={}", file.path().display());
        let opening = records(&[&keys]).expect("a codec");
        assert!(opening.format() == RecordFormat::One && opening.keys().is_some());
        let sealing = records(&[&keys, "--record-format=2"]).expect("a codec");
        assert!(sealing.format() == RecordFormat::Two && sealing.keys().is_some());
        let told = records(&["--record-format=2"]).expect_err("no keys").to_string();
        assert!(told.contains("--record-format 2") && told.contains("--seal-keys"), "{told}");
    }

    #[test]
    fn a_wrong_option_is_named_with_what_would_be_right() {
        for (argument, expected) in [
            ("--record-format=3", "expected 1 to 2"),
            ("--cors-origin=play.example", "https://play.example"),
            ("--stop-grace=-1", "a number of seconds"),
            ("--otlp-endpoint=collector:4317", "http://HOST:4317"),
            ("--trace-ratio=2", "a number from 0, none, to 1, all"),
            ("--listen=localhost", "an IP address and a port"),
            ("--listen=localhost:7", "127.0.0.1:7"),
        ] {
            let told = read(&[argument]).expect_err(argument).to_string();
            assert!(told.contains(expected), "{told}");
        }
    }
}
