//! Runs of chases (`RULES.md` §4, `chase_limit`).

use super::position::Position;
use super::reach::Captures;
use super::seat::Seat;
use super::square::Square;

/// One seat's run: the same piece chasing the same piece.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Where the chasing piece stands; `None` once it is gone.
    chaser: Option<Square>,
    /// Where the chased piece stands; `None` once it is gone.
    prey: Option<Square>,
    count: u8,
}

/// What chases there are, kept up to date with every action.
#[derive(Clone, Debug, Default)]
pub(super) struct Chases {
    runs: [Option<Run>; Seat::MAX],
    /// Where the piece that the previous turn moved stands.
    moved_before: Option<Square>,
    /// The same for the turn in progress.
    moving: Option<Square>,
}

impl Chases {
    /// A piece moved, also to capture; what stood on `to` is gone already.
    pub(super) fn moved(&mut self, from: Square, to: Square) {
        for run in self.runs.iter_mut().flatten() {
            for square in [&mut run.chaser, &mut run.prey].into_iter().flatten() {
                if *square == from {
                    *square = to;
                }
            }
        }
        self.moving = Some(to);
    }

    /// The piece on this square left the board.
    pub(super) fn removed(&mut self, gone: Square) {
        for run in self.runs.iter_mut().flatten() {
            for square in [&mut run.chaser, &mut run.prey] {
                if *square == Some(gone) {
                    *square = None;
                }
            }
        }
        for square in [&mut self.moving, &mut self.moved_before] {
            if *square == Some(gone) {
                *square = None;
            }
        }
    }

    /// The seat's turn is over. `chased` says whether it was a chase; see [`Chases::prey_of`].
    pub(super) fn turn_over(&mut self, seat: Seat, chased: Option<Square>) {
        let run = &mut self.runs[seat.index()];
        *run = match (chased, *run) {
            (None, _) => None,
            (Some(prey), Some(mut going))
                if going.chaser == self.moving && going.prey == Some(prey) =>
            {
                going.count = going.count.saturating_add(1);
                Some(going)
            }
            (Some(prey), _) => Some(Run { chaser: self.moving, prey: Some(prey), count: 1 }),
        };
        self.moved_before = self.moving.take();
    }

    /// The piece that the seat's quiet move chases, once made: where it stands on `after`.
    pub(super) fn prey_of(
        &self,
        captures: &Captures,
        after: &Position,
        seat: Seat,
        to: Square,
    ) -> Option<Square> {
        let prey = self.moved_before?;
        let kind = after.board.kind_at(to)?;
        captures.takes(&after.board, to, kind, after.enemies(seat)).contains(prey).then_some(prey)
    }

    /// Whether the seat's run has reached `limit`, so that going on may be illegal.
    #[inline]
    pub(super) fn reached(&self, seat: Seat, limit: u8) -> bool {
        self.runs[seat.index()].is_some_and(|run| run.count >= limit)
    }

    /// Whether this quiet move would make the seat's run longer than `limit`.
    pub(super) fn exceeds(
        &self,
        captures: &Captures,
        position: &Position,
        from: Square,
        to: Square,
        limit: u8,
    ) -> bool {
        let seat = position.to_move;
        let Some(run) = self.runs[seat.index()] else { return false };
        if run.count < limit || run.chaser != Some(from) || run.prey != self.moved_before {
            return false;
        }
        let mut after = position.clone();
        after.board.slide(from, to);
        self.prey_of(captures, &after, seat, to).is_some()
    }
}
