//! Counts calls and how they go.

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

use crate::server::metrics::{Call, RpcMetrics};

/// Counts every call to a method that is served.
#[derive(Clone, Debug)]
pub(in crate::server) struct MeasureLayer(pub(in crate::server) RpcMetrics);

impl<S> Layer<S> for MeasureLayer {
    type Service = Measure<S>;

    fn layer(&self, inner: S) -> Measure<S> {
        Measure { inner, metrics: self.0.clone() }
    }
}

/// What [`MeasureLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(in crate::server) struct Measure<S> {
    inner: S,
    metrics: RpcMetrics,
}

impl<S, B> Service<Request<B>> for Measure<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Measured<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let call = self.metrics.begin(request.uri().path());
        Measured { answer: self.inner.call(request), call }
    }
}

pin_project! {
    /// The answer to a call that is counted.
    pub(in crate::server) struct Measured<F> {
        #[pin]
        answer: F,
        call: Option<Call>,
    }
}

impl<F, E> Future for Measured<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let response = ready!(this.answer.poll(context))?;
        Poll::Ready(Ok(match this.call.take() {
            None => response,
            // A refusal is over as soon as it is there, and so is the answer of a call.
            Some(call) if !call.is_streaming() || response.body().is_end_stream() => {
                call.end(response.headers());
                response
            }
            Some(call) => response.map(|body| Body::new(Counted { body, call: Some(call) })),
        }))
    }
}

pin_project! {
    /// The body of a stream, which is over when its trailers have been sent, or cancelled.
    struct Counted {
        #[pin]
        body: Body,
        call: Option<Call>,
    }
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = self.project();
        let frame = ready!(this.body.poll_frame(context));
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
