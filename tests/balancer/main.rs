//! Two replicas on one Redis behind HAProxy, with the configuration of `deploy/`.

mod haproxy;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::rules_service_client::RulesServiceClient;
use haproxy::{Balancer, Target};
use prost::Message as _;
use rstest::rstest;
use support::python::{ROOT, environment};
use support::redis_server::RedisServer;
use support::replica::Replica;
use support::{exchange, web_call};
use tonic::Code;
use tonic::transport::Endpoint;

/// What is shipped in `deploy/`, on this machine's loopback. The balancer is first, and so the
/// first to end.
struct Deployment {
    balancer: Balancer,
    replicas: [Replica; 2],
    _redis: RedisServer,
}

impl Deployment {
    fn start() -> Self {
        let redis = RedisServer::start();
        let arguments = ["--store", &redis.url(), "--stop-delay=3"];
        let replicas = [(); 2].map(|()| Replica::start(&arguments));
        let targets = replicas.each_ref().map(|replica| Target {
            grpc: replica.address().parse().expect("an address"),
            http: replica.probes(),
        });
        Self { balancer: Balancer::start(targets), replicas, _redis: redis }
    }
}

/// Plays games while `halfway`, a shell command about the process of the first replica, runs.
#[rstest]
#[case::killed("kill -KILL $replica", &[])]
// It goes on for its delay, and nobody notices but the watchers.
#[case::told_to_stop("kill -TERM $replica", &["--no-repeats"])]
fn games_go_on_when_a_replica_is(#[case] halfway: &str, #[case] more: &[&str]) {
    let mut deployment = Deployment::start();
    let replica = &mut deployment.replicas[0];
    let mut client = Command::new(environment().join("bin/python"))
        .arg(Path::new(ROOT).join("deploy/check.py"))
        .args(["--games=5", "--seed=1", "--stops=banqi-1"])
        .arg(format!("--halfway={halfway} && tail -s 0.05 -f /dev/null --pid=$replica"))
        .args(more)
        .arg(deployment.balancer.address.to_string())
        .env("replica", replica.id().to_string())
        .spawn()
        .expect("python runs");
    // The client's command waits until the process is gone, which takes its parent to ask. Every
    // call of the client has a deadline, so it ends.
    let status = loop {
        if let Some(status) = client.try_wait().expect("a child can be asked") {
            break status;
        }
        replica.has_ended();
        sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "{status}: what the client told stands above");
    assert!(replica.has_ended());
}

#[tokio::test]
async fn a_browser_calls_through_the_balancer() {
    let deployment = Deployment::start();
    let request = v1::CheckRuleSetRequest { preset: "TCGA".to_owned(), rules: None };
    let address = deployment.balancer.address;
    let (head, body) = web_call(address, "CheckRuleSet", "", &request.encode_to_vec());
    let answer = exchange(address, &[head.as_bytes(), &body].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("KAERHCP"), "{answer}");
    assert!(answer.contains("grpc-status:0"), "{answer}");
}

#[tokio::test]
async fn a_deadline_reaches_the_replica() {
    let deployment = Deployment::start();
    let address = deployment.balancer.address;
    let request = v1::ListPresetsRequest {}.encode_to_vec();
    let (head, _) = web_call(address, "ListPresets", "grpc-timeout: 50m\r\n", &request);
    // The body never comes, so the call waits; the answer can only be the replica's.
    let answer = exchange(address, head.as_bytes()).await;
    assert!(answer.contains("grpc-status: 4"), "{answer}");
}

#[tokio::test]
async fn without_a_replica_a_call_is_unavailable() {
    let nobody = {
        // Ports that were free a moment ago.
        let address = || {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
            listener.local_addr().expect("an address")
        };
        Target { grpc: address(), http: address() }
    };
    let balancer = Balancer::start([nobody, nobody]);
    let endpoint = Endpoint::from_shared(format!("http://{}", balancer.address)).expect("a URI");
    let channel = endpoint.connect().await.expect("a connection");
    let answer = RulesServiceClient::new(channel).list_presets(v1::ListPresetsRequest {}).await;
    let status = answer.expect_err("nobody answers");
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
}
