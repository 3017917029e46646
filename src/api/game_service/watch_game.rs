//! `WatchGame`.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream;
use tokio_stream::Stream;
use tonic::Status;

use crate::api::callers::{Caller, while_known};
use crate::api::error::{ApiError, FieldFaults};
use crate::api::fields;
use crate::api::host::Sight;
use crate::api::proto::v1;
use crate::api::watch::{Watcher, Watches};

/// The messages of one watch.
pub(super) type Messages =
    Pin<Box<dyn Stream<Item = Result<v1::WatchGameResponse, Status>> + Send>>;

pub(super) async fn call(
    watches: &Arc<Watches>,
    caller: Caller,
    request: v1::WatchGameRequest,
) -> Result<Messages, ApiError> {
    let mut faults = FieldFaults::default();
    let credential = fields::credential(&caller, &request.seat_token, request.seat, &mut faults)?;
    let sight = Sight::new(&caller, credential);
    let id = fields::game_id(&request.game_id, &mut faults);
    let after = fields::etag("after_etag", &request.after_etag, &mut faults);
    let (Some(id), 0) = (id, faults.count()) else { return Err(faults.into_error()) };
    let watcher = watches.watch(&id, after, sight).await?.attending()?;
    Ok(Box::pin(while_known(caller, stream::unfold(Some(watcher), next))))
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
