//! The running server: health, reflection, browsers, deadlines, stopping.

mod support;

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::server::{Config, Stopped};
use prost::Message as _;
use rstest::rstest;
use support::{PATIENCE, TestServer, exchange, read_all, refusal, web_call};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tonic::{Code, Request};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

const SERVICE: &str = "banqi.v1.RulesService";

async fn probe(server: &TestServer, path: &str) -> String {
    let request =
        format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", server.http);
    exchange(server.http, request.as_bytes()).await
}

/// Waits until the server says that it wants no more calls.
async fn until_not_ready(server: &TestServer) {
    let poll = async {
        while !probe(server, "/readyz").await.starts_with("HTTP/1.1 503") {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, poll).await.expect("readiness goes off");
}

#[rstest]
#[case::liveness("")]
#[case::readiness(SERVICE)]
#[tokio::test]
async fn health_is_told(#[case] service: &str) {
    let server = TestServer::start().await;
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = HealthClient::new(server.channel().await).check(request).await.expect("a status");
    assert_eq!(answer.into_inner().status(), ServingStatus::Serving);
}

#[tokio::test]
async fn the_health_of_a_service_that_is_not_served_is_an_error() {
    let server = TestServer::start().await;
    let request = HealthCheckRequest { service: "chess".to_owned() };
    let status = HealthClient::new(server.channel().await).check(request).await.expect_err("none");
    let (code, reason, _) = refusal(&status);
    assert_eq!((code, reason.as_str()), (Code::NotFound, "SERVICE_NOT_FOUND"));
}

#[tokio::test]
async fn probes_answer_over_http() {
    let server = TestServer::start().await;
    assert!(probe(&server, "/livez").await.starts_with("HTTP/1.1 200"));
    assert!(probe(&server, "/readyz").await.starts_with("HTTP/1.1 200"));
}

/// Checks that reflection of one version lists the services and describes one.
macro_rules! reflection {
    ($test:ident, $version:ident) => {
        #[tokio::test]
        async fn $test() {
            use tonic_reflection::pb::$version::ServerReflectionRequest;
            use tonic_reflection::pb::$version::server_reflection_client::ServerReflectionClient;
            use tonic_reflection::pb::$version::server_reflection_request::MessageRequest;
            use tonic_reflection::pb::$version::server_reflection_response::MessageResponse;

            let server = TestServer::start().await;
            let mut client = ServerReflectionClient::new(server.channel().await);
            let ask = |message| ServerReflectionRequest {
                host: String::new(),
                message_request: Some(message),
            };
            let questions = [
                ask(MessageRequest::ListServices(String::new())),
                ask(MessageRequest::FileContainingSymbol(SERVICE.to_owned())),
            ];
            let answers = client.server_reflection_info(tokio_stream::iter(questions)).await;
            let mut answers = answers.expect("a stream").into_inner();

            let first = answers.message().await.expect("an answer").expect("an answer");
            let Some(MessageResponse::ListServicesResponse(listed)) = first.message_response else {
                panic!("{first:?}");
            };
            let names: Vec<_> = listed.service.into_iter().map(|service| service.name).collect();
            assert!(names.iter().any(|name| name == SERVICE), "{names:?}");
            assert!(names.iter().any(|name| name == "grpc.health.v1.Health"), "{names:?}");

            let second = answers.message().await.expect("an answer").expect("an answer");
            let Some(MessageResponse::FileDescriptorResponse(file)) = second.message_response
            else {
                panic!("{second:?}");
            };
            let descriptor = &file.file_descriptor_proto[0];
            let descriptor = prost_types::FileDescriptorProto::decode(&descriptor[..]);
            assert_eq!(descriptor.expect("a descriptor").package(), "banqi.v1");
        }
    };
}

reflection!(reflection_v1_describes_the_services, v1);
reflection!(reflection_v1alpha_describes_the_services, v1alpha);

#[tokio::test]
async fn an_unknown_method_is_told_as_such() {
    let server = TestServer::start().await;
    let mut client = tonic::client::Grpc::new(server.channel().await);
    client.ready().await.expect("ready");
    let path = http::uri::PathAndQuery::from_static("/banqi.v1.RulesService/Guess");
    let codec = tonic_prost::ProstCodec::<v1::ListPresetsRequest, v1::ListPresetsResponse>::new();
    let request = Request::new(v1::ListPresetsRequest {});
    let status = client.unary(request, path, codec).await.expect_err("no such method");
    let (code, reason, _) = refusal(&status);
    assert_eq!((code, reason.as_str()), (Code::Unimplemented, "UNIMPLEMENTED"));
}

#[tokio::test]
async fn a_browser_calls_over_http_1() {
    let server = TestServer::start().await;
    let request = v1::CheckRuleSetRequest { preset: "TCGA".to_owned(), rules: None };
    let (head, body) = web_call(server.grpc, "CheckRuleSet", "", &request.encode_to_vec());
    let answer = exchange(server.grpc, &[head.as_bytes(), &body].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("content-type: application/grpc-web+proto"), "{answer}");
    assert!(answer.contains("KAERHCP"), "{answer}");
    assert!(answer.contains("grpc-status:0"), "{answer}");
}

#[tokio::test]
async fn a_browser_is_told_of_a_message_that_is_none() {
    let server = TestServer::start().await;
    let (head, body) = web_call(server.grpc, "CheckRuleSet", "", &[0xff; 7]);
    let answer = exchange(server.grpc, &[head.as_bytes(), &body].concat()).await;
    assert!(answer.contains("grpc-status: 3"), "{answer}");
    assert!(answer.contains("grpc-status-details-bin: "), "{answer}");
}

#[rstest]
#[case("!!!!")]
#[case("AAAAAA")]
#[tokio::test]
async fn text_that_is_no_base64_is_told_as_malformed(#[case] body: &str) {
    let server = TestServer::start().await;
    let request = format!(
        "POST /banqi.v1.RulesService/ListPresets HTTP/1.1\r\nhost: {}\r\n\
         content-type: application/grpc-web-text\r\nx-grpc-web: 1\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        server.grpc,
        body.len()
    );
    let answer = exchange(server.grpc, request.as_bytes()).await;
    assert!(answer.contains("grpc-status: 3"), "{answer}");
}

async fn preflight(server: &TestServer, origin: &str) -> String {
    let request = format!(
        "OPTIONS /banqi.v1.RulesService/ListPresets HTTP/1.1\r\nhost: {}\r\norigin: {origin}\r\n\
         access-control-request-method: POST\r\n\
         access-control-request-headers: content-type,x-grpc-web,authorization\r\n\
         connection: close\r\n\r\n",
        server.grpc
    );
    exchange(server.grpc, request.as_bytes()).await.to_lowercase()
}

#[tokio::test]
async fn pages_of_its_own_origin_and_of_configured_ones_may_call() {
    let origins = vec!["https://play.example".parse().expect("an origin")];
    let server = TestServer::with(Config { cors_origins: origins, ..Config::default() }).await;
    for origin in [format!("http://{}", server.grpc), "https://play.example".to_owned()] {
        let answer = preflight(&server, &origin).await;
        assert!(answer.contains(&format!("access-control-allow-origin: {origin}")), "{answer}");
        assert!(answer.contains("authorization"), "{answer}");

        let request = v1::ListPresetsRequest {}.encode_to_vec();
        let more = format!("origin: {origin}\r\n");
        let (head, body) = web_call(server.grpc, "ListPresets", &more, &request);
        let answer = exchange(server.grpc, &[head.as_bytes(), &body].concat()).await;
        let exposed = answer
            .lines()
            .find_map(|line| line.strip_prefix("access-control-expose-headers: "))
            .unwrap_or_else(|| panic!("{answer}"));
        assert_eq!(exposed, "grpc-status,grpc-message,grpc-status-details-bin");
    }
}

#[tokio::test]
async fn pages_of_other_origins_may_not_call() {
    let server = TestServer::start().await;
    let answer = preflight(&server, "https://elsewhere.example").await;
    assert!(!answer.contains("access-control-allow-origin"), "{answer}");
}

#[tokio::test]
async fn a_deadline_that_passes_is_told_as_such() {
    let server = TestServer::start().await;
    let request = v1::ListPresetsRequest {}.encode_to_vec();
    let (head, _) = web_call(server.grpc, "ListPresets", "grpc-timeout: 50m\r\n", &request);
    // The body never comes, so the call waits.
    let answer = exchange(server.grpc, head.as_bytes()).await;
    assert!(answer.contains("grpc-status: 4"), "{answer}");
}

#[tokio::test]
async fn stopping_tells_watchers_and_ends_their_streams() {
    let mut server = TestServer::start().await;
    let mut client = HealthClient::new(server.channel().await);
    let request = HealthCheckRequest { service: SERVICE.to_owned() };
    let mut watch = client.watch(request).await.expect("a stream").into_inner();
    let first = watch.message().await.expect("a status").expect("a status");
    assert_eq!(first.status(), ServingStatus::Serving);

    server.ask_to_stop();
    let second = watch.message().await.expect("a status").expect("a status");
    assert_eq!(second.status(), ServingStatus::NotServing);
    let status = watch.message().await.expect_err("the stream ends");
    let (code, reason, _) = refusal(&status);
    assert_eq!((code, reason.as_str()), (Code::Unavailable, "SHUTTING_DOWN"));
    drop((client, watch));
    assert_eq!(server.stopped().await, Stopped::Finished);
}

/// Whether a line of the metrics tells of one poll that has begun.
fn is_first_poll(line: &str) -> bool {
    let of_polls = line.contains("grpc_method=\"PollGame\"") && line.ends_with(" 1");
    of_polls && line.starts_with("grpc_server_started_total")
}

#[tokio::test]
async fn stopping_tells_who_polls() {
    let mut server = TestServer::start().await;
    let mut games = GameServiceClient::new(server.channel().await);
    let created = games.create_game(v1::CreateGameRequest {
        preset: "TAIWANESE".to_owned(),
        ..Default::default()
    });
    let game = created.await.expect("created").into_inner().game.expect("a game");
    let request = v1::PollGameRequest {
        game_id: game.game_id,
        after_etag: game.etag,
        wait: Some(prost_types::Duration { seconds: 60, nanos: 0 }),
    };
    let poll = tokio::spawn(async move { games.poll_game(request).await });
    let begun = async {
        while !probe(&server, "/metrics").await.lines().any(is_first_poll) {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(PATIENCE, begun).await.expect("it polls");

    server.ask_to_stop();
    let status = poll.await.expect("no panic").expect_err("the poll ends");
    let (code, reason, details) = refusal(&status);
    assert_eq!((code, reason.as_str()), (Code::Unavailable, "SHUTTING_DOWN"));
    assert!(details.retry_info().is_some(), "{details:?}");
    assert_eq!(server.stopped().await, Stopped::Finished);
}

#[tokio::test]
async fn stopping_lets_calls_in_flight_finish() {
    let mut server = TestServer::start().await;
    let request = v1::CheckRuleSetRequest { preset: "TCGA".to_owned(), rules: None };
    let (head, body) = web_call(server.grpc, "CheckRuleSet", "", &request.encode_to_vec());
    let mut connection = TcpStream::connect(server.grpc).await.expect("a connection");
    connection.write_all(head.as_bytes()).await.expect("sent");
    connection.write_all(&body[..3]).await.expect("sent");
    // A call on a second connection is answered after the first one was taken up.
    server.rules().await.list_presets(v1::ListPresetsRequest {}).await.expect("presets");

    server.ask_to_stop();
    until_not_ready(&server).await;
    connection.write_all(&body[3..]).await.expect("sent");
    let answer = read_all(&mut connection).await;
    assert!(answer.contains("grpc-status:0"), "{answer}");
    assert_eq!(server.stopped().await, Stopped::Finished);
}

#[tokio::test]
async fn stopping_does_not_wait_for_ever() {
    let config = Config { stop_grace: Duration::from_millis(100), ..Config::default() };
    let mut server = TestServer::with(config).await;
    let (head, _) = web_call(server.grpc, "ListPresets", "", &[]);
    let mut connection = TcpStream::connect(server.grpc).await.expect("a connection");
    connection.write_all(head.as_bytes()).await.expect("sent");
    // As above: the half-sent call has been taken up.
    server.rules().await.list_presets(v1::ListPresetsRequest {}).await.expect("presets");

    server.ask_to_stop();
    let stopped = timeout(PATIENCE, server.stopped()).await.expect("within its bound");
    assert_eq!(stopped, Stopped::CutOff);
}

#[tokio::test]
async fn no_connection_is_accepted_after_stopping() {
    let mut server = TestServer::start().await;
    let address = server.grpc;
    server.ask_to_stop();
    assert_eq!(server.stopped().await, Stopped::Finished);
    TcpStream::connect(address).await.expect_err("nobody listens");
}

#[tokio::test]
async fn readiness_goes_off_while_calls_are_still_taken() {
    let config = Config { stop_delay: PATIENCE, ..Config::default() };
    let mut server = TestServer::with(config).await;
    server.ask_to_stop();
    until_not_ready(&server).await;
    assert!(probe(&server, "/livez").await.starts_with("HTTP/1.1 200"));
    server.rules().await.list_presets(v1::ListPresetsRequest {}).await.expect("presets");
}
