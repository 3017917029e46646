//! Which web pages may call.

use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Uri, header};
use tower_http::cors::{AllowHeaders, AllowOrigin, CorsLayer};

use crate::server::CorsOrigin;

/// What a page must be let read to learn how its call ended.
const EXPOSED: [HeaderName; 3] = [
    HeaderName::from_static("grpc-status"),
    HeaderName::from_static("grpc-message"),
    HeaderName::from_static("grpc-status-details-bin"),
];

/// Lets pages of the service's own origin call, and those of the given ones.
pub(in crate::server) fn cors(origins: &[CorsOrigin]) -> CorsLayer {
    let allowed = origins.to_vec();
    CorsLayer::new()
        .allow_origin(AllowOrigin::predicate(move |origin, request| {
            is_own(origin, request)
                || allowed.iter().any(|allowed| match allowed {
                    CorsOrigin::Any => true,
                    CorsOrigin::Exact(exact) => exact == origin,
                })
        }))
        .allow_methods([Method::POST])
        // Metadata is headers, and any may be sent: nothing is granted by a header alone, since
        // no credential is sent that the page does not know itself.
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(EXPOSED)
}

/// Whether a page comes from the very host and port that it calls.
fn is_own(origin: &HeaderValue, request: &Parts) -> bool {
    let origin = origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok());
    let Some(origin) = origin.as_ref().and_then(Uri::authority) else { return false };
    let host = request.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    host.or_else(|| request.uri.authority().map(http::uri::Authority::as_str))
        .is_some_and(|host| origin.as_str().eq_ignore_ascii_case(host))
}
