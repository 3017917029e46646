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

/// What a browser is shown where there is nothing.
const NOTHING: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<title>Banqi</title>
<h1>There is no such page</h1>
<p><a href=\"/\">Play Banqi</a></p>
</html>
";

/// Answers GET and HEAD, with the page's files or with 404; everything else goes on to the services, which
/// take POST alone.
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
        if !matches!(*request.method(), Method::GET | Method::HEAD) || is_grpc(request.headers()) {
            return Either::Left(self.inner.call(request));
        }
        Either::Right(ready(Ok(match files::find(request.uri().path()) {
            Some(file) => answer(file, &request),
            None => nothing(&request),
        })))
    }
}

/// Whether a client of gRPC asks, which understands no page.
fn is_grpc(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/grpc"))
}

fn nothing<B>(request: &Request<B>) -> Response<Body> {
    let mut response = Response::new(body(request.method(), NOTHING.as_bytes()));
    *response.status_mut() = StatusCode::NOT_FOUND;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    guard(headers);
    response
}

/// The whole body, which HEAD leaves out.
fn body(method: &Method, bytes: &'static [u8]) -> Body {
    if method == Method::HEAD {
        return Body::empty();
    }
    Body::new(axum::body::Body::from(Bytes::from_static(bytes)))
}

/// What every answer says of itself to browsers.
fn guard(headers: &mut HeaderMap) {
    // Asked for again each time, and answered in a line where nothing has changed.
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}

fn answer<B>(file: &File, request: &Request<B>) -> Response<Body> {
    let known = is_known(request.headers(), &file.etag);
    let bytes = if known { &[] } else { file.bytes };
    let mut response = Response::new(body(request.method(), bytes));
    if known {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    }
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(file.content_type));
    headers.insert(ETAG, file.etag.clone());
    guard(headers);
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
