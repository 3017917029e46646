//! A panic in a handler costs its call alone.

use std::any::Any;
use std::future::{Ready, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::{CatchUnwind, Either, Map};
use http::Response;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use crate::api::error::ApiError;

/// Turns a panic into INTERNAL. What the panic says is logged and not told.
///
/// Unlike the layer of `tower-http`, it leaves the body of an answer as it is, where that one boxes
/// it: once more for each call.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::server) struct CatchPanicsLayer;

impl<S> Layer<S> for CatchPanicsLayer {
    type Service = CatchPanics<S>;

    fn layer(&self, inner: S) -> CatchPanics<S> {
        CatchPanics { inner }
    }
}

/// What [`CatchPanicsLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(in crate::server) struct CatchPanics<S> {
    inner: S,
}

/// What a handler came to, or what it said when it panicked.
type Caught<T> = Result<T, Box<dyn Any + Send>>;

/// What a call came to.
type Outcome<E> = Result<Response<Body>, E>;

impl<S, R> Service<R> for CatchPanics<S>
where
    S: Service<R, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<
        Map<
            CatchUnwind<AssertUnwindSafe<S::Future>>,
            fn(Caught<Outcome<S::Error>>) -> Outcome<S::Error>,
        >,
        Ready<Outcome<S::Error>>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        // A service that panicked is as good as before: it holds nothing but what handlers share.
        match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(answer) => Either::Left(AssertUnwindSafe(answer).catch_unwind().map(outcome)),
            Err(panic) => Either::Right(ready(outcome(Err(panic)))),
        }
    }
}

fn outcome<E>(caught: Caught<Outcome<E>>) -> Outcome<E> {
    caught.unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("(no text)");
        tracing::error!(said, "a handler panicked");
        Ok(Status::from(ApiError::fault()).into_http())
    })
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::Future;

    use http::Request;
    use tonic_types::StatusExt as _;
    use tower::{ServiceBuilder, ServiceExt as _, service_fn};

    use super::*;

    async fn is_internal_and_not_told<F>(handler: impl FnMut(Request<Body>) -> F)
    where
        F: Future<Output = Outcome<Infallible>>,
    {
        let service = ServiceBuilder::new().layer(CatchPanicsLayer).service(service_fn(handler));
        let response = service.oneshot(Request::new(Body::empty())).await.expect("an answer");
        let status = Status::from_header_map(response.headers()).expect("a status");
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(!status.message().contains("42"), "{}", status.message());
        let details = status.get_error_details();
        assert_eq!(details.error_info().map(|info| info.reason.as_str()), Some("INTERNAL"));
    }

    #[tokio::test]
    async fn a_panic_is_internal_and_not_told() {
        is_internal_and_not_told(async |_| panic!("the secret is 42")).await;
    }

    #[tokio::test]
    async fn nor_is_one_before_a_handler_begins() {
        is_internal_and_not_told(|_| -> Ready<_> { panic!("the secret is 42") }).await;
    }
}
