//! The scripts that run within the server.

use redis::Script;

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
