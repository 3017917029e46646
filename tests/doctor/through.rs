//! What stands in front of the replicas.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::examined::Examined;
use crate::haproxy::HaProxy;
use crate::support::redis_server::{RedisServer, free_port};
use crate::support::replica::Replica;

#[test]
fn nobody_is_there_or_somebody_else() {
    let through = format!("--through=http://127.0.0.1:{}", free_port());
    Examined::by(&[through])
        .assert("through.reached", "fault", &["refused", "start the balancer"])
        .assert("through.call", "skipped", &["what comes before it failed"]);
    Examined::by(&["--through=http://no-such-host.invalid"]).assert(
        "through.reached",
        "fault",
        &["no-such-host.invalid", "DNS"],
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let through = format!("--through=http://{}", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            // Whoever asks may have gone.
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.1 505 Not Supported\r\ncontent-length: 0\r\n\r\n");
        }
    });
    Examined::by(&[through]).assert("through.http2", "fault", &["HTTP/2", "h2c"]);
}

#[test]
fn replicas_are_named_and_one_that_is_gone_is_found() {
    let replicas = [(); 2].map(|()| Replica::start(&["--log=error"]));
    let [one, two] = replicas.each_ref().map(Replica::address);
    let named = "http-response set-header banqi-replica %[srv_name]";
    let balancer = HaProxy::start(&[named], &[one, two]);
    let examined = Examined::by(&[balancer.option()]);
    examined.assert("through.replicas", "ok", &["of 12 calls", "banqi-0 6", "banqi-1 6"]);
    // A store in memory is all that there is to say.
    assert_eq!(examined.bad(), ["store.persistence"], "{examined:?}");
    let gone = format!("127.0.0.1:{}", free_port());
    // The first server takes the first call.
    let balancer = HaProxy::start(&[named], &[one, &gone]);
    Examined::by(&[balancer.option()]).assert(
        "through.replicas",
        "fault",
        &["one call of 12 fails", "HTTP 503"],
    );
    let balancer = HaProxy::start(&[], &[&gone]);
    Examined::by(&[balancer.option()])
        .assert("through.call", "fault", &["no gRPC", "HTTP 503", "text/html"])
        .assert("through.metadata", "skipped", &[]);
}

#[test]
fn what_a_balancer_takes_away_is_named() {
    let replica = Replica::start(&["--log=error"]);
    let rules = [
        "http-request del-header authorization",
        "http-request del-header grpc-timeout",
        // Says nothing for a while, as one that collects an answer until it is whole.
        "http-request tarpit if { path /grpc.health.v1.Health/Watch }",
        "http-request deny if { path_beg /grpc.health.v1.Health/Check }",
        "http-request deny if { path_beg /grpc.reflection }",
        "http-request deny if { req.hdr(content-type) -m beg application/grpc-web }",
    ];
    let balancer = HaProxy::start(&rules, &[replica.address()]);
    Examined::by(&[balancer.option()])
        .assert("through.call", "ok", &[])
        .assert("through.replicas", "skipped", &["banqi-replica"])
        .assert("through.metadata", "fault", &["pass on all headers"])
        .assert("through.deadline", "warning", &["grpc-timeout"])
        .assert("through.stream", "fault", &["no message within", "no buffering"])
        .assert("through.grpc_web", "warning", &["403"])
        .assert("through.health", "warning", &["let its calls through"])
        .assert("through.release", "warning", &["reflection"]);
}

#[tokio::test]
async fn a_replica_without_its_store_is_not_ready() {
    let mut redis = RedisServer::start();
    let replica = Replica::start(&["--log=error", "--store", &redis.url()]);
    redis.kill();
    let through = format!("--through=http://{}", replica.address());
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let examined = Examined::by(&[&through]);
        if examined.bad().contains(&"through.health") {
            examined.assert("through.health", "fault", &["not ready", "its store is away"]);
            return;
        }
        assert!(Instant::now() < deadline, "it stays ready: {examined:?}");
        sleep(Duration::from_millis(200)).await;
    }
}
