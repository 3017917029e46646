//! The list of all games: one a shard, merged by age.

use std::collections::{BinaryHeap, VecDeque};

use redis::{Cmd, ToRedisArgs, cmd};

use super::answer::parse_index_entry;
use super::{BATCH, RedisStore, write};
use crate::store::{IndexEntry, Shard, StoreError};

/// Games are spread evenly, so a shard has few of the newest ones. It is asked for this many more
/// than its share, which is rarely too few, and asked again where it was.
const BEYOND_SHARE: usize = 2;

/// Of how many games a shard is told when it is asked again.
const ASKED_AGAIN: usize = 32;

/// The newest games of a shard that are not merged yet.
struct Part {
    shard: Shard,
    /// Newest first.
    entries: VecDeque<IndexEntry>,
    /// Whether there may be more than these.
    more: bool,
}

impl RedisStore {
    /// The newest games of all shards, before an entry.
    pub(super) async fn newest_games(
        &self,
        before: Option<&IndexEntry>,
        limit: u32,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let shards: Vec<Shard> = self.shards.iter().collect();
        let share = limit.div_ceil(shards.len()).saturating_add(BEYOND_SHARE).min(limit);
        let mut parts = Vec::with_capacity(shards.len());
        for batch in shards.chunks(BATCH) {
            parts.extend(self.parts(batch, before, share).await?);
        }
        let mut newest: BinaryHeap<(IndexEntry, usize)> = BinaryHeap::with_capacity(parts.len());
        for (index, part) in parts.iter_mut().enumerate() {
            newest.extend(part.entries.pop_front().map(|entry| (entry, index)));
        }
        let mut games = Vec::new();
        while games.len() < limit
            && let Some((entry, index)) = newest.pop()
        {
            let part = &mut parts[index];
            if part.entries.is_empty() && part.more {
                let asked = self.parts(&[part.shard], Some(&entry), ASKED_AGAIN).await?;
                *part = asked.into_iter().next().expect("one part a shard");
            }
            newest.extend(part.entries.pop_front().map(|next| (next, index)));
            games.push(entry);
        }
        Ok(games)
    }

    async fn parts(
        &self,
        shards: &[Shard],
        before: Option<&IndexEntry>,
        limit: usize,
    ) -> Result<Vec<Part>, StoreError> {
        let mut pipeline = redis::Pipeline::with_capacity(shards.len());
        for &shard in shards {
            pipeline.add_command(page_of(self.keys.listing(shard), before, limit));
        }
        let lists: Vec<Vec<String>> = self.link.pipeline(&pipeline).await?;
        shards
            .iter()
            .zip(lists)
            .map(|(&shard, members)| {
                let more = members.len() == limit;
                let entries = members.iter().map(|member| parse_index_entry(member));
                Ok(Part { shard, entries: entries.collect::<Result<_, _>>()?, more })
            })
            .collect()
    }
}

/// Asks a list for its newest games before an entry.
pub(super) fn page_of(
    list: impl ToRedisArgs,
    before: Option<&IndexEntry>,
    limit: impl ToRedisArgs,
) -> Cmd {
    let from = match before {
        Some(entry) => format!("({}", write::index_member(entry)),
        None => "+".into(),
    };
    let mut command = cmd("ZRANGE");
    command.arg(list).arg(from).arg("-").arg("BYLEX").arg("REV");
    command.arg("LIMIT").arg(0).arg(limit);
    command
}
