//! Asking sentinels which server is the primary.
//!
//! Asked anew on every attempt to connect, and now and then while connected: the client's own
//! sentinel support keeps connections to sentinels without limits, and believes whichever answers
//! first, which may be one that has missed the last failover.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use redis::{ErrorKind, RedisError, RedisResult, cmd};
use tokio::time::timeout;

use super::access::{Access, HostPort};
use super::connection::connect;

/// How long sentinels may take to answer.
const ANSWER_LIMIT: Duration = Duration::from_millis(500);

/// Sentinels and the service whose primary they know.
#[derive(Clone, Debug)]
pub(super) struct Sentinels {
    pub(super) hosts: Vec<HostPort>,
    pub(super) access: Access,
    pub(super) service: String,
}

impl Sentinels {
    /// The primary, by the sentinel that knows of the latest failover.
    pub(super) async fn primary(&self) -> RedisResult<HostPort> {
        let answers = join_all(self.hosts.iter().map(|host| async {
            timeout(ANSWER_LIMIT, self.ask(host)).await.unwrap_or_else(|_| {
                let what = "a sentinel does not answer in time";
                Err((ErrorKind::Io, what, host.to_string()).into())
            })
        }))
        .await;
        let mut latest: Option<(u64, HostPort)> = None;
        let mut trouble = None;
        for answer in answers {
            match answer {
                Ok(named) if latest.as_ref().is_none_or(|latest| latest.0 < named.0) => {
                    latest = Some(named);
                }
                Ok(_) => {}
                Err(error) => trouble = Some(error),
            }
        }
        match (latest, trouble) {
            (Some((_, primary)), _) => Ok(primary),
            (None, Some(error)) => Err(error),
            (None, None) => Err((ErrorKind::EmptySentinelList, "there is no sentinel").into()),
        }
    }

    /// What one sentinel says: the epoch of the last failover that it knows of, and the primary.
    async fn ask(&self, host: &HostPort) -> RedisResult<(u64, HostPort)> {
        let mut connection = connect(&self.access.client(host).await?, |_| {}).await?;
        let mut command = cmd("SENTINEL");
        command.arg("MASTER").arg(&self.service);
        let told: HashMap<String, String> = command.query_async(&mut connection).await?;
        let number = |name| told.get(name).and_then(|text: &String| text.parse::<u64>().ok());
        let primary = told.get("ip").zip(number("port").and_then(|port| port.try_into().ok()));
        match (number("config-epoch"), primary) {
            (Some(epoch), Some((host, port))) => Ok((epoch, HostPort { host: host.clone(), port })),
            _ => Err(RedisError::from((
                ErrorKind::UnexpectedReturnType,
                "SENTINEL MASTER tells no address",
            ))),
        }
    }
}
