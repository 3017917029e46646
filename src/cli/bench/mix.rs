//! Which calls a load is made of.

use std::fmt;
use std::str::FromStr;

use rand::RngExt as _;
use rand::rngs::StdRng;

/// What a table does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Plays an action.
    Play,
    /// Reads the game.
    Read,
}

/// Shares of plays and reads: `play=80,read=20`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mix {
    play: u32,
    read: u32,
}

/// A text that is no mix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no mix: write shares such as play=80,read=20, at least one of them above 0")]
pub(super) struct MixError(String);

impl Mix {
    /// Nothing but this.
    pub(super) const fn only(turn: Turn) -> Self {
        match turn {
            Turn::Play => Self { play: 1, read: 0 },
            Turn::Read => Self { play: 0, read: 1 },
        }
    }

    /// Draws by share.
    pub(super) fn draw(self, random: &mut StdRng) -> Turn {
        let total = u64::from(self.play) + u64::from(self.read);
        let drawn = random.random_range(0..total);
        if drawn < self.play.into() { Turn::Play } else { Turn::Read }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "play={},read={}", self.play, self.read)
    }
}

impl FromStr for Mix {
    type Err = MixError;

    fn from_str(text: &str) -> Result<Self, MixError> {
        let fault = || MixError(text.to_owned());
        let (mut play, mut read) = (None, None);
        for part in text.split(',') {
            let (name, share) = part.split_once('=').ok_or_else(fault)?;
            let of = match name {
                "play" => &mut play,
                "read" => &mut read,
                _ => return Err(fault()),
            };
            let share: u32 = share.parse().map_err(|_| fault())?;
            if of.replace(share).is_some() {
                return Err(fault());
            }
        }
        let mix = Self { play: play.unwrap_or(0), read: read.unwrap_or(0) };
        if mix.play == 0 && mix.read == 0 { Err(fault()) } else { Ok(mix) }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("play=80,read=20", Some((80, 20)))]
    #[case("read=1", Some((0, 1)))]
    #[case("play=0,read=0", None)]
    #[case("play=1,play=2", None)]
    #[case("watch=1", None)]
    #[case("play", None)]
    #[case("play=-1", None)]
    #[case("", None)]
    fn shares_are_read(#[case] text: &str, #[case] expected: Option<(u32, u32)>) {
        let expected = expected.map(|(play, read)| Mix { play, read });
        assert_eq!(text.parse().ok(), expected);
    }

    #[test]
    fn what_is_drawn_has_these_shares() {
        let mix: Mix = "play=3,read=1".parse().expect("a mix");
        let mut random = StdRng::seed_from_u64(1);
        let plays = (0..4000).filter(|_| mix.draw(&mut random) == Turn::Play).count();
        assert!((2900..3100).contains(&plays), "{plays}");
    }
}
