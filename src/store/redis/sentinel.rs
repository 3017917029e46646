//! Asking sentinels which server is the primary.
//!
//! Asked anew on every attempt to connect, and now and then while connected: the client's own
//! sentinel support keeps connections to sentinels without limits, and believes whichever answers
//! first, which may be one that has missed the last failover.

use std::collections::HashMap;
use std::time::Duration;

use futures_util::future::join_all;
use redis::{ErrorKind, RedisError, RedisResult, pipe};
use tokio::time::timeout;

use super::access::{Access, HostPort};
use super::connection::connect;
use super::remedy::Unreached;

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
    /// The primary, by the sentinel that knows of the latest failover. One that answers is enough.
    pub(super) async fn primary(&self) -> Result<HostPort, Unreached> {
        self.latest(1).await
    }

    /// The primary, by the sentinel that knows of the latest failover, of more than half of them:
    /// so many must know of a failover, or make it.
    pub(super) async fn confirmed_primary(&self) -> Result<HostPort, Unreached> {
        self.latest(self.hosts.len() / 2 + 1).await
    }

    /// The primary by the latest failover, where at least so many sentinels answer.
    async fn latest(&self, least: usize) -> Result<HostPort, Unreached> {
        let answers = self.answers().await;
        let mut latest: Option<(u64, HostPort)> = None;
        let mut trouble = None;
        let answered = answers.iter().filter(|answer| answer.is_ok()).count();
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
            (Some((_, primary)), _) if answered >= least => Ok(primary),
            (_, Some(error)) => Err(error),
            (_, None) => unreachable!("an address names a sentinel, and each answers or does not"),
        }
    }

    /// What each sentinel says, in their order: the epoch of the last failover that it knows of, and
    /// the primary.
    pub(super) async fn answers(&self) -> Vec<Result<(u64, HostPort), Unreached>> {
        join_all(self.hosts.iter().map(|host| async {
            let answer = timeout(ANSWER_LIMIT, self.ask(host)).await;
            let answer = answer.unwrap_or_else(|_| {
                Err((ErrorKind::Io, "a sentinel does not answer in time").into())
            });
            answer.map_err(|error| Unreached::new(host, error))
        }))
        .await
    }

    /// What one sentinel says: the epoch of the last failover that it knows of, and the primary.
    async fn ask(&self, host: &HostPort) -> RedisResult<(u64, HostPort)> {
        let mut connection = connect(&self.access.client(host).await?, |_| {}).await?;
        let mut pipeline = pipe();
        pipeline.cmd("SENTINEL").arg("MASTER").arg(&self.service);
        // While a sentinel leads a failover, only this names the server that takes over, and the
        // epoch is the new one already. Asked last, so that no epoch is of a later failover.
        pipeline.cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(&self.service);
        type Answers = (HashMap<String, String>, Option<(String, u16)>);
        let (told, primary): Answers = pipeline.query_async(&mut connection).await?;
        let epoch = told.get("config-epoch").and_then(|text| text.parse().ok());
        match (epoch, primary) {
            (Some(epoch), Some((host, port))) => Ok((epoch, HostPort { host: host.into(), port })),
            _ => Err(RedisError::from((
                ErrorKind::UnexpectedReturnType,
                "a sentinel tells no epoch or no address of the primary",
            ))),
        }
    }
}
