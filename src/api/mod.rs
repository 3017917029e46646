//! The services of `proto/banqi/v1`: conversion, errors, handlers.

pub mod convert;
pub mod error;
pub mod proto;
mod rules_service;

pub use rules_service::{MAX_ACTIONS, RulesApi};

/// The largest request that is read, in bytes.
pub const MAX_MESSAGE: usize = 1024 * 1024;
