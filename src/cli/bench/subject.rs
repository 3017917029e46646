//! What is measured: a service that runs somewhere, or one that is started for the run.

use std::ffi::OsString;
use std::process::Command;

use clap::Args;
use tonic::metadata::AsciiMetadataValue;

use super::failure::BenchError;
use super::process::{Process, Server};
use super::redis_server::RedisServer;

/// Which service is measured.
#[derive(Args, Clone, Debug)]
pub(super) struct SubjectOptions {
    /// The service, for example 127.0.0.1:50051; repeated for each replica. Without it a service is started for the run
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    address: Vec<String>,

    /// A key of a service that asks for one
    #[arg(long, value_name = "KEY", env = "BANQI_API_KEY", hide_env_values = true)]
    pub(super) api_key: Option<AsciiMetadataValue>,

    /// A process of the service at --address, if on this machine, whose use of it is told; repeated for each
    #[arg(long, value_name = "PID", requires = "address")]
    pid: Vec<u32>,

    /// A process of the store, where it is on this machine and was not started for the run
    #[arg(long, value_name = "PID")]
    redis_pid: Vec<u32>,

    /// How many replicas of the service to start
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "address", value_parser = clap::value_parser!(u16).range(1..=64))]
    replicas: u16,

    /// Where they keep games, as `serve --store` takes it. Without it a redis-server is started for the run
    #[arg(long, value_name = "ADDRESS", conflicts_with = "address")]
    store: Option<String>,

    /// More arguments for `serve`, for example -- --durability 1
    #[arg(last = true, conflicts_with = "address", value_name = "SERVE ARGUMENTS")]
    serve: Vec<OsString>,
}

/// A service under measurement; what was started for it ends when it is dropped.
#[derive(Debug)]
pub(super) struct Subject {
    /// Where each replica listens.
    pub(super) addresses: Vec<String>,
    /// The processes of the service that are known, on this machine.
    pub(super) service: Vec<Process>,
    /// Those of its store.
    pub(super) redis: Vec<Process>,
    _servers: Vec<Server>,
    _redis_server: Option<RedisServer>,
}

impl SubjectOptions {
    /// Finds or starts the service.
    pub(super) fn start(&self) -> Result<Subject, BenchError> {
        let mut subject = match (&self.address[..], &self.store) {
            ([], Some(store)) => {
                let embedded = store == "memory:" || store.starts_with("file:");
                if embedded && self.replicas > 1 {
                    let (store, replicas) = (store.clone(), self.replicas);
                    return Err(BenchError::NotShared { store, replicas });
                }
                Subject::of(self.replicas, None, || self.service(store))?
            }
            ([], None) => {
                let redis = RedisServer::start()?;
                let url = redis.url();
                Subject::of(self.replicas, Some(redis), || self.service(&url))?
            }
            (addresses, _) => Subject {
                addresses: addresses.to_vec(),
                service: self.pid.iter().copied().map(Process).collect(),
                redis: Vec::new(),
                _servers: Vec::new(),
                _redis_server: None,
            },
        };
        subject.redis.extend(self.redis_pid.iter().copied().map(Process));
        Ok(subject)
    }

    fn service(&self, store: &str) -> Result<Command, BenchError> {
        let mut command = banqi_serve(store)?;
        command.args(&self.serve);
        Ok(command)
    }
}

impl Subject {
    /// So many servers beside a `redis-server` of their own, if they have one.
    pub(super) fn of(
        replicas: u16,
        redis: Option<RedisServer>,
        command: impl Fn() -> Result<Command, BenchError>,
    ) -> Result<Self, BenchError> {
        let mut servers = Vec::new();
        for _ in 0..replicas {
            servers.push(Server::start(&mut command()?)?);
        }
        Ok(Self {
            addresses: servers.iter().map(|server| server.address.clone()).collect(),
            service: servers.iter().map(Server::process).collect(),
            redis: redis.iter().map(RedisServer::process).collect(),
            _servers: servers,
            _redis_server: redis,
        })
    }
}

/// Reads the address of a service, without the only scheme that there is.
fn address(text: &str) -> Result<String, String> {
    let bare = text.strip_prefix("http://").unwrap_or(text);
    if bare.contains("://") {
        return Err("a load is made without TLS only: expected HOST:PORT".to_owned());
    }
    Ok(bare.to_owned())
}

/// What starts the service on a free port. It goes by the environment, which, unlike the list of
/// arguments, other users cannot read: the store's address may hold a password.
pub(super) fn banqi_serve(store: &str) -> Result<Command, BenchError> {
    let mut command = this_program()?;
    command.arg("serve").env("BANQI_LISTEN", "127.0.0.1:0").env("BANQI_STORE", store);
    // Warnings about a store that keeps nothing are no news here.
    command.env("BANQI_LOG", "error");
    Ok(command)
}

/// What starts the floor on a free port.
pub(super) fn floor_serve(store: &str) -> Result<Command, BenchError> {
    let mut command = this_program()?;
    command.args(["bench", "serve-floor"]).env("BANQI_STORE", store);
    Ok(command)
}

fn this_program() -> Result<Command, BenchError> {
    std::env::current_exe().map(Command::new).map_err(BenchError::System)
}
