//! Hosted games over real gRPC, by promise, on every store and over several replicas.

#[path = "../support/mod.rs"]
mod support;

mod callers;
mod deadlines;
mod expiry;
mod exports;
mod fairness;
mod garbage;
mod guarded;
mod hidden;
mod illegal;
mod lifecycle;
mod meddling;
mod offers;
mod order;
mod player_tokens;
mod polling;
mod presence;
mod presets;
mod races;
mod reasons;
mod retries;
mod roles;
mod rollback;
mod seats;
mod spectators;
mod stored;
mod table;
mod transitions;
mod watching;
mod world;
mod writes;
