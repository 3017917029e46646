//! Calls that last longer than what their callers may do.

use futures_util::stream::{Stream, StreamExt as _};
use tonic::Status;

use super::Caller;

/// The messages of a call, for as long as the caller's key is one of the service: whoever lost it is
/// told so in place of the next message. An error ends a call.
pub(in crate::api) fn while_known<T>(
    caller: Caller,
    messages: impl Stream<Item = Result<T, Status>>,
) -> impl Stream<Item = Result<T, Status>> {
    messages.map(move |message| {
        caller.check_still_known()?;
        message
    })
}
