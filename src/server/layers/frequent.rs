//! The calls that come most often, sent the shortest way.

use std::task::{Context, Poll, ready};

use futures_util::future::Either;
use http::Request;
use tower::Service;

/// The calls of which a game in progress is made up, each with an answer of one message.
const FREQUENT: [&str; 2] = ["/banqi.v1.GameService/PlayAction", "/banqi.v1.GameService/GetGame"];

/// Sends the most frequent calls straight to the service that has them, and any other by the
/// router, with what only streams need. Either way leads to the same handlers.
#[derive(Clone, Debug)]
pub(in crate::server) struct Frequent<F, O> {
    frequent: F,
    other: O,
}

impl<F, O> Frequent<F, O> {
    /// Two ways to the same handlers.
    pub(in crate::server) fn new(frequent: F, other: O) -> Self {
        Self { frequent, other }
    }
}

impl<F, O, B> Service<Request<B>> for Frequent<F, O>
where
    F: Service<Request<B>>,
    O: Service<Request<B>, Response = F::Response, Error = F::Error>,
{
    type Response = F::Response;
    type Error = F::Error;
    type Future = Either<F::Future, O::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), F::Error>> {
        ready!(self.frequent.poll_ready(context))?;
        self.other.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if FREQUENT.contains(&request.uri().path()) {
            Either::Left(self.frequent.call(request))
        } else {
            Either::Right(self.other.call(request))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::methods::Method;

    #[test]
    fn frequent_calls_exist_and_are_no_streams() {
        let methods = Method::all();
        for path in FREQUENT {
            let method = methods.iter().find(|method| method.path() == path).expect(path);
            assert!(!method.is_streaming, "{path}");
        }
    }
}
