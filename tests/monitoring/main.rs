//! The shipped alerts and the shipped dashboard, on a real Prometheus that scrapes real replicas.

mod faults;
mod prometheus;
mod shipped;
#[path = "../support/mod.rs"]
mod support;
mod world;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use faults::Fault;
use prometheus::{Alert, Prometheus};
use rstest::rstest;
use tokio::time::{Instant, sleep_until};
use world::World;

/// How long all is well at first: the longest window of an alert, its patience and some scrapes.
const CALM: Duration = Duration::from_secs(15);

/// How long an alert may take to fire, or to be over.
const LIMIT: Duration = Duration::from_secs(30);

#[rstest]
#[case("config", "prometheus/prometheus.yml")]
#[case("rules", "prometheus/alerts.yml")]
fn promtool_finds_nothing_wrong_with(#[case] kind: &str, #[case] name: &str) {
    let output = Command::new("promtool")
        .args(["check", kind])
        .arg(shipped::path(name))
        .output()
        .unwrap_or_else(|error| panic!("this test needs `promtool` in PATH: {error}"));
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_query_has_data_and_every_alert_fires_for_its_fault_alone() {
    let mut world = World::start();
    let targets = world.replicas.each_ref().map(|replica| replica.probes().to_string());
    let prometheus = Prometheus::start(&targets);
    prometheus.until_ready(LIMIT).await;
    let began = Instant::now();

    let alerts = prometheus.alerts().await;
    let known: BTreeSet<&str> = alerts.iter().map(|alert| alert.name.as_str()).collect();
    let provoked: BTreeSet<&str> =
        Fault::ALL.iter().flat_map(|fault| fault.alerts()).copied().collect();
    assert_eq!(known, provoked, "each alert has a fault that it is to tell of");
    alerts.iter().for_each(assert_helps);

    let asked = alerts.iter().map(|alert| shipped::without_threshold(&alert.expression).to_owned());
    let expressions: Vec<String> = asked.chain(shipped::dashboard()).collect();
    prometheus.until_all_have_values(&expressions, LIMIT).await;
    println!("{} expressions have values after {:?}", expressions.len(), began.elapsed());
    sleep_until(began + CALM).await;
    assert_eq!(prometheus.fired(60).await, BTreeSet::new(), "nothing is wrong yet");

    for fault in Fault::ALL {
        // What another fault has brought is over, so this one is what fires it.
        prometheus.until_they_are("inactive", fault.alerts(), LIMIT).await;
        let made = Instant::now();
        tokio::select! {
            never = fault.last(&mut world) => match never {},
            () = prometheus.until_they_are("firing", fault.alerts(), LIMIT) => {}
        }
        println!("{fault:?}: {:?} after {:?}", fault.alerts(), made.elapsed());
    }
}

/// Checks that whoever reads an alert is told what to do.
fn assert_helps(alert: &Alert) {
    let Alert { name, patience, severity, summary, description, .. } = alert;
    assert!(["critical", "warning"].contains(&severity.as_str()), "{name}: {severity}");
    assert!(summary.contains("{{ $labels.instance }}"), "{name}: {summary}");
    assert!(description.len() > 80, "{name}: {description}");
    // Minutes that were read as seconds.
    assert!(*patience <= 5.0, "{name} waits {patience} s");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/operations.md");
    let page = fs::read_to_string(page).expect("the page");
    assert!(page.contains(&format!("| `{name}` |")), "docs/operations.md has no line about {name}");
}
