//! What concerns a game as a whole: resigning, calling off, draws, and taking back.

use super::Session;
use crate::api::proto::v1;
use crate::cli::play::PlayError;
use crate::cli::play::input::Input;

impl Session {
    /// Bots take no draw, and let everything be taken back.
    pub(super) async fn answer_for_bots(&mut self) -> Result<(), PlayError> {
        let Some(game) = &self.game else { return Ok(()) };
        let game_id = self.seating.game_id.clone();
        for (seat, seat_token) in self.seating.bots.clone() {
            let waits = |offer: &Option<v1::Offer>| {
                offer
                    .as_ref()
                    .is_some_and(|offer| offer.seat != seat && !offer.accepted_by.contains(&seat))
            };
            let answered = if waits(&game.draw_offer) {
                let request = v1::AnswerDrawRequest {
                    game_id: game_id.clone(),
                    seat_token,
                    accept: false,
                    ..Default::default()
                };
                self.client.answer_draw(request).await.map(drop)
            } else if waits(&game.takeback_request) {
                let request = v1::AnswerTakebackRequest {
                    game_id: game_id.clone(),
                    seat_token,
                    accept: true,
                    ..Default::default()
                };
                self.client.answer_takeback(request).await.map(drop)
            } else {
                continue;
            };
            // Another bot's no may have ended it.
            if let Err(error) = answered
                && !error.reason.starts_with("NO_")
            {
                return Err(error.into());
            }
        }
        Ok(())
    }

    /// What concerns the game as a whole. Of several seats at one terminal the one to move is meant, and for
    /// answers the one that is asked.
    pub(super) async fn bargain(&self, input: &Input) -> Result<Option<v1::Game>, PlayError> {
        let offer = self
            .game
            .as_ref()
            .and_then(|game| game.draw_offer.as_ref().or(game.takeback_request.as_ref()));
        let answers = matches!(input, Input::Accept | Input::Decline);
        let asked = |seat: &&u32| offer.is_none_or(|offer| offer.seat != **seat);
        let last = self.game.as_ref().and_then(|game| Some(game.last_action.as_ref()?.seat));
        let meant = match input {
            _ if answers => self.seating.own.keys().find(asked).copied(),
            Input::Takeback if self.seating.own.len() > 1 => last,
            _ => self.to_move().filter(|seat| self.seating.own.contains_key(seat)),
        };
        let token = meant.and_then(|seat| self.seating.own.get(&seat));
        let token = token.or_else(|| self.seating.own.values().next()).cloned().unwrap_or_default();
        let (game_id, seat_token) = (self.seating.game_id.clone(), token);
        let accept = *input == Input::Accept;
        let takeback = self.game.as_ref().is_some_and(|game| game.takeback_request.is_some());
        Ok(match input {
            Input::Resign => {
                let request = v1::ResignGameRequest { game_id, seat_token, ..Default::default() };
                self.client.resign_game(request).await.map(|answer| answer.game)
            }
            Input::Abort => {
                let request = v1::AbortGameRequest { game_id, seat_token, ..Default::default() };
                self.client.abort_game(request).await.map(|answer| answer.game)
            }
            Input::Draw => {
                let request = v1::OfferDrawRequest { game_id, seat_token, ..Default::default() };
                self.client.offer_draw(request).await.map(|answer| answer.game)
            }
            Input::Takeback => {
                let request =
                    v1::RequestTakebackRequest { game_id, seat_token, ..Default::default() };
                self.client.request_takeback(request).await.map(|answer| answer.game)
            }
            _ if takeback => {
                let request =
                    v1::AnswerTakebackRequest { game_id, seat_token, accept, ..Default::default() };
                self.client.answer_takeback(request).await.map(|answer| answer.game)
            }
            _ => {
                let request =
                    v1::AnswerDrawRequest { game_id, seat_token, accept, ..Default::default() };
                self.client.answer_draw(request).await.map(|answer| answer.game)
            }
        }?)
    }
}
