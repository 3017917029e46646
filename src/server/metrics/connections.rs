//! The connections of callers.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Counts of connections. Clones count together.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct ConnectionMetrics {
    open: Gauge,
    accepted: Counter,
    cut: Family<CutLabels, Counter>,
}

/// Why a connection was closed before its first request.
#[derive(Clone, Copy, Debug)]
pub(in crate::server) enum Cut {
    /// Its peer did not say in time what it wants.
    Silent,
    /// No TLS came about.
    Handshake,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CutLabels {
    reason: &'static str,
}

impl Cut {
    fn labels(self) -> CutLabels {
        let reason = match self {
            Self::Silent => "silent",
            Self::Handshake => "handshake",
        };
        CutLabels { reason }
    }
}

impl ConnectionMetrics {
    /// Adds them to what is told of the process.
    pub(in crate::server) fn register(&self, registry: &mut Registry) {
        registry.register("connections", "Connections of callers that are open", self.open.clone());
        registry.register(
            "connections_accepted",
            "Connections of callers that were accepted",
            self.accepted.clone(),
        );
        registry.register(
            "connections_cut",
            "Connections closed before their first request, because it did not come",
            self.cut.clone(),
        );
        // Told from the start: what appears with its first count is not seen to rise.
        for cut in [Cut::Silent, Cut::Handshake] {
            drop(self.cut.get_or_create(&cut.labels()));
        }
    }

    /// Counts a connection as open until what is returned is dropped.
    pub(in crate::server) fn open(&self) -> OpenConnection {
        self.accepted.inc();
        self.open.inc();
        OpenConnection(self.clone())
    }
}

/// A connection that is counted as open.
#[derive(Debug)]
pub(in crate::server) struct OpenConnection(ConnectionMetrics);

impl OpenConnection {
    /// Counts that it is closed, and why.
    pub(in crate::server) fn cut(&self, cut: Cut) {
        self.0.cut.get_or_create(&cut.labels()).inc();
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.open.dec();
    }
}
