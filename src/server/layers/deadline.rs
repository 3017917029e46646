//! Deadlines that a caller set.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, Request, Response};
use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};
use tonic::Status;
use tower::{Layer, Service};

use crate::api::error::{ApiError, Reason};

/// How much earlier than the caller's deadline the answer is given up. tonic itself watches the
/// same deadline, further out, and answers CANCELLED, which clients do not expect.
const EARLIER: Duration = Duration::from_millis(5);

/// Answers DEADLINE_EXCEEDED when a call's `grpc-timeout` passes before its answer begins.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::server) struct DeadlineLayer;

impl<S> Layer<S> for DeadlineLayer {
    type Service = Deadline<S>;

    fn layer(&self, inner: S) -> Deadline<S> {
        Deadline { inner }
    }
}

/// What [`DeadlineLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(in crate::server) struct Deadline<S> {
    inner: S,
}

impl<S, B, R> Service<Request<B>> for Deadline<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Default,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Answer<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let end = timeout(request.headers())
            .map(|timeout| Instant::now() + timeout.saturating_sub(EARLIER));
        Answer { answer: self.inner.call(request), end, alarm: None }
    }
}

pin_project! {
    /// The answer to a call, or the error that it comes too late.
    pub(in crate::server) struct Answer<F> {
        #[pin]
        answer: F,
        end: Option<Instant>,
        // Set only for an answer that is not there at once, which most are.
        #[pin]
        alarm: Option<Sleep>,
    }
}

impl<F, R, E> Future for Answer<F>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Default,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if let Poll::Ready(answer) = this.answer.poll(context) {
            return Poll::Ready(answer);
        }
        let Some(end) = *this.end else { return Poll::Pending };
        if this.alarm.is_none() {
            this.alarm.set(Some(sleep_until(end)));
        }
        match this.alarm.as_pin_mut().map(|alarm| alarm.poll(context)) {
            Some(Poll::Ready(())) => {
                let error = ApiError::new(Reason::DeadlineExceeded, "the call's deadline passed");
                Poll::Ready(Ok(Status::from(error).into_http()))
            }
            _ => Poll::Pending,
        }
    }
}

/// The time that a call may take, as the gRPC protocol writes it: up to eight digits and a unit.
fn timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("grpc-timeout")?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_hours(count)),
        "M" => Some(Duration::from_mins(count)),
        "S" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_millis(count)),
        "u" => Some(Duration::from_micros(count)),
        "n" => Some(Duration::from_nanos(count)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::future::pending;

    use rstest::rstest;
    use tonic::body::Body;
    use tower::{ServiceBuilder, ServiceExt as _, service_fn};

    use super::*;

    #[rstest]
    #[case("5S", Some(Duration::from_secs(5)))]
    #[case("100m", Some(Duration::from_millis(100)))]
    #[case("99999999H", Some(Duration::from_hours(99_999_999)))]
    #[case("123456789S", None)]
    #[case("S", None)]
    #[case("", None)]
    #[case("-1S", None)]
    #[case("5s", None)]
    fn timeouts_are_read_as_the_protocol_writes_them(
        #[case] text: &str,
        #[case] expected: Option<Duration>,
    ) {
        let mut headers = HeaderMap::new();
        headers.insert("grpc-timeout", text.parse().expect("a header"));
        assert_eq!(timeout(&headers), expected);
    }

    #[tokio::test]
    async fn a_passed_deadline_is_told_as_such() {
        let service = ServiceBuilder::new().layer(DeadlineLayer).service(service_fn(
            async |_: Request<Body>| pending::<Result<Response<Body>, Infallible>>().await,
        ));
        let request = Request::builder().header("grpc-timeout", "20m").body(Body::empty());
        let response = service.oneshot(request.expect("a request")).await.expect("an answer");
        let status = Status::from_header_map(response.headers()).expect("a status");
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
    }
}
