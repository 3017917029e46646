//! Two replicas on one Redis behind HAProxy, with the configuration of `deploy/`.

mod haproxy;
mod replica;
#[path = "../support/mod.rs"]
mod support;

use std::path::Path;
use std::process::Command;

use banqi::api::proto::v1;
use banqi::api::proto::v1::rules_service_client::RulesServiceClient;
use haproxy::{Balancer, Target};
use prost::Message as _;
use replica::Replica;
use rstest::rstest;
use support::redis_server::RedisServer;
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
        let replicas = [(); 2].map(|()| Replica::start(&redis.url()));
        let targets =
            [0, 1].map(|i: usize| Target { grpc: replicas[i].grpc, http: replicas[i].http });
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
    replica.reap_when_it_ends();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../python/bin/python");
    assert!(python.exists(), "{}: run `./test` once, which makes it", python.display());
    let output = Command::new(python)
        .arg(root.join("deploy/check.py"))
        .args(["--games=5", "--seed=1", "--stops=banqi-1"])
        .arg(format!("--halfway={halfway} && tail -s 0.05 -f /dev/null --pid=$replica"))
        .args(more)
        .arg(deployment.balancer.address.to_string())
        .env("replica", replica.id.to_string())
        .output()
        .expect("python runs");
    println!("{}", String::from_utf8_lossy(&output.stdout));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
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
