//! Whether the servers are some to work with.

use std::num::NonZeroU32;

use redis::{Value, cmd};

use super::answer::unintelligible;
use super::keys::Keys;
use super::servers::Servers;
use super::slot::Slot;
use crate::store::{Finding, Misconfiguration, ShardCount, StoreError};

/// The oldest major version of Redis that will do.
const OLDEST: u32 = 7;

/// Refuses a server that is too old.
pub(super) async fn check_version(servers: &Servers) -> Result<(), StoreError> {
    for info in Info::ask_each(servers).await? {
        let major = info.field("redis_version")?.split('.').next();
        match major.and_then(|major| major.parse::<u32>().ok()) {
            Some(major) if major >= OLDEST => {}
            _ => return Err(Misconfiguration::ServerTooOld { found: info.server_name()? }.into()),
        }
    }
    Ok(())
}

/// Records the number of shards the first time, and compares it from then on.
pub(super) async fn record_shards(
    servers: &Servers,
    keys: &Keys,
    configured: ShardCount,
) -> Result<(), StoreError> {
    let key = keys.shards();
    let slot = Slot::of(&key);
    let mut command = cmd("SET");
    command.arg(key).arg(configured.get()).arg("NX").arg("GET");
    let stored: Option<String> = servers.query(slot, &command).await?;
    match stored {
        Some(stored) if stored != configured.to_string() => {
            Err(Misconfiguration::ShardCountMismatch { stored, configured }.into())
        }
        _ => Ok(()),
    }
}

/// How much memory each server has taken, and may take.
pub(super) async fn memory(servers: &Servers) -> Result<Vec<Finding>, StoreError> {
    let number = |info: &Info, name| {
        let text = info.field(name)?;
        text.parse().map_err(|_| unintelligible(format_args!("{name}:{text} is not a number")))
    };
    let infos = Info::ask_each(servers).await?;
    let finding = |info| {
        let (used, limit) = (number(info, "used_memory")?, number(info, "maxmemory")?);
        Ok(Finding::Memory { used, limit })
    };
    infos.iter().map(finding).collect()
}

/// Compares the number of shards with the store's, which may have none yet.
pub(super) async fn compare_shards(
    servers: &Servers,
    keys: &Keys,
    configured: ShardCount,
) -> Result<Finding, StoreError> {
    let key = keys.shards();
    let slot = Slot::of(&key);
    let mut command = cmd("GET");
    command.arg(key);
    let stored: Option<String> = servers.query(slot, &command).await?;
    match stored {
        Some(stored) if stored != configured.to_string() => {
            Err(Misconfiguration::ShardCountMismatch { stored, configured }.into())
        }
        stored => Ok(Finding::Shards { new: stored.is_none() }),
    }
}

/// What the operator should know of the servers. What is the same of several is told once.
pub(super) async fn checkup(
    servers: &Servers,
    wanted: Option<NonZeroU32>,
) -> Result<Vec<Finding>, StoreError> {
    let mut findings = Vec::new();
    let snapshots = snapshots(servers).await?;
    for (place, info) in Info::ask_each(servers).await?.iter().enumerate() {
        let limit = info.field("maxmemory")?;
        let limit = limit.parse().map_err(|_| {
            unintelligible(format_args!("maxmemory:{limit} is not a number of bytes"))
        })?;
        let found = [
            Finding::Server { name: info.server_name()? },
            Finding::Eviction { policy: info.field("maxmemory_policy")?.into(), limit },
            Finding::Persistence {
                append_only: info.field("aof_enabled")? == "1",
                snapshots: snapshots.get(place).cloned().flatten(),
            },
        ];
        for finding in found {
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
        if let Some(wanted) = wanted {
            let connected = info.field("connected_slaves")?;
            let connected = connected.parse().map_err(|_| {
                unintelligible(format_args!("connected_slaves:{connected} is not a number"))
            })?;
            findings.push(Finding::Replicas { connected, wanted });
        }
    }
    Ok(findings)
}

/// When each server saves snapshots, unless they keep their configuration to themselves, as
/// managed servers do.
async fn snapshots(servers: &Servers) -> Result<Vec<Option<String>>, StoreError> {
    let mut command = cmd("CONFIG");
    command.arg("GET").arg("save");
    let save = |settings| match settings {
        Value::Map(settings) => match settings.into_iter().next() {
            Some((_, Value::BulkString(save))) => String::from_utf8(save).ok(),
            _ => None,
        },
        _ => None,
    };
    match servers.query_each::<Value>(&command).await {
        Ok(settings) => Ok(settings.into_iter().map(save).collect()),
        Err(StoreError::Misconfigured(_) | StoreError::Unintelligible(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// What the server says of itself: lines of a name, a colon and a value.
struct Info(String);

impl Info {
    async fn ask_each(servers: &Servers) -> Result<Vec<Self>, StoreError> {
        let texts: Vec<String> = servers.query_each(&cmd("INFO")).await?;
        Ok(texts.into_iter().map(Self).collect())
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
