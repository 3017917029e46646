//! One hosted game: its deal, log, record, commands, requests and tokens.

mod clocks;
mod commands;
mod deal;
mod log;
mod properties;
mod record;
mod requests;
mod scenes;
mod support;
mod time_controls;
mod tokens;
