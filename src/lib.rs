//! `banqi`: an authoritative rules and game-state service for Banqi (Chinese dark chess).
//!
//! Dependencies point down only: `cli → server → api → store → game → rules`. `rules` and `game`
//! are pure: no async, no I/O, no clock, no randomness.

pub mod api;
pub mod cli;
pub mod game;
pub mod rules;
pub mod server;
pub mod store;
