//! The scripts that run within the server.

use redis::{Cmd, cmd};

/// A script: what calls it, and what gives it to a server that does not know it.
#[derive(Debug)]
pub(super) struct Script {
    hash: String,
    loading: Cmd,
}

impl Script {
    fn new(code: &str) -> Self {
        let mut loading = cmd("SCRIPT");
        loading.arg("LOAD").arg(code);
        Self { hash: redis::Script::new(code).get_hash().into(), loading }
    }

    /// The beginning of a call with this many keys.
    pub(super) fn call(&self, keys: usize) -> Cmd {
        self.call_in(cmd("EVALSHA"), keys)
    }

    /// The beginning of a call with this many keys, in a command that has its capacity already.
    pub(super) fn call_in(&self, mut command: Cmd, keys: usize) -> Cmd {
        command.arg(&self.hash).arg(keys);
        command
    }

    /// The command that gives it to a server.
    pub(super) fn loading(&self) -> &Cmd {
        &self.loading
    }
}
/// Every script, with its hash.
#[derive(Debug)]
pub(super) struct Scripts {
    pub(super) commit: Script,
    pub(super) beat: Script,
    pub(super) clear_expired: Script,
    pub(super) heartbeat: Script,
    pub(super) presence: Script,
    pub(super) present: Script,
    pub(super) postpone: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            commit: Script::new(concat!(include_str!("clock.lua"), include_str!("commit.lua"))),
            beat: Script::new(concat!(include_str!("clock.lua"), include_str!("beat.lua"))),
            clear_expired: Script::new(include_str!("clear_expired.lua")),
            heartbeat: Script::new(include_str!("heartbeat.lua")),
            presence: Script::new(include_str!("presence.lua")),
            present: Script::new(include_str!("present.lua")),
            postpone: Script::new(include_str!("postpone.lua")),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::store::{CLOCK_TOLERANCE, FEED_KEPT, MAX_ADVANCE};

    #[test]
    fn the_scripts_have_the_limits_that_are_documented() {
        let advance = format!("math.max(source - seen, 0), {})", MAX_ADVANCE.0);
        assert!(include_str!("clock.lua").contains(&advance));
        let commit = include_str!("commit.lua");
        assert!(commit.contains(&format!("math.abs(ARGV[1] - now) > {}", CLOCK_TOLERANCE.0)));
        assert_eq!(commit.matches(&FEED_KEPT.0.to_string()).count(), 2);
    }
}
