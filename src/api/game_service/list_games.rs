//! `ListGames`.

use crate::api::callers::{Caller, Role};
use crate::api::convert::game::{self, View};
use crate::api::error::{ApiError, FieldFaults, Reason};
use crate::api::fields;
use crate::api::host::{Host, Wanted};
use crate::api::page_token::List;
use crate::api::proto::v1;
use crate::game::GameState;

use super::labels;

/// How many games a page has unless asked for otherwise, and at most.
const PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 100;

pub(super) async fn call(
    host: &Host,
    caller: Caller,
    request: v1::ListGamesRequest,
) -> Result<v1::ListGamesResponse, ApiError> {
    if caller.player().is_none() {
        caller.require(Role::Platform)?;
    }
    let mut faults = FieldFaults::default();
    let player = fields::player_id("player_id", &request.player_id, &mut faults);
    let state = state(request.state, &mut faults);
    let labels = labels(request.labels, &mut faults);
    let list = List::of(
        "ListGames",
        [request.player_id.as_bytes(), &request.state.to_be_bytes()]
            .into_iter()
            .chain(labels.iter().flat_map(|(key, value)| [key.as_bytes(), value.as_bytes()])),
    );
    let after = faults.check("page_token", list.read(&request.page_token));
    let size = match request.page_size {
        0 => PAGE,
        size => size.min(LARGEST_PAGE),
    };
    let (Some(after), 0) = (after, faults.count()) else { return Err(faults.into_error()) };
    if !caller.is_platform() && caller.player() != player.as_ref() {
        let message = "the player token is another player's than `player_id`";
        return Err(ApiError::new(Reason::OtherPlayer, message));
    }
    // Players see their own games, and the platform all, as they are.
    let page = host.list(&Wanted { player, state, labels }, after, size).await?;
    Ok(v1::ListGamesResponse {
        games: page
            .games
            .iter()
            .map(|(game, now)| game::game(game, View::Basic, Some(*now)))
            .collect(),
        next_page_token: page.last.map(|last| list.after(&last)).unwrap_or_default(),
    })
}

fn state(number: i32, faults: &mut FieldFaults) -> Option<GameState> {
    match v1::GameState::try_from(number) {
        Ok(v1::GameState::Unspecified) => None,
        Ok(v1::GameState::Waiting) => Some(GameState::Waiting),
        Ok(v1::GameState::Active) => Some(GameState::Active),
        Ok(v1::GameState::Finished) => Some(GameState::Finished),
        Err(_) => {
            let values = "GAME_STATE_WAITING, GAME_STATE_ACTIVE or GAME_STATE_FINISHED";
            faults.add("state", fields::unknown_value(number, values));
            None
        }
    }
}
