//! `WatchGame`.

use std::sync::Arc;

use futures_util::stream;

use crate::api::callers::{Caller, Messages, lasting};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::Sight;
use crate::api::proto::v1;
use crate::api::watch::Watches;

pub(super) async fn call(
    watches: &Arc<Watches>,
    caller: Caller,
    request: v1::WatchGameRequest,
) -> Result<Messages<v1::WatchGameResponse>, ApiError> {
    let mut faults = FieldFaults::default();
    let credential = fields::credential(&caller, &request.seat_token, request.seat, &mut faults)?;
    let sight = Sight::new(&caller, credential);
    let id = fields::game_id(&request.game_id, &mut faults);
    let after = fields::etag("after_etag", &request.after_etag, &mut faults);
    let (Some(id), 0) = (id, faults.count()) else { return Err(faults.into_error()) };
    let place = caller.count_stream()?;
    let watcher = watches.watch(&id, after, sight).await?.attending()?;
    let messages = stream::try_unfold(watcher, |mut watcher| async {
        let message = watcher.next().await?;
        Ok(message.map(|message| (v1::WatchGameResponse { message: Some(message) }, watcher)))
    });
    Ok(lasting(caller, place, watches.stream_age(), messages))
}
