//! What is shipped in `deploy/`, as a test can wait for it: a minute of the alerts is a second here.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// The scrape interval of the tests, in the place of a minute, the longest that the alerts allow.
const SECOND: &str = "1s";

/// A file below `deploy/`.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy").join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("deploy/{name}: {error}"))
}

/// Replaces something that must be there.
fn replace(text: &str, what: &str, with: &str) -> String {
    assert!(text.contains(what), "`{what}` is not there any more:\n{text}");
    text.replace(what, with)
}

/// The shipped configuration, for these targets in the place of a name that resolves to them.
pub(crate) fn configuration(targets: &[String]) -> String {
    let text = replace(&read("prometheus/prometheus.yml"), "15s", SECOND);
    let targets = serde_json::to_string(targets).expect("strings");
    let found = "    dns_sd_configs:
      - names: [banqi]
        type: A
        port: 8080
        refresh_interval: 1s
";
    let given = format!("    static_configs:\n      - targets: {targets}\n");
    replace(&text, found, &given)
}

/// The shipped alerts, with each minute of their windows and patience read as a second.
pub(crate) fn alerts() -> String {
    let text = replace(&read("prometheus/alerts.yml"), "m]", "s]");
    let mut lines = Vec::new();
    for line in text.lines() {
        let shortened = line
            .trim_start()
            .strip_prefix("for: ")
            .map(|time| time.strip_suffix('m').unwrap_or_else(|| panic!("`{time}` is no minutes")));
        lines.push(match shortened {
            Some(minutes) => line.replace(&format!("{minutes}m"), &format!("{minutes}s")),
            None => line.to_owned(),
        });
    }
    lines.join("\n") + "\n"
}

/// An alert's expression without its last comparison, which is its threshold.
pub(crate) fn without_threshold(expression: &str) -> &str {
    let at = expression.rfind(['<', '>', '=', '!']).expect("a comparison");
    let threshold = expression[at + 1..].trim();
    threshold.parse::<f64>().unwrap_or_else(|_| panic!("`{expression}` ends with no threshold"));
    expression[..at].trim_end_matches(['<', '>', '=', '!'])
}

/// Every query of every panel of the dashboard, of all replicas over the last few seconds.
pub(crate) fn dashboard() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(&read("grafana/banqi.json")).expect("JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    let queries = panels.iter().filter(|panel| panel["type"] != "row").flat_map(|panel| {
        let title = panel["title"].as_str().expect("a title");
        let targets = panel["targets"].as_array().expect("targets");
        assert!(!targets.is_empty(), "{title} asks nothing");
        targets.iter().map(|target| {
            let expression = target["expr"].as_str().expect("an expression");
            let expression =
                expression.replace("$instance", ".*").replace("$__rate_interval", "10s");
            assert!(!expression.contains('$'), "an unknown variable: {expression}");
            expression
        })
    });
    queries.collect()
}
