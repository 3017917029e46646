//! `BatchGetGames`.

use crate::api::callers::Caller;
use crate::api::convert;
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::{Host, Sight};
use crate::api::proto::v1;
use crate::game::GameId;

/// How many games one call may ask for.
const MAX_GAMES: usize = 100;

pub(super) async fn call(
    host: &Host,
    caller: Caller,
    request: v1::BatchGetGamesRequest,
) -> Result<v1::BatchGetGamesResponse, ApiError> {
    let sight = Sight::of(&caller)?;
    let mut faults = FieldFaults::default();
    let asked = request.game_ids.len();
    if !(1..=MAX_GAMES).contains(&asked) {
        faults.add("game_ids", format!("lists {asked}, but must list 1 to {MAX_GAMES}"));
    }
    let mut ids: Vec<GameId> = Vec::with_capacity(asked.min(MAX_GAMES));
    for (index, text) in request.game_ids.iter().enumerate().take(MAX_GAMES) {
        ids.extend(faults.check(&format!("game_ids[{index}]"), text.parse::<GameId>()));
    }
    let view = fields::view(request.view, &mut faults);
    if faults.count() > 0 {
        return Err(faults.into_error());
    }
    let shown = host.show_many(&ids, &sight).await?;
    let games = shown.iter().map(|(game, now)| convert::game::game(game, view, Some(*now)));
    Ok(v1::BatchGetGamesResponse { games: games.collect() })
}
