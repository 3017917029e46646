//! What is checked.

use crate::store::Aspect;

/// Defines the checks, in the order in which they are told, with their stable names and what they
/// look at.
macro_rules! checks {
    ($($variant:ident = $name:literal, $what:literal;)+) => {
        /// One check.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub(super) enum Check {
            $($variant,)+
        }

        impl Check {
            /// Every check, in their order.
            pub(super) const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name, which stays what it is.
            pub(super) const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What it looks at, for the documentation.
            #[cfg(test)]
            pub(super) const fn what(self) -> &'static str {
                match self {
                    $(Self::$variant => $what,)+
                }
            }
        }
    };
}

checks! {
    Options = "options.together", "options that contradict each other, or let strangers in";
    Variables = "environment.variables", "variables `BANQI_…` that no option knows, and the nearest that one does";
    Traces = "traces.variables", "variables `OTEL_…` that cannot be read";
    OpenFiles = "process.open_files", "`ulimit -n` against `--max-streams`";
    TlsFiles = "tls.files", "`--tls-cert`, `--tls-key`, `--tls-client-ca`: readable, of the right kind, belonging together";
    TlsValidity = "tls.validity", "the certificate is good now and for 14 days more";
    AuthFile = "auth.file", "`--auth`: every line";
    ServiceKey = "service_key.file", "`--service-key`: long enough";
    SealKeys = "seal_keys.file", "`--seal-keys`: every line; there for a `--record-format` that is sealed";
    Secrets = "secrets.permissions", "files with secrets that other users of the machine can read";
    Listen = "listen.port", "`--listen`: free, or taken by a banqi";
    HttpListen = "http_listen.port", "`--http-listen`: free, or taken by a banqi";
    StoreAddress = "store.address", "the address of `--store`, as far as it can be judged without asking anybody";
    StoreReachable = "store.reachable", "the store answers; for a file: it can be opened, or made";
    StoreCredentials = "store.credentials", "user and password";
    StoreVersion = "store.version", "Redis 7.0 or newer, or Valkey";
    StoreRights = "store.rights", "each command, key and channel that the service uses, in a cluster on one of its nodes";
    StoreEviction = "store.eviction", "`maxmemory-policy`";
    StoreMemory = "store.memory", "memory taken, against `maxmemory`";
    StorePersistence = "store.persistence", "what is kept over a restart";
    StoreReplicas = "store.replicas", "as many replicas as `--durability` waits for";
    StoreTopology = "store.topology", "sentinels that name the same primary; slots of a cluster that no node has";
    StoreShards = "store.shards", "`--shards` is the store's number";
    StoreFormat = "store.format", "the newest 20 records can be read by this release, with these keys";
    StoreWrites = "store.writes", "a key can be written and removed";
    StoreLatency = "store.latency", "the median of 20 round trips is at most 5 ms";
    StoreClock = "store.clock", "the store's clock and this machine's are within a second";
    ThroughReached = "through.reached", "the address of `--through` resolves, and takes a connection";
    ThroughTls = "through.tls", "its certificate is of a trusted authority, for its name, and good for 14 days more";
    ThroughHttp2 = "through.http2", "HTTP/2, by ALPN or by prior knowledge";
    ThroughCall = "through.call", "a call is answered, with the key if one is asked for";
    ThroughReplicas = "through.replicas", "which replicas answer twelve calls (metadata `banqi-replica`)";
    ThroughMetadata = "through.metadata", "`authorization` arrives";
    ThroughDeadline = "through.deadline", "a deadline is passed on: the replica itself gives up";
    ThroughStream = "through.stream", "the first message of a stream comes at once";
    ThroughWeb = "through.grpc_web", "gRPC-Web over HTTP/1.1";
    ThroughHealth = "through.health", "`grpc.health.v1` says that games can be served";
    ThroughRelease = "through.release", "the API behind it, by reflection, is this release's";
}

impl Check {
    /// The check that looks at an aspect of the store.
    pub(super) const fn of(aspect: Aspect) -> Self {
        match aspect {
            Aspect::Address => Self::StoreAddress,
            Aspect::Reachable => Self::StoreReachable,
            Aspect::Credentials => Self::StoreCredentials,
            Aspect::Version => Self::StoreVersion,
            Aspect::Rights => Self::StoreRights,
            Aspect::Eviction => Self::StoreEviction,
            Aspect::Memory => Self::StoreMemory,
            Aspect::Persistence => Self::StorePersistence,
            Aspect::Replicas => Self::StoreReplicas,
            Aspect::Topology => Self::StoreTopology,
            Aspect::Shards => Self::StoreShards,
            Aspect::Format => Self::StoreFormat,
            Aspect::Writes => Self::StoreWrites,
            Aspect::Latency => Self::StoreLatency,
            Aspect::Clock => Self::StoreClock,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_stands_in_the_documentation() {
        let page = include_str!("../../../docs/operations.md");
        let (_, section) = page.split_once("| check | looks at |\n|---|---|\n").expect("the table");
        let told: Vec<&str> = section.lines().take_while(|line| line.starts_with('|')).collect();
        let row = |check: &Check| format!("| `{}` | {} |", check.name(), check.what());
        let expected: Vec<String> = Check::ALL.iter().map(row).collect();
        let whole = expected.join("\n");
        assert_eq!(told, expected, "the table in docs/operations.md should be\n\n{whole}\n");
    }
}
