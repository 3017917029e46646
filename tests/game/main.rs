//! One hosted game: its deal, log, record, commands, requests and tokens.

mod commands;
mod deal;
mod log;
mod properties;
mod record;
mod requests;
mod support;
mod tokens;
