//! Writes that go on when their caller goes away.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use opentelemetry::Context as Trace;
use opentelemetry::context::FutureExt as _;
use tokio::runtime::Handle;
use tonic::{Response, Status};

use super::error::ApiError;

/// Runs a write to its end even if its caller goes away: what the store was told cannot be untold,
/// and a write that is dropped half-way would leave this replica in the dark about it.
pub(super) fn to_the_end<T: Send + 'static>(
    write: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> impl Future<Output = Result<Response<T>, Status>> + Send + 'static {
    // Not within the future: that would have room for the write as well.
    let write = ToTheEnd { write: Some(Box::pin(write)), trace: Trace::current() };
    async { Ok(Response::new(write.await?)) }
}

/// A future that becomes a task of its own when it is dropped before its end. Few are, so only
/// those pay for a task.
struct ToTheEnd<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    write: Option<Pin<Box<F>>>,
    /// The trace of the call, which the task goes on with.
    trace: Trace,
}

impl<F> Future for ToTheEnd<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        // Taken out first: a future that panics must not be polled again.
        let mut future = self.write.take().expect("a future is not polled after its end");
        let polled = future.as_mut().poll(context);
        if polled.is_pending() {
            self.write = Some(future);
        }
        polled
    }
}

impl<F> Drop for ToTheEnd<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    fn drop(&mut self) {
        // Without a runtime there is nothing left that the future could wait for.
        if let (Some(future), Ok(runtime)) = (self.write.take(), Handle::try_current()) {
            runtime.spawn(future.with_context(std::mem::take(&mut self.trace)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::AssertUnwindSafe;
    use std::time::Duration;

    use futures_util::FutureExt as _;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    #[tokio::test]
    async fn a_dropped_write_goes_on() {
        let (go, gone) = oneshot::channel::<()>();
        let (done, ended) = oneshot::channel();
        let mut write = Box::pin(to_the_end(async move {
            gone.await.expect("it is let go");
            done.send(()).expect("somebody waits");
            Ok(())
        }));
        assert!(write.as_mut().now_or_never().is_none(), "it waits");
        drop(write);
        go.send(()).expect("it still waits");
        timeout(PATIENCE, ended).await.expect("it ends in time").expect("it ends");
    }

    #[tokio::test]
    async fn a_write_that_panics_is_not_tried_again() {
        let write = to_the_end::<()>(async { panic!("for the test") });
        assert!(AssertUnwindSafe(write).catch_unwind().await.is_err());
    }
}
