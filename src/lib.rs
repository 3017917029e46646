//! `banqi`: an authoritative rules and game-state service for Banqi (Chinese dark chess).
//!
//! Most users run the program and call it over gRPC; its README and the folder `docs` say how. The
//! crate has the same parts for those who want them inside a program of their own. Dependencies point
//! down only: `cli → server → client → api → store → game → rules`. [`rules`] and [`game`] are pure: no async,
//! no I/O, no clock, no randomness.
//!
//! # The rules alone
//! A [`rules::Referee`] says what is legal and what an action does. Nothing hidden is in it: what an
//! action turns up is asked of the caller.
//!
//! ```
//! use banqi::rules::{Referee, RuleSet, Setup};
//!
//! let rules = RuleSet::TAIWANESE;
//! // The text form of docs/RULES.md §9: one piece is face down, on d3, and it can only be a red pawn.
//! let setup: Setup = "8/2kX4/8/K7 1 r,b P1 7 31".parse().expect("a position");
//! let position = setup.into_position(&rules).expect("one of this rule set");
//! let mut referee = Referee::from_position(&rules, position);
//! for action in &referee.legal_actions() {
//!     println!("{action}");
//! }
//! let action = "d3".parse().expect("an action");
//! let played = referee.play(action, |_square| "P".parse().ok()).expect("a legal one");
//! assert_eq!(played.record.to_string(), "d3(P)");
//! assert!(referee.check(action).is_err(), "it has been turned up");
//! ```
//!
//! # Whether a deal is the one that was committed to
//! From what `GetFairnessProof` tells once a game has ended (`docs/fairness.md`):
//!
//! ```
//! use banqi::game::{Commitment, Entropy, GameId, ServerSeed, derive_deal};
//! use banqi::rules::BoardSize;
//!
//! let seed = ServerSeed::new([7; 32]);
//! let commitment = Commitment::to(&seed);
//! let id: GameId = "first".parse().expect("an id");
//! let entropies: [Option<&Entropy>; 2] = [None, None];
//! println!("{commitment}: {}", derive_deal(BoardSize::Single, &id, &seed, entropies));
//! ```
//!
//! # A client
//! [`client`] calls a service, and [`api::proto::v1`] has the messages.

/// The Rust of the guide compiles.
#[cfg(doctest)]
#[doc = include_str!("../docs/guide/clients.md")]
mod guide {}

pub mod api;
pub mod cli;
pub mod client;
pub mod game;
pub mod rules;
pub mod server;
pub mod store;
