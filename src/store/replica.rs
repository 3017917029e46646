//! Replicas of the service, and how they share the shards.

use std::fmt;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::{Shard, ShardCount};

/// One running replica of the service, for as long as its process lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplicaId(pub Uuid);

impl fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0.as_hyphenated(), f)
    }
}

/// Which of the replicas sweeps a shard, by rendezvous hashing: each replica's claim is
/// SHA-256(replica ‖ shard), and the highest wins. All who see the same replicas agree, and a
/// replica that comes or goes moves only the shards that it wins or had won. `None` when there is
/// no replica.
pub fn sweeper_of(shard: Shard, replicas: &[ReplicaId]) -> Option<ReplicaId> {
    let claim = |replica: &ReplicaId| {
        Sha256::new()
            .chain_update(replica.0.as_bytes())
            .chain_update(shard.number().to_be_bytes())
            .finalize()
    };
    replicas.iter().copied().max_by_key(claim)
}

/// The shards that one of the replicas sweeps. It counts itself whether or not it is in `live`,
/// so that shards are never without a sweeper while heartbeats are late; a shard swept twice does
/// no harm.
///
/// Takes time proportional to the number of shards times that of the replicas.
pub fn shards_swept_by(replica: ReplicaId, live: &[ReplicaId], shards: ShardCount) -> Vec<Shard> {
    let mut replicas = live.to_vec();
    if !replicas.contains(&replica) {
        replicas.push(replica);
    }
    shards.iter().filter(|&shard| sweeper_of(shard, &replicas) == Some(replica)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas(count: u128) -> Vec<ReplicaId> {
        (1..=count).map(|number| ReplicaId(Uuid::from_u128(number))).collect()
    }

    #[test]
    fn every_shard_has_exactly_one_sweeper() {
        let live = replicas(5);
        let shards = ShardCount::default();
        let mut swept: Vec<Shard> =
            live.iter().flat_map(|&replica| shards_swept_by(replica, &live, shards)).collect();
        swept.sort_unstable();
        assert!(swept.iter().copied().eq(shards.iter()));
    }

    #[test]
    fn the_shards_are_shared_about_evenly() {
        let live = replicas(4);
        for &replica in &live {
            let share = shards_swept_by(replica, &live, ShardCount::default()).len();
            assert!((192..=320).contains(&share), "{replica} sweeps {share} of 1024");
        }
    }

    #[test]
    fn a_replica_that_goes_moves_only_its_own_shards() {
        let before = replicas(4);
        let after = &before[..3];
        for shard in ShardCount::default().iter() {
            let sweeper = sweeper_of(shard, &before);
            if sweeper != Some(before[3]) {
                assert_eq!(sweeper_of(shard, after), sweeper);
            }
        }
    }

    #[test]
    fn a_replica_whose_heartbeat_is_not_seen_counts_itself() {
        let alone = replicas(1)[0];
        let shards = ShardCount::default();
        assert_eq!(shards_swept_by(alone, &[], shards).len(), usize::from(shards.get()));
        assert_eq!(sweeper_of(shards.iter().next().expect("one"), &[]), None);
    }
}
