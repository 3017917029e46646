//! What several test suites need.

#![allow(dead_code, reason = "every suite is a program of its own and uses a part of this")]

pub(crate) mod redis_server;
