//! A series: rematches, who sits where in them, and the score that goes along.

use arrayvec::ArrayVec;

use super::id::GameId;
use super::seat_set::SeatSet;
use super::state::Game;
use crate::rules::{EndReason, Seat};

/// Who moves first in a rematch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FirstSeat {
    /// Of two seats the one that lost, after a draw as [`FirstSeat::Swap`]; four seats rotate. After
    /// an aborted game everyone stays.
    #[default]
    Loser,
    /// The second seat; four seats rotate.
    Swap,
    /// Everyone stays.
    Same,
}

/// What a seat has won so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games that it won alone.
    pub wins: u32,
    /// Games in which it shared the first place.
    pub draws: u32,
}

/// Where a rematch stands in its series.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The game before.
    pub previous: GameId,
    /// How many games of the series came to an end before; aborted ones do not count.
    pub games: u32,
    /// For each seat the seat that it was in the game before.
    pub before: ArrayVec<Seat, { Seat::MAX }>,
    /// The score of each seat before this game.
    pub scores: ArrayVec<Score, { Seat::MAX }>,
}

/// The score of a series after the games that have ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// How many games have ended; aborted ones do not count.
    pub games: u32,
    /// The score of each seat.
    pub scores: ArrayVec<Score, { Seat::MAX }>,
}

impl Game {
    /// The score of the series that the game belongs to, itself included once it has ended.
    pub fn standing(&self) -> Standing {
        let count = usize::from(self.rules().seats());
        let mut standing = match &self.stored().facts.series {
            Some(series) => Standing { games: series.games, scores: series.scores.clone() },
            None => Standing {
                games: 0,
                scores: std::iter::repeat_n(Score::default(), count).collect(),
            },
        };
        if let Some(outcome) = self.outcome().filter(|outcome| !outcome.places.is_empty()) {
            standing.games += 1;
            let first: Vec<usize> = (0..count).filter(|&i| outcome.places[i] == 1).collect();
            for &seat in &first {
                let score = &mut standing.scores[seat];
                if first.len() == 1 {
                    score.wins += 1;
                } else {
                    score.draws += 1;
                }
            }
        }
        standing
    }

    /// For each seat of a rematch the seat that it is in this game.
    fn seating_of_rematch(&self, first: FirstSeat) -> ArrayVec<Seat, { Seat::MAX }> {
        let seats = self.seats();
        let moves_up = match (first, self.outcome()) {
            (FirstSeat::Same, _) => false,
            (FirstSeat::Swap, _) => true,
            (FirstSeat::Loser, Some(outcome)) if outcome.reason == EndReason::Aborted => false,
            // Of two seats the loser is the first one just if the second has won.
            (FirstSeat::Loser, Some(outcome)) if seats.len() == 2 => {
                outcome.places.first() != Some(&2)
            }
            (FirstSeat::Loser, _) => true,
        };
        let count = self.rules().seats();
        seats.map(|seat| if moves_up { seat.next(count) } else { seat }).collect()
    }

    /// Where a rematch of this game stands in the series.
    pub(super) fn series_of_rematch(&self, first: FirstSeat) -> Series {
        let Standing { games, scores } = self.standing();
        let before = self.seating_of_rematch(first);
        let scores = before.iter().map(|seat| scores[seat.index()]).collect();
        Series { previous: self.id().clone(), games, before, scores }
    }

    /// The seats that are still in.
    pub(super) fn seats_in(&self) -> SeatSet {
        self.seats().filter(|seat| !self.position().is_out(*seat)).collect()
    }
}
