//! How much a replica takes on at once. What is over that is refused at the door, before it costs
//! anything, so that what was let in is answered in time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as _, Frame, SizeHint};
use pin_project_lite::pin_project;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use tokio::sync::Semaphore;
use tonic::Status;
use tonic::body::Body;
use tower::{Layer, Service};

use super::arrival::{Arriving, Place};
use crate::api::error::{ApiError, Reason};
use crate::server::config::Load;

/// After what time a refused caller may come back, half of it added or taken off, so that not all
/// do at once.
const COME_BACK: Duration = Duration::from_secs(1);

/// What a call holds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A place for as long as it takes to answer.
    Call,
    /// A place for as long as its reader likes.
    Stream,
    /// Nothing: health and reflection are answered however much there is to do.
    Free,
}

impl Kind {
    fn of(path: &str) -> Self {
        let Some(call) = path.strip_prefix("/banqi.v1.") else { return Self::Free };
        match call.split_once('/').map_or("", |(_, method)| method) {
            // A poll waits for news, like a watch.
            "WatchGame" | "WatchPlayer" | "StreamLifecycle" | "PollGame" => Self::Stream,
            _ => Self::Call,
        }
    }
}

/// Lets in as many calls and streams as there are places for. Clones share the places, and tell
/// how many are taken.
#[derive(Clone, Debug)]
pub(in crate::server) struct AdmissionLayer {
    load: Load,
    calls: Arc<Semaphore>,
    streams: Arc<Semaphore>,
}

impl AdmissionLayer {
    /// So many places, for all connections together.
    pub(in crate::server) fn new(load: Load) -> Self {
        let places =
            |count: u32| Arc::new(Semaphore::new(usize::try_from(count).expect("32 bits or more")));
        Self { load, calls: places(load.calls.get()), streams: places(load.streams.get()) }
    }
}

impl Collector for AdmissionLayer {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let kinds = [
            ("call", self.load.calls.get(), &self.calls),
            ("stream", self.load.streams.get(), &self.streams),
        ];
        let mut tell = |name, help, value: &dyn Fn(u32, &Semaphore) -> i64| {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for (kind, limit, places) in kinds {
                let gauge = ConstGauge::new(value(limit, places));
                gauge.encode(metric.encode_family(&[("kind", kind)])?)?;
            }
            Ok(())
        };
        tell("banqi_places", "Calls and streams that may be open at once", &|limit, _| {
            limit.into()
        })?;
        tell("banqi_places_taken", "Calls and streams that are open", &|limit, places| {
            let free = i64::try_from(places.available_permits()).unwrap_or(i64::MAX);
            i64::from(limit) - free
        })
    }
}

impl<S> Layer<S> for AdmissionLayer {
    type Service = Admission<S>;

    fn layer(&self, inner: S) -> Admission<S> {
        Admission { inner, places: self.clone() }
    }
}

/// What [`AdmissionLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(in crate::server) struct Admission<S> {
    inner: S,
    places: AdmissionLayer,
}

impl<S> Service<Request<Body>> for Admission<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Admitted<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let kind = Kind::of(request.uri().path());
        let places = match kind {
            Kind::Call => &self.places.calls,
            Kind::Stream => &self.places.streams,
            Kind::Free => return Admitted::Free { answer: self.inner.call(request) },
        };
        let Some(place) = Place::take(places) else { return Admitted::Refused };
        let request = match request.body().is_end_stream() {
            true => request,
            false => request.map(|body| Body::new(Arriving::new(body, place.clone()))),
        };
        Admitted::Held { answer: self.inner.call(request), place, lasts: kind == Kind::Stream }
    }
}

pin_project! {
    /// The answer to a call that was let in, or the refusal.
    #[project = AdmittedProjection]
    pub(in crate::server) enum Admitted<F> {
        Free { #[pin] answer: F },
        Held { #[pin] answer: F, place: Place, lasts: bool },
        Refused,
    }
}

impl<F, E> Future for Admitted<F>
where
    F: Future<Output = Result<Response<Body>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            AdmittedProjection::Free { answer } => answer.poll(context),
            AdmittedProjection::Held { answer, place, lasts } => {
                let response = ready!(answer.poll(context))?;
                Poll::Ready(Ok(if *lasts {
                    let place = place.clone();
                    response.map(|body| Body::new(Holding { body, place }))
                } else {
                    // A call's place is free as soon as its answer is there to be sent.
                    place.leave();
                    response
                }))
            }
            AdmittedProjection::Refused => Poll::Ready(Ok(refusal().into_http())),
        }
    }
}

