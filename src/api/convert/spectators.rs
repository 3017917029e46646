//! Who may read a game without a seat in it.

use std::num::NonZeroU16;

use crate::api::error::FieldFaults;
use crate::api::fields;
use crate::api::proto::v1;
use crate::game::Spectators;

/// The most turns that spectators can be late.
const MOST_DELAY: u16 = 1000;

/// Who may, as it is told.
pub fn spectators(spectators: Spectators) -> v1::Spectators {
    let (mode, delay_turns) = match spectators {
        Spectators::Open => (v1::SpectatorMode::Open, 0),
        Spectators::Delayed { turns } => (v1::SpectatorMode::Delayed, turns.get().into()),
        Spectators::Hidden => (v1::SpectatorMode::None, 0),
    };
    v1::Spectators { mode: mode.into(), delay_turns }
}

/// Reads who may; everyone where nothing is sent.
pub fn read(message: Option<v1::Spectators>, faults: &mut FieldFaults) -> Spectators {
    let Some(v1::Spectators { mode, delay_turns }) = message else { return Spectators::default() };
    let delay = u16::try_from(delay_turns).ok().and_then(NonZeroU16::new);
    match (v1::SpectatorMode::try_from(mode), delay) {
        (Ok(v1::SpectatorMode::Delayed), Some(turns)) if turns.get() <= MOST_DELAY => {
            return Spectators::Delayed { turns };
        }
        (Ok(v1::SpectatorMode::Delayed), _) => {
            let expected = format!("is {delay_turns}, but must be 1 to {MOST_DELAY} with DELAYED");
            faults.add("spectators.delay_turns", expected);
        }
        (Ok(_), _) if delay_turns > 0 => {
            let expected = format!("is {delay_turns}, but must be 0 unless mode is DELAYED");
            faults.add("spectators.delay_turns", expected);
        }
        (Ok(v1::SpectatorMode::Unspecified | v1::SpectatorMode::Open), _) => {}
        (Ok(v1::SpectatorMode::None), _) => return Spectators::Hidden,
        (Err(_), _) => {
            let values = "SPECTATOR_MODE_OPEN, SPECTATOR_MODE_DELAYED or SPECTATOR_MODE_NONE";
            faults.add("spectators.mode", fields::unknown_value(mode, values));
        }
    }
    Spectators::default()
}
