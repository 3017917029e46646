//! Ends open streams when the server stops.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::{Body as _, Frame, SizeHint};
use pin_project_lite::pin_project;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::Status;
use tonic::body::Body;

use crate::api::error::{ApiError, Reason};

/// Within what time the readers of all streams of a replica return, not all at once.
const RETURN_WITHIN: Duration = Duration::from_secs(1);

/// Ends every answer that has nothing more to send when the server stops. A stream without an end,
/// such as a health watch, would otherwise hold its connection open until the bound.
#[derive(Clone)]
pub(in crate::server) struct Drain(pub(in crate::server) CancellationToken);

impl Drain {
    /// Watches over the body of an answer.
    pub(in crate::server) fn watch(&self, response: Response<Body>) -> Response<Body> {
        if response.body().is_end_stream() {
            return response;
        }
        let token = self.0.clone();
        response.map(|body| Body::new(Draining { body, token, stopping: None, ended: false }))
    }
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
        let error = ApiError::new(Reason::ShuttingDown, "this replica is stopping: connect again")
            .to_be_retried_after(RETURN_WITHIN.mul_f64(rand::random()));
        let mut trailers = HeaderMap::new();
        Status::from(error).add_header(&mut trailers)?;
        Poll::Ready(Some(Ok(Frame::trailers(trailers))))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
