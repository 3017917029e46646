//! The services of `proto/banqi/v1`: conversion, errors, handlers.

pub mod proto;
