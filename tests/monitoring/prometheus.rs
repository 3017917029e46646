//! A real Prometheus with what is shipped, and what it answers.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use crate::shipped;
use crate::support::exchange;

/// How often an answer is looked at again that is waited for.
const PAUSE: Duration = Duration::from_millis(200);

/// A running Prometheus; killed, and its directory deleted, when dropped.
pub(crate) struct Prometheus {
    child: Child,
    address: SocketAddr,
    _directory: TempDir,
}

/// An alert as Prometheus has read it.
pub(crate) struct Alert {
    pub(crate) name: String,
    pub(crate) expression: String,
    /// For how many seconds its condition must hold.
    pub(crate) patience: f64,
    pub(crate) severity: String,
    pub(crate) summary: String,
    pub(crate) description: String,
    /// `inactive`, `pending` or `firing`.
    pub(crate) state: String,
}

impl Prometheus {
    /// Starts one that scrapes these targets, on a port of its own.
    pub(crate) fn start(targets: &[String]) -> Self {
        let directory = TempDir::new().expect("a directory");
        let configuration = directory.path().join("prometheus.yml");
        fs::write(&configuration, shipped::configuration(targets)).expect("written");
        fs::write(directory.path().join("alerts.yml"), shipped::alerts()).expect("written");
        let mut child = Command::new("prometheus")
            .arg(format!("--config.file={}", configuration.display()))
            .arg(format!("--storage.tsdb.path={}", directory.path().join("data").display()))
            .args(["--web.listen-address=127.0.0.1:0", "--log.format=json"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("these tests need `prometheus` in PATH, and starting it: {error}")
            });
        let mut lines = BufReader::new(child.stderr.take().expect("its log")).lines();
        let mut log = String::new();
        let address = lines.find_map(|line| {
            let line = line.expect("text");
            let entry: Value = serde_json::from_str(&line).unwrap_or_default();
            log = format!("{log}{line}\n");
            let listens = entry["msg"] == "Listening on";
            listens.then(|| entry["address"].as_str().expect("an address").to_owned())
        });
        let address = address.unwrap_or_else(|| panic!("prometheus ended:\n{log}"));
        // What it logs later is read and dropped, so that it never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let address = address.parse().expect("an address");
        Self { child, address, _directory: directory }
    }

    async fn get(&self, path: &str) -> Value {
        // Without HTTP/1.1 no answer comes in chunks.
        let answer =
            exchange(self.address, format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await;
        let (_, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{path}: {answer}"));
        let told: Value =
            serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {answer}"));
        assert_eq!(told["status"], "success", "{path}: {answer}");
        told["data"].clone()
    }

    /// Waits until it can be asked.
    pub(crate) async fn until_ready(&self, limit: Duration) {
        let ready = async || {
            let answer = exchange(self.address, b"GET /-/ready HTTP/1.0\r\n\r\n").await;
            answer.contains(" 200 ").then_some(()).ok_or(answer)
        };
        until(limit, ready).await;
    }

    /// The values that an expression has now, of all series; those that are no numbers left out.
    pub(crate) async fn values(&self, expression: &str) -> Vec<f64> {
        let query = utf8_percent_encode(expression, NON_ALPHANUMERIC);
        let data = self.get(&format!("/api/v1/query?query={query}")).await;
        let series = data["result"].as_array().expect("an instant vector").iter();
        let values = series.map(|series| {
            let value = series["value"][1].as_str().expect("a value");
            value.parse::<f64>().expect("a number")
        });
        values.filter(|value| value.is_finite()).collect()
    }

    /// Waits until each of these expressions has a value of which something can be said.
    pub(crate) async fn until_all_have_values(&self, expressions: &[String], limit: Duration) {
        let ask = async || {
            let mut without = Vec::new();
            for expression in expressions {
                if self.values(expression).await.is_empty() {
                    without.push(expression.clone());
                }
            }
            if without.is_empty() { Ok(()) } else { Err(format!("no values of {without:#?}")) }
        };
        until(limit, ask).await;
    }

    /// All alerts.
    pub(crate) async fn alerts(&self) -> Vec<Alert> {
        let data = self.get("/api/v1/rules?type=alert").await;
        let groups = data["groups"].as_array().expect("groups");
        let rules = groups.iter().flat_map(|group| group["rules"].as_array().expect("rules"));
        let alerts = rules.map(|rule| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            assert_ne!(rule["health"], "err", "{rule}");
            Alert {
                name: text(&rule["name"]),
                expression: text(&rule["query"]),
                patience: rule["duration"].as_f64().expect("a number"),
                severity: text(&rule["labels"]["severity"]),
                summary: text(&rule["annotations"]["summary"]),
                description: text(&rule["annotations"]["description"]),
                state: text(&rule["state"]),
            }
        });
        alerts.collect()
    }

    /// The alerts that fired at any moment of the last so many seconds.
    pub(crate) async fn fired(&self, seconds: u64) -> BTreeSet<String> {
        let firing = format!(r#"count_over_time(ALERTS{{alertstate="firing"}}[{seconds}s])"#);
        let query = utf8_percent_encode(&firing, NON_ALPHANUMERIC);
        let data = self.get(&format!("/api/v1/query?query={query}")).await;
        let series = data["result"].as_array().expect("an instant vector").iter();
        let names = series.map(|series| series["metric"]["alertname"].as_str().expect("a name"));
        names.map(ToOwned::to_owned).collect()
    }

    /// Waits until all of these alerts are in a state.
    pub(crate) async fn until_they_are(&self, state: &str, names: &[&str], limit: Duration) {
        let look = async || {
            let alerts = self.alerts().await;
            let others: Vec<String> = alerts
                .iter()
                .filter(|alert| names.contains(&alert.name.as_str()) && alert.state != state)
                .map(|alert| format!("{} is {}", alert.name, alert.state))
                .collect();
            if others.is_empty() { Ok(()) } else { Err(format!("not {state}: {others:?}")) }
        };
        until(limit, look).await;
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // Both fail only where it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks again until the answer is good; panics with the last one at the limit.
async fn until(limit: Duration, mut ask: impl AsyncFnMut() -> Result<(), String>) {
    let limit = Instant::now() + limit;
    while let Err(told) = ask().await {
        assert!(Instant::now() < limit, "{told}");
        sleep(PAUSE).await;
    }
}
