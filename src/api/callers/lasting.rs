//! Calls that last longer than what their callers may do.

use std::pin::Pin;

use futures_util::stream::{self, Stream, StreamExt as _};
use tokio::time::{Instant, timeout_at};
use tonic::Status;

use super::{Caller, StreamPlace};
use crate::api::error::ApiError;
use crate::api::stream_age::{StreamAge, expired};

/// The messages of a call that lasts.
pub(in crate::api) type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The messages of a call, which holds its place until they are dropped, for as long as the caller's key is one of the service and its player token
/// holds, and until it is old enough: whoever lost one, or has read long enough, is told so in place
/// of the next message. An error ends a call.
pub(in crate::api) fn lasting<T: Send + 'static>(
    caller: Caller,
    place: StreamPlace,
    age: StreamAge,
    messages: impl Stream<Item = Result<T, ApiError>> + Send + 'static,
) -> Messages<T> {
    let messages = messages.map(move |message| {
        let _held = &place;
        caller.check_still_known()?;
        Ok(message?)
    });
    match age.draw() {
        Some(age) => Box::pin(until(Instant::now() + age, messages)),
        None => Box::pin(messages),
    }
}

/// The messages until an error, or until it is too late for another one. The first is waited for
/// in any case, so that whoever comes back again and again gets on.
fn until<T: Send + 'static>(
    end: Instant,
    messages: impl Stream<Item = Result<T, Status>> + Send + 'static,
) -> impl Stream<Item = Result<T, Status>> + Send {
    let begin = Some((Box::pin(messages), true));
    stream::unfold(begin, move |state| async move {
        let (mut messages, is_first) = state?;
        let next = if is_first {
            messages.next().await
        } else if Instant::now() >= end {
            // A stream that always has news would not let the time-out have a say.
            Some(Err(expired().into()))
        } else {
            let late = |_| Some(Err(expired().into()));
            timeout_at(end, messages.next()).await.unwrap_or_else(late)
        };
        let next = next?;
        let state = next.is_ok().then_some((messages, false));
        Some((next, state))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tonic_types::StatusExt as _;

    use super::*;

    const AGE: Duration = Duration::from_millis(50);

    fn reason(status: &Status) -> String {
        status.get_error_details().error_info().expect("an ErrorInfo").reason.clone()
    }

    /// Reads a stream to its end, which must be one of age: how many messages came.
    async fn read_to_its_age(
        end: Instant,
        messages: impl Stream<Item = Result<(), Status>> + Send + 'static,
    ) -> usize {
        let mut messages = Box::pin(until(end, messages));
        let mut count = 0;
        let status = loop {
            match messages.next().await.expect("no end without a word") {
                Ok(()) => count += 1,
                Err(status) => break status,
            }
        };
        assert!(messages.next().await.is_none(), "an error ends a call");
        assert!(Instant::now() >= end, "it ended before its time");
        assert_eq!(reason(&status), "STREAM_EXPIRED");
        count
    }

    #[tokio::test]
    async fn a_quiet_stream_ends_at_its_age() {
        let messages = stream::iter([Ok(()), Ok(())]).chain(stream::pending());
        assert_eq!(read_to_its_age(Instant::now() + AGE, messages).await, 2);
    }

    #[tokio::test]
    async fn a_stream_with_news_at_all_times_ends_too() {
        let messages = stream::repeat_with(|| Ok(()));
        assert!(read_to_its_age(Instant::now() + AGE, messages).await > 0);
    }

    #[tokio::test]
    async fn the_first_message_comes_in_any_case() {
        let messages = stream::repeat_with(|| Ok(()));
        assert_eq!(read_to_its_age(Instant::now(), messages).await, 1);
    }

    #[tokio::test]
    async fn what_ends_by_itself_or_by_an_error_ends_so() {
        let end = Instant::now() + Duration::from_secs(60);
        let told: Vec<_> = until(end, stream::iter([Ok(1), Ok(2)])).collect().await;
        assert!(matches!(told[..], [Ok(1), Ok(2)]), "{told:?}");
        let fault = || Status::from(ApiError::fault());
        let told: Vec<_> = until(end, stream::iter([Ok(1), Err(fault()), Ok(2)])).collect().await;
        assert!(matches!(&told[..], [Ok(1), Err(status)] if reason(status) == "INTERNAL"));
    }
}
