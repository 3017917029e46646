//! Errors that the libraries below tell without a reason, given one of the catalogue.

use tonic::codegen::http;
use tonic::{Code, Status};

use super::{ApiError, Reason};

/// Beginnings of what tonic and prost say of bytes that are no message of the expected type.
const MALFORMED: [&str; 5] = [
    "failed to decode Protobuf",
    "Missing request message",
    "Unexpected EOF",
    "protocol error",
    "tonic-web: ",
];

/// What is said, with any code, of a message that broke off with its connection or stream.
const BROKEN_OFF: &str = "error reading a body from connection";

/// Gives an answer that is an error without details the reason that fits.
pub fn complete<B>(mut response: http::Response<B>) -> http::Response<B> {
    // Answers that are no errors have their status in trailers, and so nothing to look at here.
    let headers = response.headers();
    if !headers.contains_key(Status::GRPC_STATUS)
        || headers.contains_key(Status::GRPC_STATUS_DETAILS)
    {
        return response;
    }
    let Some(status) = Status::from_header_map(headers).filter(|status| status.code() != Code::Ok)
    else {
        return response;
    };
    let completed = Status::from(explain(&status));
    if let Err(fault) = completed.add_header(response.headers_mut()) {
        tracing::error!(%fault, "could not write the status of an error");
    }
    response
}

fn explain(status: &Status) -> ApiError {
    let told = status.message();
    let reason = match status.code() {
        Code::OutOfRange if told.contains("message length too large") => Reason::MessageTooLarge,
        Code::Internal if MALFORMED.iter().any(|start| told.starts_with(start)) => {
            Reason::MalformedMessage
        }
        // Its sender has gone, or sent frames that are none, before the message was there.
        _ if told.contains(BROKEN_OFF) => Reason::MalformedMessage,
        Code::Unimplemented => Reason::Unimplemented,
        Code::NotFound => Reason::ServiceNotFound,
        Code::DeadlineExceeded => Reason::DeadlineExceeded,
        code => {
            tracing::error!(%code, told, "an error without a reason");
            return ApiError::fault();
        }
    };
    let message = if told.is_empty() { reason.meaning() } else { told };
    ApiError::new(reason, message)
}