pub(super) fn refusal() -> Status {
    ApiError::new(
        Reason::Overloaded,
        "the replica has as many calls or streams as it takes on at once: come back a little \
         later, or call another replica",
    )
    .to_be_retried_after(COME_BACK.mul_f64(0.5 + rand::random::<f64>()))
    .into()
}

pin_project! {
    /// A body that holds a place until it has been sent, or nobody reads it any more.
    struct Holding {
        #[pin]
        body: Body,
        place: Place,
    }
}

impl http_body::Body for Holding {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.project().body.poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rstest::rstest;
    use tokio::sync::Notify;
    use tonic_types::StatusExt as _;
    use tower::{ServiceBuilder, service_fn};

    use super::*;

    #[rstest]
    #[case("/banqi.v1.GameService/PlayAction", Kind::Call)]
    #[case("/banqi.v1.GameService/WatchGame", Kind::Stream)]
    #[case("/banqi.v1.GameService/PollGame", Kind::Stream)]
    #[case("/banqi.v1.PlatformService/StreamLifecycle", Kind::Stream)]
    #[case("/banqi.v1.RulesService/ReplayGame", Kind::Call)]
    #[case("/grpc.health.v1.Health/Watch", Kind::Free)]
    #[case("/", Kind::Free)]
    fn every_path_is_of_a_kind(#[case] path: &str, #[case] kind: Kind) {
        assert_eq!(Kind::of(path), kind);
    }

    const CALL: &str = "/banqi.v1.GameService/GetGame";
    const STREAM: &str = "/banqi.v1.GameService/WatchGame";
    const HEALTH: &str = "/grpc.health.v1.Health/Check";

    /// A service with a place for one call and one for one stream, that answers once told to.
    fn service(
        go: Arc<Notify>,
    ) -> impl Service<Request<Body>, Response = Response<Body>, Error = Infallible> {
        let one = 1.try_into().expect("not zero");
        let answer = service_fn(move |_: Request<Body>| {
            let go = Arc::clone(&go);
            async move {
                go.notified().await;
                Ok(Response::new(Body::new("an answer".to_owned())))
            }
        });
        ServiceBuilder::new()
            .layer(AdmissionLayer::new(Load { calls: one, streams: one }))
            .service(answer)
    }

    fn to(path: &str) -> Request<Body> {
        Request::builder().uri(path).body(Body::empty()).expect("a request")
    }

    fn is_refused(response: &Response<Body>) -> bool {
        let Some(status) = Status::from_header_map(response.headers()) else { return false };
        let details = status.get_error_details();
        let reason = details.error_info().map(|info| info.reason.as_str());
        let delay = details.retry_info().and_then(|info| info.retry_delay);
        assert_eq!(reason, Some("OVERLOADED"));
        assert!(delay.is_some_and(|delay| delay > Duration::ZERO), "{delay:?}");
        true
    }

    #[tokio::test]
    async fn what_is_over_is_refused_at_once_and_health_is_not() {
        let go = Arc::new(Notify::new());
        let mut service = service(Arc::clone(&go));
        let (first, second) = (service.call(to(CALL)), service.call(to(CALL)));
        let watch = service.call(to(STREAM));
        assert!(is_refused(&second.await.expect("an answer")));
        let health = service.call(to(HEALTH));
        for waiting in [first, watch, health] {
            go.notify_one();
            assert!(!is_refused(&waiting.await.expect("an answer")));
        }
    }

    #[tokio::test]
    async fn a_call_gives_its_place_back_when_answered_and_a_stream_when_it_is_over() {
        let go = Arc::new(Notify::new());
        let mut service = service(Arc::clone(&go));
        for path in [CALL, STREAM] {
            go.notify_one();
            let answer = service.call(to(path)).await.expect("an answer");
            go.notify_one();
            let next = service.call(to(path)).await.expect("an answer");
            assert_eq!(is_refused(&next), path == STREAM);
            drop((answer, next));
            go.notify_one();
            let next = service.call(to(path)).await.expect("an answer");
            assert!(!is_refused(&next), "{path}");
        }
    }

    #[tokio::test]
    async fn a_caller_who_has_gone_holds_nothing() {
        let mut service = service(Arc::default());
        drop(service.call(to(CALL)));
        assert_eq!(
            futures_util::poll!(Box::pin(service.call(to(CALL)))).map(|_| ()),
            Poll::Pending
        );
    }
}
