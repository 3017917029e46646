//! The service on a simulated store: three replicas on one thread, whose clock is simulated too, and
//! between them and their store everything that a network and a failing server can do. A run is a
//! few dozen calls long and takes a few milliseconds, so thousands of interleavings a minute are
//! checked; whatever is random in a run comes from its seed, so a seed takes the same course again.
//!
//! What is checked after a run, against the model of `tests/linearizability`:
//! - every answer is one that some order of the calls allows, for each game ([`losses`] says what of
//!   that holds where the store lost writes);
//! - every watcher saw every entry once and in order, or was told of a loss that there was
//!   ([`watcher`]);
//! - nobody was forfeited before his time, whatever the store's clock did ([`ledger`]);
//! - nothing answered INTERNAL or DATA_LOSS, and nothing panicked.
//!
//! That these checks can fail is shown where a fault is planted in the simulated store
//! ([`planted`]): no compare-and-set, a stale cache, a lost hint without a second reading, a doubled
//! retry and a wrong clock, all five in that one place. What the checker of histories alone finds is
//! shown by the faults that `tests/linearizability` plants in histories that really happened.

#[path = "../linearizability/call.rs"]
mod call;
#[path = "../linearizability/checker.rs"]
mod checker;
#[path = "../linearizability/client.rs"]
mod client;
#[path = "../linearizability/coverage.rs"]
mod coverage;
#[path = "../linearizability/history.rs"]
mod history;
#[path = "../linearizability/model/mod.rs"]
mod model;
#[path = "../linearizability/order.rs"]
mod order;
#[path = "../linearizability/plan.rs"]
mod plan;
#[path = "../linearizability/table.rs"]
mod table;

mod backend;
mod clock;
mod ledger;
mod losses;
mod planted;
mod random;
mod run;
mod runs;
mod store;
mod trouble;
mod watcher;
mod way;
mod weather;
mod world;
