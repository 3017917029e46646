//! Hosted games over real gRPC, by promise, on every store and over several replicas.

#[path = "../support/mod.rs"]
mod support;

mod adjudication;
mod erasing;
mod expiry;
mod fairness;
mod garbage;
mod hidden;
mod illegal;
mod lifecycle;
mod listing;
mod meddling;
mod offers;
mod order;
mod polling;
mod presence;
mod presets;
mod races;
mod reasons;
mod removing;
mod retries;
mod rollback;
mod seats;
mod stored;
mod table;
mod watching;
mod world;
mod writes;
