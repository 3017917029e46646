//! Looking closely at servers, and leaving them as they were.

use std::time::Duration;

use redis::{Cmd, Value, cmd};
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::connection::connect;
use super::servers::Layout;
use super::slot::Slot;
use super::{RedisStore, setup};
use crate::game::Millis;
use crate::store::{Finding, Misconfiguration, Options, Shard, Store as _, StoreError};

/// Of how many round trips the median is taken.
const ROUND_TRIPS: usize = 20;

/// How many of the newest records are read.
const RECORDS: u32 = 20;

/// After how many milliseconds what was written is gone, should nobody remove it.
const KEPT: u32 = 60_000;

/// How long an answer about channels may take.
const CHANNEL_LIMIT: Duration = Duration::from_millis(500);

impl RedisStore {
    /// What there is to say of the servers at an address.
    pub(in crate::store) async fn examine(address: &str, options: &Options) -> Vec<Finding> {
        let store = match Self::at(address, options) {
            Ok(store) => store,
            Err(error) => return vec![Finding::Failed(error)],
        };
        let mut findings = store.sentinels().await;
        if let Err(error) = store.servers.ping().await
            && !is_about_rights(&error)
        {
            findings.push(Finding::Failed(store.explained(error).await));
            return findings;
        }
        findings.push(Finding::Answers);
        if let Err(error) = store.look(options, &mut findings).await {
            let error = store.explained(error).await;
            // What is missing was told command by command.
            let told = findings.iter().any(|it| matches!(it, Finding::Rights { .. }));
            if !(told && is_about_rights(&error)) {
                findings.push(Finding::Failed(error));
            }
        }
        findings
    }

    async fn look(&self, options: &Options, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
        let servers = &self.servers;
        if matches!(servers.layout, Layout::Cluster(_)) {
            findings.push(Finding::Slots { missing: servers.map().borrow().missing() });
        }
        let missing = self.missing_rights().await?;
        let may_all = missing.is_empty();
        findings.push(Finding::Rights { missing });
        setup::check_version(servers).await?;
        findings.extend(setup::checkup(servers, self.wanted).await?);
        findings.extend(setup::memory(servers).await?);
        match setup::compare_shards(servers, &self.keys, self.shards).await {
            Ok(shards) => findings.push(shards),
            Err(error) => findings.push(Finding::Failed(error)),
        }
        findings.push(match self.write().await {
            Ok(()) => Finding::Writable,
            Err(error) if is_about_rights(&error) => return Err(error),
            Err(error) => {
                let reason = error.to_string();
                Finding::Failed(Misconfiguration::NotWritable { reason }.into())
            }
        });
        if may_all {
            findings.push(self.newest_records().await?);
        }
        findings.push(self.round_trip().await?);
        findings.push(self.clock(options).await?);
        Ok(())
    }

    /// Whether the sentinels agree, where there are some.
    async fn sentinels(&self) -> Vec<Finding> {
        let Layout::Whole(link) = &self.servers.layout else { return Vec::new() };
        let Some(sentinels) = link.sentinels() else { return Vec::new() };
        let answers = sentinels.answers().await;
        let latest = answers.iter().filter_map(|answer| answer.as_ref().ok()).max_by_key(|it| it.0);
        let Some((_, primary)) = latest else { return Vec::new() };
        let odd = answers.iter().zip(&sentinels.hosts).filter_map(|(answer, host)| match answer {
            Ok((_, named)) if named == primary => None,
            Ok((_, named)) => Some(format!("{host} names {named}, and not {primary}")),
            Err(error) => Some(error.to_string()),
        });
        vec![Finding::Sentinels { count: answers.len(), odd: odd.collect() }]
    }

    /// Tries every command that the service uses, and every kind of key.
    async fn missing_rights(&self) -> Result<Vec<String>, StoreError> {
        let id = format!("doctor-{}", Uuid::new_v4());
        let own = |kind: &str| self.keys.visitor(&id, kind);
        let slot = Slot::of(&own(""));
        let mut missing = Vec::new();
        for (name, command) in self.commands(&own) {
            self.try_out(slot, name, &command, &mut missing).await?;
        }
        let first: Vec<Shard> = self.shards.iter().take(1).collect();
        let clock = first.iter().map(|&shard| self.keys.clock(shard).to_string());
        let kinds = [self.keys.shards(), self.keys.replicas(), self.keys.player("doctor")];
        if !missing.iter().any(|it| it == "exists") {
            for key in kinds.into_iter().chain(clock) {
                let command = command(&["EXISTS", &key]);
                self.try_out(Slot::of(&key), &format!("the key {key}"), &command, &mut missing)
                    .await?;
            }
        }
        self.try_channels(slot, &own("watch:check"), &mut missing).await?;
        Ok(missing)
    }

