//! Calls of any bytes, over `h2` alone.

use std::time::Duration;

use bytes::Bytes;
use h2::client::SendRequest;
use http::{HeaderMap, Request};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tonic::Status;

use super::messages::Method;

/// How long a stream is waited for that has begun well and has nothing to tell yet.
const QUIET: Duration = Duration::from_millis(25);

/// How long any answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// How a call went.
#[derive(Debug)]
pub(crate) enum Answer {
    /// It was served, or is a stream that goes on.
    Served,
    /// It was refused by the service.
    Refused(Status),
    /// It was no gRPC call, and was refused with this status of HTTP.
    Http(u16),
}

/// A connection to a service.
pub(crate) struct Client(SendRequest<Bytes>);

impl Client {
    pub(crate) async fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let (send, connection) = h2::client::handshake(stream).await.expect("HTTP/2");
        tokio::spawn(connection);
        Self(send)
    }

    /// Calls a method with a body as it is.
    pub(crate) async fn call(&self, method: &Method, content_type: &str, body: Vec<u8>) -> Answer {
        // There is no point in waiting long for what may have nothing to tell.
        let limit = if method.waits { "200m" } else { "10S" };
        timeout(PATIENCE, self.send(&method.path, limit, content_type, body))
            .await
            .unwrap_or_else(|_| panic!("{} was not answered", method.path))
    }

    async fn send(&self, path: &str, limit: &str, content_type: &str, body: Vec<u8>) -> Answer {
        let request = Request::post(format!("http://localhost{path}"))
            .header("content-type", content_type)
            .header("te", "trailers")
            .header("grpc-timeout", limit)
            .body(())
            .expect("a request");
        let mut ready = self.0.clone().ready().await.expect("the connection stands");
        let (response, mut stream) = ready.send_request(request, false).expect("sent");
        stream.send_data(body.into(), true).expect("sent");
        let response = response.await.expect("an answer, not a reset");
        if response.status() != 200 {
            return Answer::Http(response.status().as_u16());
        }
        if let Some(answer) = told(response.headers()) {
            return answer;
        }
        let mut body = response.into_body();
        loop {
            match timeout(QUIET, body.data()).await {
                Ok(None) => break,
                Ok(Some(data)) => {
                    let length = data.expect("no reset").len();
                    body.flow_control().release_capacity(length).expect("what was received");
                }
                Err(_) => return Answer::Served,
            }
        }
        let trailers = body.trailers().await.expect("no reset").expect("trailers");
        told(&trailers).unwrap_or_else(|| panic!("{path}: no status in {trailers:?}"))
    }
}

fn told(headers: &HeaderMap) -> Option<Answer> {
    let status = Status::from_header_map(headers)?;
    Some(if status.code() == tonic::Code::Ok { Answer::Served } else { Answer::Refused(status) })
}
