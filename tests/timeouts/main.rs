//! Games that end by their clocks, whatever replicas and stores do: real processes, real time.

mod awaited;
mod failover;
mod forwarder;
mod outage;
mod player;
#[path = "../support/mod.rs"]
mod support;
mod thousand;
mod wrong_clocks;
