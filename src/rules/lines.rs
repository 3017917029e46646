//! Where pieces reach: steps, diagonals, and along ranks and files over what stands there.
//!
//! A rank is one byte of a bitboard. A file is gathered into a byte by a multiplication, looked up
//! the same way, and spread again by another; on both boards, since the single one leaves the upper
//! half of every file empty.

use super::square::{Square, SquareSet};

const FILE_A: u64 = 0x0101_0101_0101_0101;
/// Moves the bit of rank r on file `a` to bit 56 + r.
const GATHER: u64 = 0x0102_0408_1020_4080;
/// Moves bit r, for r below 7, to the square of rank r on file `a`, among other bits.
const SPREAD: u64 = 0x0002_0408_1020_4081;

/// For each place on a line of eight and each occupation of the line, the places reached.
type LineTable = [[u8; 256]; 8];

/// What a piece reaches along one line.
#[derive(Clone, Copy)]
enum LineReach {
    /// The first piece beyond exactly one screen.
    Jump,
    /// Every piece beyond at least one screen.
    JumpAny,
    /// The first piece, where at least one empty square lies before it.
    Charge,
}

const fn line_table(reach: LineReach) -> LineTable {
    let mut table = [[0; 256]; 8];
    let mut place = 0;
    while place < 8 {
        let mut occupied = 0;
        while occupied < 256 {
            table[place][occupied] = up(place, occupied, reach) | down(place, occupied, reach);
            occupied += 1;
        }
        place += 1;
    }
    table
}

const fn reaches(reach: LineReach, pieces_between: usize, distance: usize) -> bool {
    match reach {
        LineReach::Jump => pieces_between == 1,
        LineReach::JumpAny => pieces_between >= 1,
        LineReach::Charge => pieces_between == 0 && distance >= 2,
    }
}

const fn up(place: usize, occupied: usize, reach: LineReach) -> u8 {
    let (mut found, mut between, mut distance) = (0, 0, 1);
    while place + distance < 8 {
        if occupied >> (place + distance) & 1 == 1 {
            if reaches(reach, between, distance) {
                found |= 1 << (place + distance);
            }
            between += 1;
        }
        distance += 1;
    }
    found
}

const fn down(place: usize, occupied: usize, reach: LineReach) -> u8 {
    let (mut found, mut between, mut distance) = (0, 0, 1);
    while distance <= place {
        if occupied >> (place - distance) & 1 == 1 {
            if reaches(reach, between, distance) {
                found |= 1 << (place - distance);
            }
            between += 1;
        }
        distance += 1;
    }
    found
}

static JUMP: LineTable = line_table(LineReach::Jump);
static JUMP_ANY: LineTable = line_table(LineReach::JumpAny);
static CHARGE: LineTable = line_table(LineReach::Charge);

#[inline]
fn along_lines(table: &LineTable, from: Square, occupied: SquareSet) -> SquareSet {
    let (file, rank) = (from.file() as usize & 7, from.rank() as usize & 7);
    let in_rank = (occupied.0 >> (8 * rank)) as u8;
    let on_rank = u64::from(table[file][in_rank as usize]) << (8 * rank);
    let in_file = ((occupied.0 >> file & FILE_A).wrapping_mul(GATHER) >> 56) as u8;
    let ranks = u64::from(table[rank][in_file as usize]);
    // Bit 7 goes its own way: multiplied together with bit 0 it would carry.
    let spread = (ranks & 0x7f).wrapping_mul(SPREAD) & FILE_A | ranks >> 7 << 56;
    let on_file = spread << file;
    SquareSet(on_rank | on_file)
}

/// The first piece beyond exactly one screen, in each direction.
#[inline]
pub(super) fn jumps(from: Square, occupied: SquareSet) -> SquareSet {
    along_lines(&JUMP, from, occupied)
}

/// Every piece beyond at least one screen.
#[inline]
pub(super) fn jumps_over_any(from: Square, occupied: SquareSet) -> SquareSet {
    along_lines(&JUMP_ANY, from, occupied)
}

