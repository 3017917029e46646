//! Replicas on one Redis behind HAProxy, Envoy and nginx, with the configurations of `deploy/`.

mod balancer;
mod deployment;
mod network;
#[path = "../support/mod.rs"]
mod support;

use balancer::{Balancer, Kind};
use banqi::api::proto::v1;
use banqi::api::proto::v1::rules_service_client::RulesServiceClient;
use deployment::{Deployment, Happening};
use network::Network;
use prost::Message as _;
use rstest::rstest;
use support::{exchange, web_call};
use tonic::Code;
use tonic::transport::Endpoint;

/// Games at once in the longest of these tests, unless `BANQI_BALANCER_GAMES` says otherwise.
const GAMES: usize = 50;

#[rstest]
#[case::haproxy(Kind::HaProxy)]
#[case::envoy(Kind::Envoy)]
#[case::nginx(Kind::Nginx)]
fn games_go_on_when_a_replica_is_told_to_stop(#[case] kind: Kind) {
    Deployment::start(kind).play(5, &[Happening::Stop]);
}

#[rstest]
#[case::haproxy(Kind::HaProxy)]
#[case::envoy(Kind::Envoy)]
#[case::nginx(Kind::Nginx)]
fn games_go_on_when_replicas_die_are_added_and_restart(#[case] kind: Kind) {
    let games = std::env::var("BANQI_BALANCER_GAMES")
        .map_or(GAMES, |games| games.parse().expect("BANQI_BALANCER_GAMES: a number of games"));
    Deployment::start(kind).play(games, &[Happening::Kill, Happening::Scale, Happening::Roll]);
}

#[rstest]
#[case::haproxy(Kind::HaProxy)]
#[case::envoy(Kind::Envoy)]
#[case::nginx(Kind::Nginx)]
#[tokio::test]
async fn a_browser_calls_through_the_balancer(#[case] kind: Kind) {
    let deployment = Deployment::start(kind);
    let request = v1::CheckRuleSetRequest { preset: "TCGA".to_owned(), rules: None };
    let address = kind.web(deployment.network);
    let (head, body) = web_call(address, "CheckRuleSet", "", &request.encode_to_vec());
    let answer = exchange(address, &[head.as_bytes(), &body].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("KAERHCP"), "{answer}");
    assert!(answer.contains("grpc-status:0"), "{answer}");

    let page = format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    let page = exchange(address, page.as_bytes()).await;
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("app.js"), "{page}");
}

#[rstest]
#[case::haproxy(Kind::HaProxy)]
#[case::envoy(Kind::Envoy)]
#[case::nginx(Kind::Nginx)]
#[tokio::test]
async fn a_deadline_reaches_the_replica(#[case] kind: Kind) {
    let deployment = Deployment::start(kind);
    let address = kind.web(deployment.network);
    let request = v1::ListPresetsRequest {}.encode_to_vec();
    let (head, _) = web_call(address, "ListPresets", "grpc-timeout: 50m\r\n", &request);
    // The body never comes, so the call waits; the answer can only be the replica's.
    let answer = exchange(address, head.as_bytes()).await;
    assert!(answer.contains("grpc-status: 4"), "{answer}");
}

#[rstest]
#[case::haproxy(Kind::HaProxy)]
#[case::envoy(Kind::Envoy)]
#[case::nginx(Kind::Nginx)]
#[tokio::test]
async fn without_a_replica_a_call_is_unavailable(#[case] kind: Kind) {
    let network = Network::new();
    let _balancer = Balancer::start(kind, network, 2, 2);
    let endpoint = Endpoint::from_shared(format!("http://{}", network.balancer())).expect("a URI");
    let channel = endpoint.connect().await.expect("a connection");
    let answer = RulesServiceClient::new(channel).list_presets(v1::ListPresetsRequest {}).await;
    let status = answer.expect_err("nobody answers");
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
}
