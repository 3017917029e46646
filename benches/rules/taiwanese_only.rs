//! Legal actions for the Taiwanese rules alone, written as plainly and as fast as they allow: the
//! measure of what the engine's other rules cost a game that does not use them.

use banqi::rules::{BoardSize, Cell, Kind, Referee};

const FILE_A: u32 = 0x0101_0101;
const NO_KIND: u8 = 7;

/// A position of the single board with colours set.
pub(super) struct TaiwaneseOnly {
    own: u32,
    enemies: u32,
    face_down: u32,
    cannons: u32,
    kinds: [u8; 32],
    steps_onto: [u8; 8],
}

impl TaiwaneseOnly {
    pub(super) fn of(game: &Referee) -> Self {
        let position = game.position();
        let own_colours = position.colours(position.to_move());
        let (mut own, mut enemies, mut face_down, mut cannons) = (0, 0, 0, 0);
        let mut kinds = [NO_KIND; 32];
        for square in BoardSize::Single.all() {
            let bit = 1_u32 << square.index();
            match position.cell(square) {
                Cell::Empty => {}
                Cell::FaceDown => face_down |= bit,
                Cell::FaceUp(piece) => {
                    kinds[usize::from(square.index())] = piece.kind as u8;
                    if own_colours.contains(piece.colour) {
                        own |= bit;
                        cannons |= bit * u32::from(piece.kind == Kind::Cannon);
                    } else {
                        enemies |= bit;
                    }
                }
            }
        }
        Self { own, enemies, face_down, cannons, kinds, steps_onto: steps_onto() }
    }

    /// Writes from and to of every legal action into the list (the same square twice for a flip),
    /// and tells how many there are.
    #[inline]
    pub(super) fn list_into(&self, list: &mut [(u8, u8); 256]) -> usize {
        let mut count = 0;
        let mut add = |from: u32, to: u32, legal: bool| {
            list[count % 256] = (from as u8, to as u8);
            count += usize::from(legal);
        };
        for square in squares(self.face_down) {
            add(square, square, true);
        }
        let open = !(self.own | self.face_down);
        for (reached, back) in [
            (self.own << 8, -8),
            (self.own >> 8, 8),
            ((self.own & !(FILE_A << 7)) << 1, -1),
            ((self.own & !FILE_A) >> 1, 1),
        ] {
            for to in squares(reached & open) {
                let from = to.wrapping_add_signed(back) & 31;
                let onto = self.steps_onto[usize::from(self.kinds[from as usize] & 7)];
                add(from, to, onto >> (self.kinds[to as usize] & 7) & 1 == 1);
            }
        }
        let occupied = self.own | self.enemies | self.face_down;
        for from in squares(self.cannons) {
            for to in squares(jumps(from, occupied) & self.enemies) {
                add(from, to, true);
            }
        }
        count
    }
}

/// The squares beyond exactly one screen, walked along the four lines.
fn jumps(from: u32, occupied: u32) -> u32 {
    let (file, rank) = (from % 8, from / 8);
    let mut found = 0;
    for (step, room) in [(1, 7 - file), (-1, file), (8, 3 - rank), (-8, rank)] {
        let mut screens = 0;
        let mut square = from;
        for _ in 0..room {
            square = square.wrapping_add_signed(step);
            if occupied >> (square & 31) & 1 == 1 {
                screens += 1;
                if screens == 2 {
                    found |= 1 << (square & 31);
                    break;
                }
            }
        }
    }
    found
}

/// For each kind what it steps onto: kinds by number, and [`NO_KIND`] for an empty square.
fn steps_onto() -> [u8; 8] {
    let mut onto = [0; 8];
    for kind in Kind::ALL {
        let weaker = (0x7f_u8 << kind as u8) & 0x7f;
        let prey = match kind {
            Kind::General => weaker & !(1 << Kind::Soldier as u8),
            Kind::Cannon => 0,
            Kind::Soldier => weaker | 1 << Kind::General as u8,
            _ => weaker,
        };
        onto[kind as usize] = prey | 1 << NO_KIND;
    }
    onto
}

fn squares(mut set: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let square = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        square
    })
}
