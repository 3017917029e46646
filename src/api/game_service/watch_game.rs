//! `WatchGame`.

use std::pin::Pin;
use std::sync::Arc;

use tokio_stream::Stream;
use tonic::Status;
use tonic::metadata::MetadataMap;

use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::proto::v1;
use crate::api::watch::{Watcher, Watches};

/// The messages of one watch.
pub(super) type Messages =
    Pin<Box<dyn Stream<Item = Result<v1::WatchGameResponse, Status>> + Send>>;

pub(super) async fn call(
    watches: &Arc<Watches>,
    metadata: &MetadataMap,
    request: v1::WatchGameRequest,
) -> Result<Messages, ApiError> {
    let mut faults = FieldFaults::default();
    let id = fields::game_id(&request.game_id, &mut faults);
    let after = fields::etag("after_etag", &request.after_etag, &mut faults);
    let seat = fields::seat(request.seat, &mut faults);
    let (Some(id), 0) = (id, faults.count()) else { return Err(faults.into_error()) };
    let credential = fields::credential(metadata, &request.seat_token, seat);
    let watcher = watches.watch(&id, after, credential).await?;
    Ok(Box::pin(futures_util::stream::unfold(Some(watcher), next)))
}

/// The next message, and the watcher to go on with unless that was the last.
async fn next(
    watcher: Option<Watcher>,
) -> Option<(Result<v1::WatchGameResponse, Status>, Option<Watcher>)> {
    let mut watcher = watcher?;
    match watcher.next().await {
        Ok(Some(message)) => {
            let message = v1::WatchGameResponse { message: Some(message) };
            Some((Ok(message), Some(watcher)))
        }
        Ok(None) => None,
        Err(error) => Some((Err(error.into()), None)),
    }
}
