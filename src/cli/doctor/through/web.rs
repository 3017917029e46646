//! gRPC-Web as a browser speaks it, over HTTP/1.1.

use std::io;

use http::HeaderMap;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::PRESETS;
use super::url::Url;
use super::wire::{Connection, PATIENCE, framed};

/// The largest answer that is read, in bytes.
const MOST: u64 = 1024 * 1024;

/// Calls a method, and answers what came back as text.
pub(super) async fn call(
    mut connection: Box<dyn Connection>,
    url: &Url,
    metadata: &HeaderMap,
) -> io::Result<String> {
    let body = framed(&[]);
    let mut head = format!(
        "POST /{PRESETS} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/grpc-web+proto\r\n\
         x-grpc-web: 1\r\nconnection: close\r\ncontent-length: {}\r\n",
        url.authority(),
        body.len()
    );
    for (name, value) in metadata {
        let value = value.to_str().map_err(io::Error::other)?;
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let exchange = async {
        connection.write_all(head.as_bytes()).await?;
        connection.write_all(&body).await?;
        let mut answer = Vec::new();
        let read = connection.take(MOST).read_to_end(&mut answer).await;
        // Over TLS not everybody says that he closes.
        match read {
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
            _ => Ok(String::from_utf8_lossy(&answer).into_owned()),
        }
    };
    timeout(PATIENCE, exchange).await?
}

/// Whether an answer is one of gRPC-Web, and of success.
pub(super) fn is_answered(answer: &str) -> bool {
    let spaceless = answer.to_ascii_lowercase().replace(": ", ":");
    spaceless.starts_with("http/1.1 200") && spaceless.contains("grpc-status:0")
}
