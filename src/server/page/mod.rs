//! The page for playing in a browser, built from `clients/web` on the public API alone.

mod files;

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::future::Either;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use tonic::body::Body;
use tower::{Layer, Service};

use files::File;

/// Nothing from elsewhere is loaded, asked or sent to, and no other page shows this one in a frame.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
);

/// Answers GET and HEAD of the page's files; everything else goes on to the services.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PageLayer;

impl<S> Layer<S> for PageLayer {
    type Service = Page<S>;

    fn layer(&self, inner: S) -> Page<S> {
        Page { inner }
    }
}

/// What [`PageLayer`] makes of a service.
#[derive(Clone, Debug)]
pub(super) struct Page<S> {
    inner: S,
}

impl<S, B> Service<Request<B>> for Page<S>
where
    S: Service<Request<B>, Response = Response<Body>>,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Ready<Result<Response<Body>, S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        match files::find(request.uri().path()).filter(|_| reads) {
            Some(file) => Either::Right(ready(Ok(answer(file, &request)))),
            None => Either::Left(self.inner.call(request)),
        }
    }
}

fn answer<B>(file: &File, request: &Request<B>) -> Response<Body> {
    let known = is_known(request.headers(), &file.etag);
    let body = if known || request.method() == Method::HEAD {
        Body::empty()
    } else {
        Body::new(axum::body::Body::from(Bytes::from_static(file.bytes)))
    };
    let mut response = Response::new(body);
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(ETAG, file.etag.clone());
    // Asked for again each time, and answered in a line where nothing has changed.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// Whether the browser has this version already.
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let known = headers.get_all(IF_NONE_MATCH).iter();
    known.flat_map(|list| list.as_bytes().split(|byte| *byte == b',')).any(|one| {
        let one = one.trim_ascii();
        one.strip_prefix(b"W/").unwrap_or(one) == etag.as_bytes()
    })
}