    /// The commands that the service uses, on keys of this visit. What is written is removed.
    fn commands(&self, own: &dyn Fn(&str) -> String) -> Vec<(&'static str, Cmd)> {
        let [text, set, stream] = ["text", "set", "stream"].map(own);
        let kept = KEPT.to_string();
        let mut commands = vec![
            ("ping", command(&["PING"])),
            ("info", command(&["INFO", "server"])),
            ("time", command(&["TIME"])),
            ("set", command(&["SET", &text, "1", "PX", &kept])),
            ("get", command(&["GET", &text])),
            ("getrange", command(&["GETRANGE", &text, "0", "1"])),
            ("exists", command(&["EXISTS", &text])),
            ("zadd", command(&["ZADD", &set, "0", "a"])),
            ("pexpire", command(&["PEXPIRE", &set, &kept])),
            ("zrange", command(&["ZRANGE", &set, "0", "0"])),
            ("zscore", command(&["ZSCORE", &set, "a"])),
            ("zremrangebyscore", command(&["ZREMRANGEBYSCORE", &set, "1", "2"])),
            ("zrem", command(&["ZREM", &set, "b"])),
            ("xadd", command(&["XADD", &stream, "*", "e", "1"])),
            ("pexpire", command(&["PEXPIRE", &stream, &kept])),
            ("xrange", command(&["XRANGE", &stream, "-", "+"])),
            ("xdel", command(&["XDEL", &stream, "1-1"])),
            ("del", command(&["DEL", &text, &set, &stream])),
            ("spublish", command(&["SPUBLISH", &own("watch:check"), ""])),
            ("script|load", self.scripts.present.loading().clone()),
        ];
        let mut script = self.scripts.present.call(1);
        script.arg(own("presence:check"));
        commands.push(("evalsha", script));
        match &self.servers.layout {
            Layout::Whole(link) if link.sentinels().is_some() => {
                commands.push(("role", command(&["ROLE"])));
            }
            Layout::Whole(_) => {}
            Layout::Cluster(_) => {
                commands.push(("cluster|slots", command(&["CLUSTER", "SLOTS"])));
                commands.push(("asking", command(&["ASKING"])));
            }
        }
        if self.wanted.is_some() {
            commands.push(("wait", command(&["WAIT", "0", "1"])));
        }
        commands
    }

    async fn try_out(
        &self,
        slot: Slot,
        name: &str,
        command: &Cmd,
        missing: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        match self.servers.query::<Value>(slot, command).await {
            Err(error) if is_about_rights(&error) => {
                if !missing.iter().any(|it| it == name) {
                    missing.push(name.to_owned());
                }
                Ok(())
            }
            Err(error @ StoreError::Unavailable { .. }) if name == "ping" => Err(error),
            // Whether it works is looked at elsewhere.
            _ => Ok(()),
        }
    }

    /// Subscribes and leaves again, over a connection of its own as the service does.
    async fn try_channels(
        &self,
        slot: Slot,
        channel: &str,
        missing: &mut Vec<String>,
    ) -> Result<(), StoreError> {
        let Some(server) = self.servers.map().borrow().server(slot).cloned() else { return Ok(()) };
        let client = self.servers.client(&server).await.map_err(StoreError::not_applied)?;
        let connection = connect(&client, |_| {}).await.map_err(StoreError::not_applied)?;
        for name in ["ssubscribe", "sunsubscribe"] {
            let mut connection = connection.clone();
            let command = command(&[name, channel]);
            let answer = command.query_async::<Value>(&mut connection);
            // Where it is allowed the answer may be taken for a hint, and none comes.
            if let Ok(Err(error)) = timeout(CHANNEL_LIMIT, answer).await
                && error.code() == Some("NOPERM")
            {
                missing.push(name.to_owned());
            }
        }
        Ok(())
    }

    /// Writes a key and removes it.
    async fn write(&self) -> Result<(), StoreError> {
        let key = self.keys.visitor(&format!("doctor-{}", Uuid::new_v4()), "text");
        let slot = Slot::of(&key);
        let set = command(&["SET", &key, "1", "PX", &KEPT.to_string()]);
        self.servers.query::<Value>(slot, &set).await?;
        self.servers.query::<Value>(slot, &command(&["DEL", &key])).await?;
        Ok(())
    }

    async fn newest_records(&self) -> Result<Finding, StoreError> {
        let entries = self.newest_games(None, RECORDS).await?;
        let games: Vec<_> = entries.into_iter().map(|entry| entry.game).collect();
        let records = self.load_many(&games).await?;
        let mut unreadable = None;
        let mut count = 0;
        for (game, record) in games.iter().zip(records) {
            let Some(record) = record? else { continue };
            count += 1;
            if let Err(error) = self.records.read(game, &record) {
                unreadable.get_or_insert((game.clone(), error));
            }
        }
        Ok(Finding::Records { count, unreadable })
    }

    async fn round_trip(&self) -> Result<Finding, StoreError> {
        let mut times = Vec::with_capacity(ROUND_TRIPS);
        for _ in 0..ROUND_TRIPS {
            let asked = Instant::now();
            self.servers.ping().await?;
            times.push(asked.elapsed());
        }
        times.sort_unstable();
        Ok(Finding::RoundTrip { median: times[ROUND_TRIPS / 2] })
    }

    /// Compares the clocks, by the middle of a round trip.
    async fn clock(&self, options: &Options) -> Result<Finding, StoreError> {
        let before = options.time.now();
        let (seconds, micros): (u64, u64) = self.servers.query(Slot::of(""), &cmd("TIME")).await?;
        let after = options.time.now();
        let store = Millis(seconds * 1_000 + micros / 1_000);
        let here = u64::midpoint(before.0, after.0);
        let offset = Duration::from_millis(store.0.abs_diff(here));
        Ok(Finding::Clock { offset, ahead: store.0 > here })
    }
}

fn command(words: &[&str]) -> Cmd {
    let mut command = cmd(words[0]);
    command.arg(&words[1..]);
    command
}

fn is_about_rights(error: &StoreError) -> bool {
    matches!(error, StoreError::Misconfigured(Misconfiguration::RightsMissing { .. }))
}
