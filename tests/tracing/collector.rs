//! A collector that keeps what it is sent, and tells it in the order in which it came.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

use crate::support::PATIENCE;
use crate::support::authority::Identity;

/// A collector that runs until the test ends.
#[derive(Clone)]
pub(crate) struct Collector {
    address: SocketAddr,
    received: Arc<Mutex<Vec<ExportTraceServiceRequest>>>,
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.received.lock().expect("not poisoned").push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Starts one on a free port.
    pub(crate) async fn start() -> Self {
        Self::start_on(Server::builder()).await
    }

    /// Starts one with TLS.
    pub(crate) async fn start_secured(identity: &Identity) -> Self {
        let identity = tonic::transport::Identity::from_pem(&identity.certificate, &identity.key);
        let tls = ServerTlsConfig::new().identity(identity);
        Self::start_on(Server::builder().tls_config(tls).expect("an identity")).await
    }

    async fn start_on(mut server: Server) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let collector = Self { address, received: Arc::default() };
        let service = TraceServiceServer::new(collector.clone());
        let incoming = TcpIncoming::from(listener);
        tokio::spawn(server.add_service(service).serve_with_incoming(incoming));
        collector
    }

    /// Its port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Its address, as the option of the service that names it.
    pub(crate) fn option(&self) -> String {
        format!("--otlp-endpoint=http://{}", self.address)
    }

    /// All spans that it has received.
    pub(crate) fn spans(&self) -> Vec<Span> {
        let received = self.received.lock().expect("not poisoned");
        let resources = received.iter().flat_map(|request| &request.resource_spans);
        resources
            .flat_map(|resource| &resource.scope_spans)
            .flat_map(|scope| scope.spans.clone())
            .collect()
    }

    /// The attributes of the process whose spans came first.
    pub(crate) fn resource(&self) -> Vec<KeyValue> {
        let received = self.received.lock().expect("not poisoned");
        let resource = received[0].resource_spans[0].resource.clone();
        resource.expect("a resource").attributes
    }

    /// All that it has received, as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let received = self.received.lock().expect("not poisoned");
        received.iter().flat_map(|request| request.encode_to_vec()).collect()
    }

    /// The first span of this name in this trace, as soon as it is there.
    pub(crate) async fn span(&self, trace: u128, name: &str) -> Span {
        let found = timeout(PATIENCE, async {
            loop {
                let span = self.spans().into_iter().find(|span| {
                    span.trace_id == trace.to_be_bytes() && span.name.as_str() == name
                });
                if let Some(span) = span {
                    return span;
                }
                sleep(Duration::from_millis(10)).await;
            }
        });
        let found = found.await;
        found.unwrap_or_else(|_| panic!("no span {name} in {trace:032x}: {:?}", self.spans()))
    }

    /// The spans below this one that are there.
    pub(crate) fn children(&self, parent: &Span) -> Vec<Span> {
        let is_child = |span: &Span| span.parent_span_id == parent.span_id;
        self.spans().into_iter().filter(is_child).collect()
    }
}

/// An attribute as text, whatever it is.
pub(crate) fn attribute(attributes: &[KeyValue], key: &str) -> Option<String> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.clone()? {
        AnyValue { value: Some(any_value::Value::StringValue(text)) } => Some(text),
        AnyValue { value: Some(any_value::Value::IntValue(number)) } => Some(number.to_string()),
        other => panic!("{key} is {other:?}"),
    }
}
