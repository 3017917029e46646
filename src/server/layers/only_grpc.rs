//! What is no gRPC is not taken for it.

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use futures_util::future::Either;
use http::{HeaderMap, Request, Response, StatusCode, header};
use tower::{Layer, Service};

/// Answers 415 (Unsupported Media Type), as gRPC's protocol asks, to what has another content type
/// than gRPC's. Pages of any origin may send some of those without being asked where they come from.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::server) struct OnlyGrpcLayer;

impl<S> Layer<S> for OnlyGrpcLayer {
    type Service = OnlyGrpc<S>;

    fn layer(&self, inner: S) -> OnlyGrpc<S> {
        OnlyGrpc { inner }
    }
}

/// What [`OnlyGrpcLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(in crate::server) struct OnlyGrpc<S> {
    inner: S,
}

impl<S, B, R> Service<Request<B>> for OnlyGrpc<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Default,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<S::Response, S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if is_grpc(request.headers()) {
            return Either::Left(self.inner.call(request));
        }
        let mut response = Response::new(R::default());
        *response.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Either::Right(ready(Ok(response)))
    }
}

/// Whether the content type is one of gRPC's: `application/grpc`, alone or with the encoding of
/// its messages.
pub(super) fn is_grpc(headers: &HeaderMap) -> bool {
    let content = headers.get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    content
        .and_then(|content| content.strip_prefix(b"application/grpc"))
        .is_some_and(|rest| matches!(rest, [] | [b'+' | b';', ..]))
}
