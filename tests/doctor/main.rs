//! `banqi doctor`: each fault that it knows is made, and recognised by its name; where there is
//! none it says so.

// Made for the tests of stores; not all of it is needed here.
#[allow(dead_code)]
#[path = "../store/deployment/mod.rs"]
mod deployment;
mod examined;
mod files;
mod haproxy;
mod healthy;
mod ports;
mod store;
#[path = "../support/mod.rs"]
mod support;
mod through;
