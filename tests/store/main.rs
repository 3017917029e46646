//! What every store promises, tested on every store; and what each promises besides.

#[path = "../support/mod.rs"]
mod support;

mod conformance;
mod crash;
mod deployment;
mod durability;
mod failover;
mod fixture;
mod outage;
mod redis_only;
mod replaced;
mod secured;
