//! Ends open streams and polls when the server stops.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use crate::api::error::{ApiError, Reason};

/// Within what time the readers of all streams of a replica return, not all at once.
const RETURN_WITHIN: Duration = Duration::from_secs(1);

/// The call that may wait for its answer until the bound.
const POLL: &str = "/banqi.v1.GameService/PollGame";

/// Ends every answer that has nothing more to send when the server stops, and every poll that waits.
/// A stream without an end, such as a health watch, would otherwise hold its connection open until the
/// bound.
#[derive(Clone)]
pub(in crate::server) struct DrainLayer(pub(in crate::server) CancellationToken);

impl<S> Layer<S> for DrainLayer {
    type Service = Drain<S>;

    fn layer(&self, inner: S) -> Drain<S> {
        Drain { inner, token: self.0.clone() }
    }
}

/// What [`DrainLayer`] makes of a service.
#[derive(Clone)]
pub(in crate::server) struct Drain<S> {
    inner: S,
    token: CancellationToken,
}

impl<S, B> Service<Request<B>> for Drain<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Answer<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let stopping = (request.uri().path() == POLL).then(|| self.token.clone().cancelled_owned());
        Answer { answer: self.inner.call(request), token: self.token.clone(), stopping }
    }
}

pin_project! {
    /// An answer whose body ends with the server, or the error that a poll ends with.
    pub(in crate::server) struct Answer<F> {
        #[pin]
        answer: F,
        token: CancellationToken,
        // Set only for a poll.
        #[pin]
        stopping: Option<WaitForCancellationFutureOwned>,
    }
}

impl<F, E> Future for Answer<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        if let Poll::Ready(answer) = this.answer.poll(context) {
            return Poll::Ready(answer.map(|answer| watch(answer, this.token)));
        }
        let stopped = this.stopping.as_pin_mut().map(|stopping| stopping.poll(context));
        match stopped {
            Some(Poll::Ready(())) => Poll::Ready(Ok(stopping().into_http())),
            Some(Poll::Pending) | None => Poll::Pending,
        }
    }
}

/// Watches over the body of an answer.
fn watch(response: Response<Body>, token: &CancellationToken) -> Response<Body> {
    if response.body().is_end_stream() {
        return response;
    }
    let token = token.clone();
    response.map(|body| Body::new(Draining { body, token, stopping: None, ended: false }))
}

/// What the readers of streams are told, and who polls.
fn stopping() -> Status {
    ApiError::new(Reason::ShuttingDown, "this replica is stopping: connect again")
        .to_be_retried_after(RETURN_WITHIN.mul_f64(rand::random()))
        .into()
}

pin_project! {
    struct Draining {
        #[pin]
        body: Body,
        token: CancellationToken,
        // Set only for a body that has to be waited for, which streams alone have.
        #[pin]
        stopping: Option<WaitForCancellationFutureOwned>,
        ended: bool,
    }
}

impl http_body::Body for Draining {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut this = self.project();
        if *this.ended {
            return Poll::Ready(None);
        }
        // What is there is sent first, so a watcher still learns that readiness is off.
        if let Poll::Ready(frame) = this.body.poll_frame(context) {
            return Poll::Ready(frame);
        }
        if this.stopping.is_none() {
            this.stopping.set(Some(this.token.clone().cancelled_owned()));
        }
        if this.stopping.as_pin_mut().is_some_and(|stopping| stopping.poll(context).is_pending()) {
            return Poll::Pending;
        }
        *this.ended = true;
        let mut trailers = HeaderMap::new();
        stopping().add_header(&mut trailers)?;
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::methods::Method;

    #[test]
    fn the_poll_exists() {
        assert!(Method::all().iter().any(|method| method.path() == POLL));
    }
}
