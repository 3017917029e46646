//! How often a position has stood (`RULES.md` §2.7).
//!
//! A flip or a capture can never be undone, so only the quiet turns since the last one are kept.
//! Each leaves a 64-bit key; equal keys only say where to look. Positions are then compared square
//! by square, so a collision cannot decide a game.

use super::board::Board;
use super::growing::Growing;
use super::seat::Seat;
use super::square::Square;

/// One quiet turn: a move.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuietTurn {
    pub(super) seat: Seat,
    pub(super) from: Square,
    pub(super) to: Square,
}

/// The positions since the last that cannot come back, the first of them included.
#[derive(Clone, Debug)]
pub(super) struct Standings {
    /// The quiet turns between them.
    turns: Growing<QuietTurn>,
    /// `keys[i]` is of the position after `i` of the turns.
    keys: Growing<u64>,
    /// The seat that was to move, for each key.
    to_move: Growing<Seat>,
}

impl Standings {
    /// The first standing of a position with this seat to move.
    pub(super) fn first(to_move: Seat) -> Self {
        Self {
            turns: Growing::default(),
            keys: vec![seat_key(to_move)].into(),
            to_move: vec![to_move].into(),
        }
    }

    /// Starts anew: no earlier position can stand again.
    pub(super) fn restart(&mut self, to_move: Seat) {
        self.turns.clear();
        self.keys.clear();
        self.to_move.clear();
        self.keys.push(seat_key(to_move));
        self.to_move.push(to_move);
    }

    /// A quiet turn led to a position with `to_move` to move. `piece` is a number below 28 that
    /// names the piece that moved.
    pub(super) fn add(&mut self, turn: QuietTurn, piece: usize, to_move: Seat) {
        let (Some(&last), Some(&mover)) = (self.keys.last(), self.to_move.last()) else { return };
        let key = last
            ^ seat_key(mover)
            ^ square_key(piece, turn.from)
            ^ square_key(piece, turn.to)
            ^ seat_key(to_move);
        self.turns.push(turn);
        self.keys.push(key);
        self.to_move.push(to_move);
    }

    /// If the present position stands for at least the `count`-th time: the turns from its first
    /// standing to now. O(kept turns).
    pub(super) fn repeated(&self, board: &Board, count: u8) -> Option<&[QuietTurn]> {
        let (&now, earlier) = self.keys.split_last()?;
        let candidates = earlier.iter().filter(|key| **key == now).count();
        if candidates + 1 < usize::from(count) {
            return None;
        }
        let (mut standings, mut first) = (1, self.turns.len());
        let mut then = board.clone();
        for index in (0..self.turns.len()).rev() {
            let turn = self.turns[index];
            then.slide(turn.to, turn.from);
            let stands = self.keys[index] == now
                && self.to_move.get(index) == self.to_move.last()
                && then == *board;
            if stands {
                standings += 1;
                first = index;
            }
        }
        (standings >= usize::from(count)).then(|| &self.turns[first..])
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): spreads a small number over 64 bits.
#[inline]
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

#[inline]
fn square_key(piece: usize, square: Square) -> u64 {
    mix(64 * piece as u64 + u64::from(square.index()))
}

#[inline]
fn seat_key(seat: Seat) -> u64 {
    mix(1 << 32 | seat.index() as u64)
}
