//! Follows calls from their beginning to their end.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use pin_project_lite::pin_project;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

/// Who is told of calls. Clones are told together.
pub(in crate::server) trait Observer: Clone {
    /// What it knows of one call.
    type Call: ObservedCall;

    /// A call begins; `None` where it is not to be told of this one again.
    fn begin(&self, path: &str, headers: &HeaderMap) -> Option<Self::Call>;
}

/// One call, as an observer knows it. One that is dropped before its end was cancelled.
pub(in crate::server) trait ObservedCall {
    /// What is in place while the call is worked on.
    type Scope;

    /// Whether it goes on after its answer has begun.
    fn is_streaming(&self) -> bool;

    /// The call is worked on for as long as this is held.
    fn enter(&self) -> Self::Scope;

    /// It is over, with the status in these headers or trailers; well where there is none.
    fn end(self, headers: &HeaderMap);
}

/// Tells an observer of every call.
#[derive(Clone, Debug)]
pub(in crate::server) struct ObserveLayer<O>(pub(in crate::server) O);

impl<O: Observer, S> Layer<S> for ObserveLayer<O> {
    type Service = Observe<O, S>;

    fn layer(&self, inner: S) -> Observe<O, S> {
        Observe { inner, observer: self.0.clone() }
    }
}

/// What [`ObserveLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(in crate::server) struct Observe<O, S> {
    inner: S,
    observer: O,
}

impl<O, S, B> Service<Request<B>> for Observe<O, S>
where
    O: Observer<Call: Send + 'static>,
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Observed<S::Future, O::Call>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let call = self.observer.begin(request.uri().path(), request.headers());
        let _scope = call.as_ref().map(ObservedCall::enter);
        Observed { answer: self.inner.call(request), call }
    }
}

pin_project! {
    /// The answer to a call that is observed.
    pub(in crate::server) struct Observed<F, C> {
        #[pin]
        answer: F,
        call: Option<C>,
    }
}

impl<F, C, E> Future for Observed<F, C>
where
    F: Future<Output = Result<Response<Body>, E>>,
    C: ObservedCall + Send + 'static,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = {
            let _scope = this.call.as_ref().map(C::enter);
            ready!(this.answer.poll(context))?
        };
        Poll::Ready(Ok(match this.call.take() {
            None => response,
            // A refusal is over as soon as it is there, and so is the answer of a call.
            Some(call) if !call.is_streaming() || response.body().is_end_stream() => {
                call.end(response.headers());
                response
            }
            Some(call) => response.map(|body| Body::new(Followed { body, call: Some(call) })),
        }))
    }
}

pin_project! {
    /// The body of a stream, which is over when its trailers have been sent, or cancelled.
    struct Followed<C> {
        #[pin]
        body: Body,
        call: Option<C>,
    }
}

impl<C: ObservedCall> http_body::Body for Followed<C> {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.project();
        let frame = {
            let _scope = this.call.as_ref().map(C::enter);
            ready!(this.body.poll_frame(context))
        };
        let trailers = match &frame {
            Some(Ok(frame)) => frame.trailers_ref(),
            Some(Err(_)) | None => None,
        };
        if let Some(trailers) = trailers
            && let Some(call) = this.call.take()
        {
            call.end(trailers);
        } else if frame.is_none()
            && let Some(call) = this.call.take()
        {
            call.end(&HeaderMap::new());
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
