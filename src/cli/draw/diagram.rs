//! What a picture of a position shows, in whatever form.

use super::DrawError;
use crate::rules::{Action, Cell, Colour, Kind, Piece, Position, Referee, RuleSet, Square};

/// A position, and what is marked in it.
#[derive(Debug)]
pub(super) struct Diagram {
    pub(super) position: Position,
    /// The piece whose targets are marked.
    pub(super) from: Option<Square>,
    /// Where that piece may go or aim.
    pub(super) targets: Vec<Square>,
    /// Squares that are marked besides.
    pub(super) marked: Vec<Square>,
}

impl Diagram {
    pub(super) fn new(
        rules: &RuleSet,
        position: Position,
        from: Option<Square>,
        marked: Vec<Square>,
    ) -> Result<Self, DrawError> {
        if let Some(&square) =
            marked.iter().find(|square| !position.board_size().contains(**square))
        {
            return Err(DrawError::NoSuchSquare { square });
        }
        let mut targets = Vec::new();
        if let Some(square) = from {
            let own = position.colours(position.to_move());
            if !position.piece_at(square).is_some_and(|piece| own.contains(piece.colour)) {
                return Err(DrawError::NoPiece { square });
            }
            let referee = Referee::from_position(rules, position.clone());
            targets.extend(referee.legal_actions().into_iter().filter_map(|action| match action {
                Action::Move { from, to } if from == square => Some(to),
                _ => None,
            }));
            targets.sort();
        }
        Ok(Self { position, from, targets, marked })
    }

    /// Every square that is marked in any way.
    pub(super) fn all_marked(&self) -> Vec<Square> {
        self.from.iter().chain(&self.targets).chain(&self.marked).copied().collect()
    }

    /// The whole in words, for whoever does not see the picture.
    pub(super) fn told(&self) -> String {
        let mut sentences = vec![self.told_of_pieces()];
        sentences.extend(self.told_of_face_down());
        sentences.push(format!("Seat {} is to move.", self.position.to_move()));
        if !self.marked.is_empty() {
            sentences.push(format!("Marked: {}.", list(&self.marked)));
        }
        sentences.extend(self.told_of_from());
        sentences.join(" ")
    }

    fn told_of_pieces(&self) -> String {
        let pieces: Vec<String> = self
            .squares()
            .filter_map(|square| {
                Some(format!("{} {square}", name(self.position.piece_at(square)?)))
            })
            .collect();
        match pieces[..] {
            [] => "No piece is face up.".to_owned(),
            _ => format!("Face up: {}.", pieces.join(", ")),
        }
    }

    fn told_of_face_down(&self) -> Option<String> {
        let face_down = self.position.face_down_squares();
        let squares: Vec<Square> = face_down.into_iter().collect();
        match squares.len() {
            0 => None,
            all if all == self.position.board_size().squares() => {
                Some(format!("All {all} squares have a face-down piece."))
            }
            _ => Some(format!("Face down: {}.", list(&squares))),
        }
    }

    /// What the piece may do whose targets are marked.
    pub(super) fn told_of_from(&self) -> Option<String> {
        let from = self.from?;
        let onto = |wanted: fn(Cell) -> bool| -> Vec<Square> {
            let targets = self.targets.iter().copied();
            targets.filter(|target| wanted(self.position.cell(*target))).collect()
        };
        let deeds = [
            ("move to", onto(|cell| cell == Cell::Empty)),
            ("take", onto(|cell| matches!(cell, Cell::FaceUp(_)))),
            ("aim at", onto(|cell| cell == Cell::FaceDown)),
        ];
        let told: Vec<String> = deeds
            .iter()
            .filter(|(_, squares)| !squares.is_empty())
            .map(|(deed, squares)| format!("{deed} {}", list(squares)))
            .collect();
        Some(match told[..] {
            [] => format!("The piece on {from} may do nothing."),
            _ => format!("The piece on {from} may {}.", told.join("; ")),
        })
    }

    /// The squares of the board, from the top left to the bottom right, as a page is read.
    pub(super) fn squares(&self) -> impl Iterator<Item = Square> {
        let mut squares: Vec<Square> = self.position.board_size().all().into_iter().collect();
        squares.sort_by_key(|square| (std::cmp::Reverse(square.rank()), square.file()));
        squares.into_iter()
    }
}

fn list(squares: &[Square]) -> String {
    squares.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn name(piece: Piece) -> String {
    let colour = match piece.colour {
        Colour::Red => "red",
        Colour::Black => "black",
        Colour::Blue => "blue",
        Colour::Green => "green",
    };
    let kind = match piece.kind {
        Kind::General => "general",
        Kind::Advisor => "advisor",
        Kind::Elephant => "elephant",
        Kind::Chariot => "chariot",
        Kind::Horse => "horse",
        Kind::Cannon => "cannon",
        Kind::Soldier => "soldier",
    };
    format!("{colour} {kind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagram(text: &str, from: &str, marked: &str) -> Result<Diagram, DrawError> {
        let rules = RuleSet::TAIWANESE;
        let setup: crate::rules::Setup = text.parse().expect("a text");
        let position = setup.into_position(&rules).expect("a position");
        let marked = marked.split_whitespace().map(|name| name.parse().expect("a square"));
        Diagram::new(&rules, position, Some(from.parse().expect("a square")), marked.collect())
    }

    #[test]
    fn it_tells_in_words_what_the_rules_let_a_piece_do() {
        let cannon = diagram("8/p7/C1X2r1p/8 1 r,b K1 0 1", "a2", "c2").expect("a diagram");
        assert_eq!(
            cannon.told(),
            "Face up: black soldier a3, red cannon a2, black chariot f2, black soldier h2. \
             Face down: c2. Seat 1 is to move. Marked: c2. \
             The piece on a2 may move to a1, b2; take f2."
        );
    }

    #[test]
    fn only_what_is_there_can_be_marked() {
        let position = "8/p7/C1X2r1p/8 1 r,b K1 0 1";
        let told = |from, marked| diagram(position, from, marked).expect_err("a fault").to_string();
        assert!(told("a3", "").starts_with("--from `a3`: expected the square of a face-up piece"));
        assert!(told("a1", "").starts_with("--from `a1`: "));
        assert_eq!(told("a2", "c2 a5"), "--mark `a5`: expected a square of the board");
    }
}
