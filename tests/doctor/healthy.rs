//! A set-up with everything as it should be.

use crate::deployment::ask;
use crate::examined::{Examined, doctor};
use crate::files::{Files, named, new_key};
use crate::support::authority::{Authority, Validity};
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

#[tokio::test]
async fn nothing_is_wrong_with_it_and_nothing_is_left_behind() {
    let (redis, files) = (RedisServer::start_durable(), Files::new());
    let authority = Authority::new();
    let [cert, key] = files.identity(&authority.issue(&["127.0.0.1"], Validity::Now));
    let (line, secret) = new_key();
    let mut options = vec![
        format!("--store={}", redis.url()),
        cert,
        key,
        files.option("auth", &line),
        files.option("service-key", &"k".repeat(40)),
        files.option("seal-keys", "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=\n"),
        "--record-format=2".into(),
    ];
    let replica = Replica::start(&options.iter().map(String::as_str).collect::<Vec<_>>());
    options.extend([
        "--http-listen=127.0.0.1:0".into(),
        format!("--through=https://{}", replica.address()),
        files.option("key", &secret),
        files.option("ca", &authority.pem()),
    ]);
    let examined = Examined::by(&options);
    assert_eq!(examined.bad(), [""; 0], "{examined:?}");
    for (check, expected) in [
        ("through.tls", "good for longer"),
        ("through.call", "is answered"),
        ("through.metadata", "arrives"),
        ("through.deadline", "gives up"),
        ("through.stream", "at once"),
        ("through.grpc_web", "HTTP/1.1"),
        ("through.health", "can be served"),
        ("through.release", env!("CARGO_PKG_VERSION")),
        ("store.format", "can be read"),
    ] {
        examined.assert(check, "ok", &[expected]);
    }
    let told = format!("{examined:?}");
    assert!(!told.contains(secret.trim()), "no key is told: {told}");
    let left: Vec<String> = ask(&redis, &["KEYS", "*doctor*"]).await;
    assert_eq!(left, [""; 0]);
    // Whom its authority is not told does not believe it; who shows no key is not let in.
    let reached: Vec<String> =
        options.iter().filter(|it| !it.starts_with("--ca=")).cloned().collect();
    Examined::by(&reached).assert("through.tls", "fault", &["certificate", "--ca"]);
    let anonymous: Vec<String> =
        options.iter().filter(|it| !it.starts_with("--key=")).cloned().collect();
    Examined::by(&anonymous).assert("through.call", "fault", &["API key", "--key"]);
    let _ = files.option("key", "bqk_wrong");
    Examined::by(&options).assert("through.call", "fault", &["refused", "--auth"]);
    let output = doctor(&[named("key", &files.path("none")), "--through=http://h".into()]).output();
    assert_eq!(output.expect("it runs").status.code(), Some(1));
}

#[tokio::test]
async fn a_store_that_is_new_stays_so() {
    let redis = RedisServer::start_durable();
    let store = format!("--store={}", redis.url());
    let examined = Examined::by(&[store, "--strict".into()]);
    assert_eq!(examined.bad(), [""; 0], "{examined:?}");
    examined.assert("store.shards", "ok", &["new"]);
    assert_eq!(ask::<u64>(&redis, &["DBSIZE"]).await, 0);
}
