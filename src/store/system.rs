//! What kinds of databases there are.

/// The kind of database that a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Redis, however many servers it has.
    Redis,
    /// A database within the process.
    Embedded,
}

impl System {
    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Redis => "redis",
            Self::Embedded => "embedded",
        }
    }
}
