//! A panic in a handler costs its call alone.

use std::any::Any;

use http::Response;
use tonic::Status;
use tonic::body::Body;
use tower_http::catch_panic::{CatchPanicLayer, ResponseForPanic};

use crate::api::error::ApiError;

/// Turns a panic into INTERNAL. What the panic says is logged and not told.
pub(in crate::server) fn catch_panics()
-> CatchPanicLayer<impl ResponseForPanic<ResponseBody = Body> + Copy> {
    CatchPanicLayer::custom(answer)
}

fn answer(panic: Box<dyn Any + Send + 'static>) -> Response<Body> {
    let said = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("(no text)");
    tracing::error!(said, "a handler panicked");
    let error = ApiError::fault();
    Status::from(error).into_http()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use http::Request;
    use tonic_types::StatusExt as _;
    use tower::{ServiceBuilder, ServiceExt as _, service_fn};

    use super::*;

    #[tokio::test]
    async fn a_panic_is_internal_and_not_told() {
        let service = ServiceBuilder::new().layer(catch_panics()).service(service_fn(
            async |_: Request<Body>| -> Result<Response<Body>, Infallible> {
                panic!("the secret is 42")
            },
        ));
        let response = service.oneshot(Request::new(Body::empty())).await.expect("an answer");
        let status = Status::from_header_map(response.headers()).expect("a status");
        assert_eq!(status.code(), tonic::Code::Internal);
        assert!(!status.message().contains("42"), "{}", status.message());
        let details = status.get_error_details();
        assert_eq!(details.error_info().map(|info| info.reason.as_str()), Some("INTERNAL"));
    }
}
