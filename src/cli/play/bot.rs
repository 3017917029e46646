//! Bots that are good for a first game.

use clap::ValueEnum;
use rand::seq::IndexedRandom as _;

use crate::api::proto::v1;

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
        let best = legal.iter().filter_map(|action| worth(game, action)).max();
        let candidates: Vec<&v1::LegalAction> = match (self, best) {
            (Self::Greedy, Some(best)) => {
                legal.iter().filter(|action| worth(game, action) == Some(best)).collect()
            }
            _ => legal.iter().collect(),
        };
        candidates.choose(&mut rand::rng()).map(|action| action.text.clone())
    }
}

/// What a capture is worth: the rank of the piece that is taken, cannons before chariots, since they take
/// from afar.
fn worth(game: &v1::Game, action: &v1::LegalAction) -> Option<u8> {
    if action.kind() != v1::ActionKind::Capture {
        return None;
    }
    let cells = &game.position.as_ref()?.cells;
    let cell = *cells.get(usize::try_from(action.to).ok()?.checked_sub(1)?)?;
    let first = v1::Cell::RedGeneral as i32;
    match (cell - first).rem_euclid(7) {
        0 => Some(7),
        1 => Some(6),
        5 => Some(5),
        2 => Some(4),
        3 => Some(3),
        4 => Some(2),
        _ => Some(1),
    }
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
        let cells = [v1::Cell::RedSoldier, v1::Cell::GreenCannon, v1::Cell::BlueChariot];
        let position = v1::Position { cells: cells.map(Into::into).to_vec(), ..Default::default() };
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
