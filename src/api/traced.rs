//! What handlers add to the trace of their call.

use opentelemetry::trace::TraceContextExt as _;
use opentelemetry::{Context, KeyValue};

use crate::game::GameId;

/// Names the game that the call is about, where the call is traced.
pub(super) fn about(game: &GameId) {
    Context::map_current(|context| {
        if context.has_active_span() {
            context.span().set_attribute(KeyValue::new("banqi.game_id", game.to_string()));
        }
    });
}
