//! How the server is reached, and whether it is one to work with.

use redis::io::tcp::TcpSettings;
use redis::{Client, IntoConnectionInfo, ProtocolVersion, Value, cmd};

use super::answer::unintelligible;
use super::keys::Keys;
use super::link::Link;
use crate::store::open::bad_address;
use crate::store::{Finding, Misconfiguration, ShardCount, StoreError};

/// The oldest major version of Redis that will do.
const OLDEST: u32 = 7;

/// A client for the server at an address.
pub(super) fn client(address: &str) -> Result<Client, Misconfiguration> {
    // What the library says of a malformed address might repeat a part of it.
    let expected = "write `redis://HOST:PORT`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`";
    let info = address.into_connection_info().map_err(|_| bad_address(expected))?;
    // Hints arrive, and a lost connection is noticed, only with this version of the protocol.
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    let info = info
        .set_redis_settings(settings)
        .set_tcp_settings(TcpSettings::default().set_nodelay(true));
    Client::open(info).map_err(|_| bad_address(expected))
}

/// Refuses a server that is too old.
pub(super) async fn check_version(link: &Link) -> Result<(), StoreError> {
    let info = Info::ask(link).await?;
    let major = info.field("redis_version")?.split('.').next();
    match major.and_then(|major| major.parse::<u32>().ok()) {
        Some(major) if major >= OLDEST => Ok(()),
        _ => Err(Misconfiguration::ServerTooOld { found: info.server_name()? }.into()),
    }
}

/// Records the number of shards the first time, and compares it from then on.
pub(super) async fn record_shards(
    link: &Link,
    keys: &Keys,
    configured: ShardCount,
) -> Result<(), StoreError> {
    let mut command = cmd("SET");
    command.arg(keys.shards()).arg(configured.get()).arg("NX").arg("GET");
    let stored: Option<String> = link.query(&command).await?;
    match stored {
        Some(stored) if stored != configured.to_string() => {
            Err(Misconfiguration::ShardCountMismatch { stored, configured }.into())
        }
        _ => Ok(()),
    }
}

/// What the operator should know of the server.
pub(super) async fn checkup(link: &Link) -> Result<Vec<Finding>, StoreError> {
    let info = Info::ask(link).await?;
    let limit = info.field("maxmemory")?;
    let limit = limit
        .parse()
        .map_err(|_| unintelligible(format_args!("maxmemory:{limit} is not a number of bytes")))?;
    Ok(vec![
        Finding::Server { name: info.server_name()? },
        Finding::Eviction { policy: info.field("maxmemory_policy")?.into(), limit },
        Finding::Persistence {
            append_only: info.field("aof_enabled")? == "1",
            snapshots: snapshots(link).await?,
        },
    ])
}

/// When the server saves snapshots, unless it keeps its configuration to itself, as managed
/// servers do.
async fn snapshots(link: &Link) -> Result<Option<String>, StoreError> {
    let mut command = cmd("CONFIG");
    command.arg("GET").arg("save");
    match link.query::<Value>(&command).await {
        Ok(Value::Map(settings)) => match settings.into_iter().next() {
            Some((_, Value::BulkString(save))) => Ok(String::from_utf8(save).ok()),
            _ => Ok(None),
        },
        Ok(_) => Ok(None),
        Err(StoreError::Misconfigured(_) | StoreError::Unintelligible(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What the server says of itself: lines of a name, a colon and a value.
struct Info(String);

impl Info {
    async fn ask(link: &Link) -> Result<Self, StoreError> {
        let text: String = link.query(&cmd("INFO")).await?;
        Ok(Self(text))
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
    }

    fn field(&self, name: &str) -> Result<&str, StoreError> {
        self.find(name).ok_or_else(|| unintelligible(format_args!("INFO does not tell {name}")))
    }

    fn server_name(&self) -> Result<String, StoreError> {
        match self.find("valkey_version") {
            Some(version) => Ok(format!("Valkey {version}")),
            None => Ok(format!("Redis {}", self.field("redis_version")?)),
        }
    }
}