/// The first piece in each direction that has at least one empty square before it.
#[inline]
pub(super) fn charges(from: Square, occupied: SquareSet) -> SquareSet {
    along_lines(&CHARGE, from, occupied)
}

const fn around(diagonal: bool) -> [SquareSet; 64] {
    let mut table = [SquareSet(0); 64];
    let mut from = 0;
    while from < 64 {
        let mut to = 0;
        while to < 64 {
            let files = (from as u8 & 7).abs_diff(to as u8 & 7);
            let ranks = (from as u8 >> 3).abs_diff(to as u8 >> 3);
            let near = if diagonal { files == 1 && ranks == 1 } else { files + ranks == 1 };
            if near {
                table[from].0 |= 1 << to;
            }
            to += 1;
        }
        from += 1;
    }
    table
}

static STEPS: [SquareSet; 64] = around(false);
static DIAGONALS: [SquareSet; 64] = around(true);

/// The squares one step up, down, left and right, on the double board.
#[inline]
pub(super) fn steps(from: Square) -> SquareSet {
    STEPS[from.at()]
}

/// The squares one step away diagonally, on the double board.
#[inline]
pub(super) fn diagonals(from: Square) -> SquareSet {
    DIAGONALS[from.at()]
}

/// For each direction the squares one step that way from any square of a set, on the double board,
/// with what must be added to the index of one of them to come back.
#[inline]
pub(super) fn steps_by_direction(set: SquareSet) -> [(SquareSet, i8); 4] {
    const FILE_H: u64 = FILE_A << 7;
    let squares = set.0;
    [
        (SquareSet(squares << 8), -8),
        (SquareSet(squares >> 8), 8),
        (SquareSet((squares & !FILE_H) << 1), -1),
        (SquareSet((squares & !FILE_A) >> 1), 1),
    ]
}

/// The squares one step away from any square of a set, on the double board.
#[inline]
pub(super) fn steps_from_any(set: SquareSet) -> SquareSet {
    let [up, down, right, left] = steps_by_direction(set);
    up.0 | down.0 | right.0 | left.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same three reaches, walked square by square.
    fn walked(from: Square, occupied: SquareSet, reach: LineReach) -> SquareSet {
        let mut found = SquareSet::EMPTY;
        for (file_step, rank_step) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
            let (mut between, mut distance) = (0, 1);
            loop {
                let file = from.file() as i8 + file_step * distance;
                let rank = from.rank() as i8 + rank_step * distance;
                if !(0..8).contains(&file) || !(0..8).contains(&rank) {
                    break;
                }
                let square = Square::masked((file + 8 * rank) as u8);
                if occupied.contains(square) {
                    if reaches(reach, between, distance as usize) {
                        found.insert(square);
                    }
                    between += 1;
                }
                distance += 1;
            }
        }
        found
    }

    #[test]
    fn tables_agree_with_a_walk_along_the_lines() {
        let mut word = 0x9e37_79b9_7f4a_7c15_u64;
        for round in 0..20_000_u64 {
            word ^= word << 13;
            word ^= word >> 7;
            word ^= word << 17;
            let occupied = SquareSet(if round % 2 == 0 { word } else { word & 0xffff_ffff });
            let from = Square::masked((round % 64) as u8);
            assert_eq!(jumps(from, occupied), walked(from, occupied, LineReach::Jump));
            assert_eq!(jumps_over_any(from, occupied), walked(from, occupied, LineReach::JumpAny));
            assert_eq!(charges(from, occupied), walked(from, occupied, LineReach::Charge));
        }
    }

    #[test]
    fn steps_do_not_wrap_round_the_edge() {
        for square in SquareSet(u64::MAX) {
            let beside = SquareSet(u64::MAX).into_iter().filter(|other| square.is_beside(*other));
            let mut expected = SquareSet::EMPTY;
            beside.for_each(|other| expected.insert(other));
            assert_eq!(steps(square), expected);
            assert_eq!(steps_from_any(SquareSet::of(square)), expected);
        }
    }
}
