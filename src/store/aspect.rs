//! What a finding is about, and how bad it is.

/// What of a store's set-up a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// Its address.
    Address,
    /// Whether it is reached.
    Reachable,
    /// User and password.
    Credentials,
    /// Its version.
    Version,
    /// What the user may do.
    Rights,
    /// What happens when memory is full.
    Eviction,
    /// How much memory there is.
    Memory,
    /// What is kept over a restart.
    Persistence,
    /// Replicas that writes wait for.
    Replicas,
    /// Sentinels that agree, slots that are served.
    Topology,
    /// The number of shards.
    Shards,
    /// The formats of stored records.
    Format,
    /// Whether it takes writes.
    Writes,
    /// How long a round trip takes.
    Latency,
    /// How far its clock is from this machine's.
    Clock,
}

impl Aspect {
    /// Every aspect, in the order in which they are looked at.
    pub const ALL: [Self; 15] = [
        Self::Address,
        Self::Reachable,
        Self::Credentials,
        Self::Version,
        Self::Rights,
        Self::Eviction,
        Self::Memory,
        Self::Persistence,
        Self::Replicas,
        Self::Topology,
        Self::Shards,
        Self::Format,
        Self::Writes,
        Self::Latency,
        Self::Clock,
    ];
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// As it should be.
    Fine,
    /// The service works, and something will go wrong one day.
    Warning,
    /// The service does not start, or does not work.
    Fault,
}
