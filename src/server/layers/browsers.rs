//! What only browsers need, kept from calls that no browser makes.

use std::task::{Context, Poll, ready};

use futures_util::future::Either;
use http::{Request, Version, header};
use tower::Service;

use super::only_grpc::is_grpc;

/// Sends a call that no browser can have made by `native`, and any other by `browser`, which adds
/// what browsers need. Most calls are of the first kind.
#[derive(Clone, Debug)]
pub(in crate::server) struct Browsers<N, B> {
    native: N,
    browser: B,
}

impl<N, B> Browsers<N, B> {
    /// Two ways to the same service.
    pub(in crate::server) fn new(native: N, browser: B) -> Self {
        Self { native, browser }
    }
}

impl<N, B, R> Service<Request<R>> for Browsers<N, B>
where
    N: Service<Request<R>>,
    B: Service<Request<R>, Response = N::Response, Error = N::Error>,
{
    type Response = N::Response;
    type Error = N::Error;
    type Future = Either<N::Future, B::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), N::Error>> {
        ready!(self.native.poll_ready(context))?;
        self.browser.poll_ready(context)
    }

    fn call(&mut self, request: Request<R>) -> Self::Future {
        if is_native(&request) {
            Either::Left(self.native.call(request))
        } else {
            Either::Right(self.browser.call(request))
        }
    }
}

/// Whether this is gRPC proper, which a page cannot speak: over HTTP/2, with its own content type,
/// and without the `Origin` that browsers add.
fn is_native<R>(request: &Request<R>) -> bool {
    let is_http2 = request.version() == Version::HTTP_2;
    is_http2 && is_grpc(request.headers()) && !request.headers().contains_key(header::ORIGIN)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(Version::HTTP_2, "application/grpc", false, true)]
    #[case(Version::HTTP_2, "application/grpc+proto", false, true)]
    #[case(Version::HTTP_2, "application/grpc", true, false)]
    #[case(Version::HTTP_11, "application/grpc", false, false)]
    #[case(Version::HTTP_2, "application/grpc-web+proto", false, false)]
    #[case(Version::HTTP_2, "text/html", false, false)]
    fn only_what_no_browser_sends_is_native(
        #[case] version: Version,
        #[case] content: &str,
        #[case] origin: bool,
        #[case] expected: bool,
    ) {
        let mut request = Request::builder().version(version).header("content-type", content);
        if origin {
            request = request.header("origin", "https://play.example");
        }
        assert_eq!(is_native(&request.body(()).expect("a request")), expected);
    }
}
