//! Records that are sealed, and two releases on one store, over real gRPC.

#[path = "../support/mod.rs"]
mod support;
// Shared with `tests/hosting`; each takes what it needs.
#[path = "../hosting/table.rs"]
#[allow(dead_code)]
mod table;
#[path = "../hosting/world.rs"]
#[allow(dead_code)]
mod world;

mod cost;
mod elsewhere;
mod refused;
mod replicas;
mod rotation;
mod seals;
mod secrecy;
mod upgrade;
