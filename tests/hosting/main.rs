//! Hosted games over real gRPC, by promise, on every store and over several replicas.

#[path = "../support/mod.rs"]
mod support;

mod adjudication;
mod backup;
mod callers;
mod deadlines;
mod delayed;
mod durability;
mod erasing;
mod expiry;
mod exports;
mod fairness;
mod garbage;
mod guarded;
mod hidden;
mod illegal;
mod import_faults;
mod imports;
mod lifecycle;
mod listing;
mod meddling;
mod offers;
mod order;
mod player_tokens;
mod polling;
mod presence;
mod presets;
mod races;
mod reasons;
mod released;
mod removing;
mod retries;
mod roles;
mod rollback;
mod round_trips;
mod seats;
mod spectators;
mod stored;
mod stream_age;
mod table;
mod transitions;
#[path = "../support/vector_games.rs"]
mod vector_games;
mod verifying;
mod watching;
mod world;
mod writes;
