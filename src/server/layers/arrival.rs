//! Requests that come slowly, or not at all: they take no place from those that are there.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::body::Body;

use super::admission::refusal;
use crate::api::error::{ApiError, Reason};

/// How long the rest of a request may take that did not come together with its beginning.
const ARRIVAL: Duration = Duration::from_secs(20);

/// A place among so many, which can be given up while there is nothing to do in it.
#[derive(Clone, Debug)]
pub(super) struct Place(Arc<Held>);

#[derive(Debug)]
struct Held {
    places: Arc<Semaphore>,
    permit: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Place {
    /// One of these places, if one is free.
    pub(super) fn take(places: &Arc<Semaphore>) -> Option<Self> {
        let permit = Arc::clone(places).try_acquire_owned().ok()?;
        Some(Self(Arc::new(Held { places: Arc::clone(places), permit: Mutex::new(Some(permit)) })))
    }

    /// Lets others have it.
    pub(super) fn leave(&self) {
        self.permit().take();
    }

    /// Takes a place again if it was left; answers whether there is one.
    fn come_back(&self) -> bool {
        let mut permit = self.permit();
        if permit.is_none() {
            *permit = Arc::clone(&self.0.places).try_acquire_owned().ok();
        }
        permit.is_some()
    }

    fn permit(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        // A permit is there or not, whoever panicked.
        self.0.permit.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pin_project! {
    /// The body of a request, whose call has no place while the body is waited for, and for which
    /// nobody waits long.
    pub(super) struct Arriving {
        #[pin]
        body: Body,
        place: Place,
        // Set only where there is something to wait for.
        #[pin]
        limit: Option<Sleep>,
    }
}

impl Arriving {
    /// The body of a call that has this place.
    pub(super) fn new(body: Body, place: Place) -> Self {
        Self { body, place, limit: None }
    }
}

impl http_body::Body for Arriving {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut this = self.project();
        if let Poll::Ready(frame) = this.body.poll_frame(context) {
            return Poll::Ready(if this.place.come_back() { frame } else { Some(Err(refusal())) });
        }
        this.place.leave();
        if this.limit.is_none() {
            this.limit.set(Some(sleep(ARRIVAL)));
        }
        if let Some(limit) = this.limit.as_pin_mut() {
            ready!(limit.poll(context));
        }
        Poll::Ready(Some(Err(late())))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn late() -> Status {
    let seconds = ARRIVAL.as_secs();
    ApiError::new(
        Reason::DeadlineExceeded,
        format!("the request has not arrived within {seconds} s: send it whole, and close it"),
    )
    .into()
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures_util::poll;
    use http_body::Body as _;
    use tonic::Code;

    use super::*;

    /// A body of one part, after which nothing comes, and no end either.
    struct Endless(Option<&'static str>);

    impl http_body::Body for Endless {
        type Data = Bytes;
        type Error = Status;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
            match self.0.take() {
                Some(part) => Poll::Ready(Some(Ok(Frame::data(part.into())))),
                None => Poll::Pending,
            }
        }
    }

    fn arriving(place: Place) -> Pin<Box<Arriving>> {
        Box::pin(Arriving::new(Body::new(Endless(Some("half"))), place))
    }

    async fn frame(body: &mut Pin<Box<Arriving>>) -> Result<Frame<Bytes>, Status> {
        poll_fn(|context| body.as_mut().poll_frame(context)).await.expect("no end")
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_does_not_come_has_no_place_and_ends() {
        let places = Arc::new(Semaphore::new(1));
        let place = Place::take(&places).expect("a place");
        assert!(Place::take(&places).is_none());
        let mut body = arriving(place);
        frame(&mut body).await.expect("data");
        assert_eq!(places.available_permits(), 0);
        assert!(poll!(Box::pin(frame(&mut body))).is_pending());
        assert_eq!(places.available_permits(), 1);
        let status = frame(&mut body).await.expect_err("too late");
        assert_eq!(status.code(), Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn a_request_that_comes_late_needs_a_place_again() {
        let places = Arc::new(Semaphore::new(1));
        for is_free in [true, false] {
            let place = Place::take(&places).expect("a place");
            place.leave();
            let other = (!is_free).then(|| Place::take(&places).expect("a place"));
            let mut body = arriving(place);
            match frame(&mut body).await {
                Ok(_) => assert!(is_free),
                Err(status) => {
                    assert_eq!((is_free, status.code()), (false, Code::ResourceExhausted))
                }
            }
            drop((other, body));
            assert_eq!(places.available_permits(), 1);
        }
    }
}
