//! Calls that last longer than what their callers may do.

use std::pin::Pin;

use futures_util::stream::{Stream, StreamExt as _};
use tonic::Status;

use super::Caller;
use crate::api::error::ApiError;

/// The messages of a call that lasts.
pub(in crate::api) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The messages of a call, for as long as the caller's key is one of the service and its player token
/// holds: whoever lost one is told so in place of the next message. An error ends a call.
pub(in crate::api) fn while_known<T>(
    caller: Caller,
    messages: impl Stream<Item = Result<T, ApiError>> + Send + 'static,
) -> Messages<T> {
    Box::pin(messages.map(move |message| {
        caller.check_still_known()?;
        Ok(message?)
    }))
}
