//! The service against a simple model of one game: several clients call three replicas at random, over
//! connections that are cut at random, and every answer must be one that some order of the calls
//! allows.

#[path = "../support/mod.rs"]
mod support;

mod call;
mod checker;
mod client;
mod coverage;
mod faults;
mod history;
mod lane;
mod model;
mod order;
mod plan;
mod proxy;
mod random_games;
mod table;
mod world;
