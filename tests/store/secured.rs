//! TLS, and users that may do only what they must.

use banqi::store::{Misconfiguration, Options, Outcome, StoreError, open};
use tokio::time::timeout;

use crate::deployment::{Certificates, Deployment, ask, try_ask};
use crate::fixture::{PATIENCE, commit_of, eventually, game, put, record, version};
use crate::support::redis_server::{RedisServer, free_port};

fn options() -> Options {
    Options { call_deadline: std::time::Duration::from_millis(800), ..Options::default() }
}

#[tokio::test]
async fn a_server_is_believed_only_if_its_certificate_is_of_a_trusted_authority_and_of_its_name() {
    let certificates = Certificates::make();
    let (_server, port) = certificates.start_server(&[]);
    let own = certificates.options();
    let others = Certificates::make();
    let strangers = others.options();
    open(&format!("rediss://127.0.0.1:{port}?{own}"), options()).await.expect("a store");
    let cert =
        format!("cert={}&key={}", certificates.path("client.pem"), certificates.path("client.key"));
    for (what, address) in [
        ("another authority", format!("rediss://localhost:{port}?{strangers}")),
        ("the system's authorities", format!("rediss://localhost:{port}?{cert}")),
        ("another name", format!("rediss://127.0.0.2:{port}?{own}")),
        ("no certificate", format!("rediss://localhost:{port}?ca={}", certificates.path("ca.pem"))),
        ("no TLS", format!("redis://localhost:{port}")),
    ] {
        let error = open(&address, options()).await.expect_err(what);
        assert!(matches!(error, StoreError::Unavailable { .. }), "{what}: {error:?}");
    }
}

