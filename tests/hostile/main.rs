//! Peers that mean ill, or die: the service goes on for everybody else, tells nothing that it should
//! not, and stops when it is told to.
//!
//! [`floods`] and [`junk`] flood one replica on a real Redis, by hand-made HTTP/2 where a library would keep to
//! the rules; [`silence`] has peers that stop in the middle; [`wire`] calls every method with
//! arbitrary messages; [`stopping`] stops a replica under load; [`secrets`] looks for secrets
//! in all that replicas tell.
//!
//! The sizes are for every run of the tests. Heavier ones:
//!
//! ```text
//! BANQI_HOSTILE_FACTOR=5 cargo test --test hostile -- --nocapture
//! ```
//!
//! multiplies how many calls are cancelled and reset, how many frames of junk come, and how many messages are
//! made up.

mod bystander;
mod floods;
mod frames;
mod junk;
#[path = "../chaos/players.rs"]
#[allow(dead_code)]
mod players;
#[path = "../watching/replicas.rs"]
mod replicas;
mod secrets;
mod silence;
mod stopping;
#[path = "../support/mod.rs"]
mod support;
mod target;
mod wire;

/// How many times the size of an ordinary run.
fn factor() -> usize {
    let Ok(text) = std::env::var("BANQI_HOSTILE_FACTOR") else { return 1 };
    text.parse().unwrap_or_else(|error| panic!("BANQI_HOSTILE_FACTOR={text}: {error}"))
}
