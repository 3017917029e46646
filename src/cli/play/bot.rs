//! Bots that are good for a first game.

use clap::ValueEnum;
use rand::seq::IndexedRandom as _;

use crate::api::proto::v1;
use crate::cli::screen::{position, square};
use crate::rules::{Kind, Position};

/// How a bot plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Bot {
    /// Any legal action
    Random,
    /// The best capture at once, or else anything
    #[default]
    Greedy,
}

impl Bot {
    /// An action of the seat to move, as text. None where the game does not go on.
    pub(super) fn choose(self, game: &v1::Game) -> Option<String> {
        let legal = &game.legal_actions;
        let position = position(game);
        let worth = |action: &v1::LegalAction| worth(position.as_ref()?, action);
        let best = legal.iter().filter_map(worth).max();
        let candidates: Vec<&v1::LegalAction> = match (self, best) {
            (Self::Greedy, Some(best)) => {
                legal.iter().filter(|action| worth(action) == Some(best)).collect()
            }
            _ => legal.iter().collect(),
        };
        candidates.choose(&mut rand::rng()).map(|action| action.text.clone())
    }
}

/// What a capture is worth: the rank of the piece that is taken, cannons before chariots, since they take
/// from afar.
fn worth(position: &Position, action: &v1::LegalAction) -> Option<u8> {
    if action.kind() != v1::ActionKind::Capture {
        return None;
    }
    Some(match position.piece_at(square(action.to)?)?.kind {
        Kind::General => 7,
        Kind::Advisor => 6,
        Kind::Cannon => 5,
        Kind::Elephant => 4,
        Kind::Chariot => 3,
        Kind::Horse => 2,
        Kind::Soldier => 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(to: v1::Square) -> v1::LegalAction {
        v1::LegalAction {
            text: to.as_str_name().to_owned(),
            kind: v1::ActionKind::Capture.into(),
            to: to.into(),
            ..Default::default()
        }
    }

    #[test]
    fn a_greedy_bot_takes_the_most_it_can() {
        // A soldier, a cannon and a chariot of black.
        let text = "8/8/8/pcr5 1 r,b - 0 1".to_owned();
        let position = v1::Position { text, ..Default::default() };
        let flip = v1::LegalAction {
            text: "flip".to_owned(),
            kind: v1::ActionKind::Flip.into(),
            ..Default::default()
        };
        let captures = [v1::Square::A1, v1::Square::B1, v1::Square::C1].map(capture);
        let game = v1::Game {
            position: Some(position),
            legal_actions: [vec![flip.clone()], captures.to_vec()].concat(),
            ..Default::default()
        };
        assert_eq!(Bot::Greedy.choose(&game).as_deref(), Some("SQUARE_B1"));
        let quiet = v1::Game { legal_actions: vec![flip], ..game };
        assert_eq!(Bot::Greedy.choose(&quiet).as_deref(), Some("flip"));
        let over = v1::Game { legal_actions: Vec::new(), ..quiet };
        assert_eq!(Bot::Random.choose(&over), None);
    }
}
