//! What everyone can see of a game, from an answer and from the model, in a form that can be
//! compared and shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use banqi::api::proto::v1;

use super::{Life, Model, Offer, millis};

/// Each fact by its name.
pub(crate) type View = BTreeMap<&'static str, String>;

/// The facts on which the two do not agree.
pub(crate) fn differences(model: &View, answer: &View) -> String {
    let mut told = String::new();
    for (name, expected) in model {
        let found = answer.get(name).map_or("nothing", String::as_str);
        if found != expected {
            let _ = writeln!(told, "  {name}: {found}; the model says {expected}");
        }
    }
    told
}

impl Model {
    /// What the model says that everyone can see.
    pub(crate) fn view(&self) -> View {
        let position = self.referee.position();
        let departures = self.referee.departures().iter();
        let departures = departures.map(|left| format!("{} {}", left.seat, left.reason.name()));
        let result = self.referee.outcome().map(|outcome| {
            let winner = outcome.winner().map(|seat| seat.number()).into_iter().collect::<Vec<_>>();
            format!("{} {winner:?} {:?}", outcome.reason.name(), outcome.places)
        });
        let seats = (1..).zip(&self.chairs).map(|(number, chair): (u32, _)| {
            seat(&v1::GameSeat {
                number,
                player_id: chair.player.clone(),
                claim: chair.claim.into(),
                joined: chair.joined,
                entropy_added: !chair.entropy.is_empty(),
                colours: Vec::new(),
                out: position.is_out(super::board_seat(number)),
            })
        });
        [
            ("game_id", self.game_id.clone()),
            ("revision", self.revision.to_string()),
            ("state", format!("{:?}", self.life())),
            ("seats", joined(seats)),
            ("position", position.to_string()),
            ("to_move", self.seat_to_move().to_string()),
            ("legal_actions", self.legal_actions()),
            ("last_action", self.last_record().unwrap_or_default()),
            ("departures", joined(departures)),
            ("result", result.unwrap_or_default()),
            ("entropy_required", self.entropy_required.to_string()),
            ("labels", format!("{:?}", self.labels)),
            ("create_time", self.created_at.to_string()),
            ("start_time", self.started_at.unwrap_or_default().to_string()),
            ("update_time", self.updated_at.to_string()),
            ("end_time", self.ended_at.unwrap_or_default().to_string()),
            ("deadline", self.deadline().unwrap_or_default().to_string()),
            ("draw_offer", self.offers.draw.as_ref().map(offer).unwrap_or_default()),
            ("takeback_request", self.offers.takeback.as_ref().map(offer).unwrap_or_default()),
            ("rematch", self.rematch.to_string()),
        ]
        .into()
    }

    /// What the seat to move may do.
    pub(crate) fn legal_actions(&self) -> String {
        if self.life() != Life::Active {
            return String::new();
        }
        joined(self.referee.legal_actions().iter().map(ToString::to_string))
    }
}

/// What an answer says.
pub(crate) fn view_of(game: &v1::Game) -> View {
    let position = game.position.clone().unwrap_or_default();
    let departures = game.departures.iter().map(|left| {
        format!("{} {}", left.seat, left.reason().as_str_name().trim_start_matches("END_REASON_"))
    });
    let result = game.result.as_ref().map(|result| {
        let reason = result.reason().as_str_name().trim_start_matches("END_REASON_").to_owned();
        let places: Vec<u32> = result.placements.iter().map(|placement| placement.place).collect();
        format!("{reason} {:?} {places:?}", result.winners)
    });
    let state = match game.state() {
        v1::GameState::Unspecified => "Unspecified",
        v1::GameState::Waiting => "Waiting",
        v1::GameState::Active => "Active",
        v1::GameState::Finished => "Finished",
    };
    let record = game.last_action.as_ref().map(|record| record.text.clone());
    [
        ("game_id", game.game_id.clone()),
        ("revision", game.revision.to_string()),
        ("state", state.to_owned()),
        ("seats", joined(game.seats.iter().map(seat))),
        ("position", position.text),
        ("to_move", position.to_move.to_string()),
        ("legal_actions", actions_of(&game.legal_actions)),
        ("last_action", record.unwrap_or_default()),
        ("departures", joined(departures)),
        ("result", result.unwrap_or_default()),
        ("entropy_required", game.entropy_required.to_string()),
        ("labels", format!("{:?}", game.labels)),
        ("create_time", millis(game.create_time.as_ref()).to_string()),
        ("start_time", millis(game.start_time.as_ref()).to_string()),
        ("update_time", millis(game.update_time.as_ref()).to_string()),
        ("end_time", millis(game.end_time.as_ref()).to_string()),
        ("deadline", millis(game.deadline.as_ref()).to_string()),
        ("draw_offer", game.draw_offer.as_ref().map(told_offer).unwrap_or_default()),
        ("takeback_request", game.takeback_request.as_ref().map(told_offer).unwrap_or_default()),
        ("rematch", (!game.rematch_game_id.is_empty()).to_string()),
    ]
    .into()
}

fn offer(offer: &Offer) -> String {
    let accepted: Vec<u32> = offer.accepted.iter().copied().collect();
    format!("by {} accepted by {accepted:?}", offer.seat)
}

fn told_offer(offer: &v1::Offer) -> String {
    format!("by {} accepted by {:?}", offer.seat, offer.accepted_by)
}

/// Legal actions as text.
pub(crate) fn actions_of(actions: &[v1::LegalAction]) -> String {
    joined(actions.iter().map(|action| action.text.clone()))
}

fn seat(seat: &v1::GameSeat) -> String {
    let v1::GameSeat { number, player_id, joined, entropy_added, out, .. } = seat;
    let claim = seat.claim().as_str_name();
    format!("{number} {player_id:?} {claim} joined {joined} entropy {entropy_added} out {out}")
}

fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}
