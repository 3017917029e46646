//! Where games are kept.

pub mod codec;