#[tokio::test]
async fn files_that_are_not_what_they_should_be_are_refused() {
    let certificates = Certificates::make();
    let (ca, key) = (certificates.path("ca.pem"), certificates.path("client.key"));
    for options in [format!("cert={key}&key={ca}"), "ca=/nowhere/ca.pem".into()] {
        let address = format!("rediss://:secret@localhost:1?{options}");
        let error = open(&address, Options::default()).await.expect_err("refused");
        assert!(matches!(error, StoreError::Misconfigured(_)), "{error:?}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        let names_it = error.to_string().contains("/nowhere/ca.pem");
        assert_eq!(names_it, options.contains("nowhere"), "{error}");
    }
}

#[tokio::test]
async fn certificates_are_replaced_without_a_restart() {
    let certificates = Certificates::make();
    let (mut server, port) = certificates.start_server(&[]);
    let address = format!("rediss://localhost:{port}?{}", certificates.options());
    let store = open(&address, options()).await.expect("a store");
    let id = game("g");
    let mut subscription = store.subscribe(&id).await.expect("a subscription");
    certificates.renew();
    let commit = commit_of(&*store, put(&id, None, record(1, b"historic"))).await;
    let outcome = store.commit(&commit).await.expect("the old connection still stands");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    timeout(PATIENCE, subscription.changed()).await.expect("a hint");
    // What it trusts and shows from now on is of the new authority, and it has forgotten all.
    server.kill();
    server.restart();
    let answer = async || store.load(&id).await;
    let answer = eventually("answered", answer, |answer| answer.is_ok()).await;
    assert_eq!(answer, Ok(None));
    let written = async || {
        let commit = commit_of(&*store, put(&id, None, record(1, b"historic"))).await;
        store.commit(&commit).await
    };
    let outcome = eventually("written", written, |outcome| outcome.is_ok()).await;
    assert!(matches!(outcome, Ok(Outcome::Applied { .. })), "{outcome:?}");
    // Hints come over a connection of their own.
    timeout(PATIENCE, subscription.changed()).await.expect("a hint");
    while timeout(std::time::Duration::from_millis(500), subscription.changed()).await.is_ok() {}
    let second = put(&id, Some(version(1, b"historic")), record(2, b"historic"));
    let outcome = store.commit(&commit_of(&*store, second).await).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    timeout(PATIENCE, subscription.changed()).await.expect("a hint");
}

#[tokio::test]
async fn sentinels_have_users_and_tls_of_their_own() {
    let certificates = Certificates::make();
    let (primary, port) = certificates.start_server(&[]);
    ask::<()>(&primary, &["CONFIG", "SET", "requirepass", "one"]).await;
    let tls_port = free_port();
    let tls = certificates.server_options(tls_port);
    let tls: Vec<&str> = tls.iter().map(String::as_str).collect();
    let configuration = format!(
        "tls-replication yes\nsentinel monitor games 127.0.0.1 {port} 1\n\
         sentinel auth-pass games one\n"
    );
    let sentinel = RedisServer::start_sentinel(configuration, &tls);
    let rule =
        "ACL SETUSER watcher on >two -@all +sentinel|master +sentinel|get-master-addr-by-name";
    ask::<()>(&sentinel, &rule.split(' ').collect::<Vec<_>>()).await;
    ask::<()>(&sentinel, &["ACL", "SETUSER", "default", "off"]).await;

    let files = certificates.options();
    let at = |sentinel_port, options: &str| {
        format!("rediss+sentinel://:one@localhost:{sentinel_port}/games?{files}&{options}")
    };
    let user = "sentinel-user=watcher&sentinel-password=two";
    let store = open(&at(tls_port, user), options()).await.expect("a store");
    assert_eq!(store.load(&game("g")).await.expect("an answer"), None);
    let plain = at(sentinel.port(), &format!("{user}&sentinel-tls=no"));
    open(&plain, options()).await.expect("a store");

    let wrong = at(tls_port, "sentinel-user=watcher&sentinel-password=secret");
    for address in [wrong, at(tls_port, "")] {
        let error = open(&address, options()).await.expect_err("refused");
        assert!(
            matches!(error, StoreError::Misconfigured(Misconfiguration::AccessDenied { .. })),
            "{error:?}"
        );
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_cluster_is_reached_over_tls() {
    let certificates = Certificates::make();
    let bus = free_port().to_string();
    let options = ["--cluster-enabled", "yes", "--tls-cluster", "yes", "--cluster-port", &bus];
    let (node, port) = certificates.start_server(&options);
    // A node that stands alone knows no address of its own: it is the one that was asked.
    ask::<()>(&node, &["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]).await;
    let state = async || ask::<String>(&node, &["CLUSTER", "INFO"]).await;
    eventually("ready", state, |state| state.contains("cluster_state:ok")).await;
    let address = format!("rediss+cluster://localhost:{port}?{}", certificates.options());
    let store = open(&address, self::options()).await.expect("a store");
    let id = game("g");
    let mut subscription = store.subscribe(&id).await.expect("a subscription");
    let commit = commit_of(&*store, put(&id, None, record(1, b"historic"))).await;
    let outcome = store.commit(&commit).await.expect("an answer");
    assert!(matches!(outcome, Outcome::Applied { .. }), "{outcome:?}");
    timeout(PATIENCE, subscription.changed()).await.expect("a hint");
}

#[tokio::test]
async fn the_documented_user_may_do_no_more_than_a_store_does() {
    let deployment = Deployment::restricted().await;
    let Deployment::Restricted(server) = &deployment else { panic!("one server") };
    let namespace = Some("t".parse().expect("a namespace"));
    let store = open(&deployment.url(), Options { namespace, ..options() }).await.expect("a store");
    store.checkup().await.expect("what it finds");
    let denied: Vec<redis::Value> = ask(server, &["ACL", "LOG"]).await;
    assert!(denied.is_empty(), "it tries what it may not: {denied:?}");
    for command in [&["FLUSHALL"][..], &["KEYS", "*"], &["CONFIG", "SET", "save", ""]] {
        let dry = [&["ACL", "DRYRUN", "banqi"], command].concat();
        let answer: String = try_ask(server, &dry).await.expect("an answer");
        assert!(answer.contains("no permissions"), "{command:?}: {answer}");
    }
}
