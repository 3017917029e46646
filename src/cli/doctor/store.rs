//! The store.

use super::check::Check;
use super::report::{Report, Verdict};
use crate::cli::serve::Serve;
use crate::store::{self, Aspect, Finding, Severity};

/// Looks at the store.
pub(super) async fn check(serve: &Serve, report: &mut Report) {
    // That its keys cannot be used is told with their file.
    let findings = match serve.store_options() {
        Ok(options) => store::examine(&serve.store, &options).await,
        Err(_) => Vec::new(),
    };
    for &aspect in &Aspect::ALL {
        let about: Vec<&Finding> = findings.iter().filter(|it| it.aspect() == aspect).collect();
        let Some(worst) = about.iter().map(|finding| finding.severity()).max() else { continue };
        // Of several the worst are told.
        let told: Vec<String> = about
            .iter()
            .filter(|finding| finding.severity() == worst)
            .map(ToString::to_string)
            .collect();
        let verdict = match worst {
            Severity::Fine => Verdict::Ok,
            Severity::Warning => Verdict::Warning,
            Severity::Fault => Verdict::Fault,
        };
        let text = told.join("; ");
        report.tell(Check::of(aspect), verdict, text.strip_prefix("--store: ").unwrap_or(&text));
    }
    tell_rest(serve, &findings, report);
}

/// What follows from what was found, and why the rest was not looked at.
fn tell_rest(serve: &Serve, findings: &[Finding], report: &mut Report) {
    let has = |aspect| findings.iter().any(|finding| finding.aspect() == aspect);
    let failed = findings.iter().any(|finding| matches!(finding, Finding::Failed(_)));
    if !has(Aspect::Address) && !findings.is_empty() {
        report.ok(Check::StoreAddress, "it can be read");
    }
    // Who answers anything has let the user in.
    let answers = findings.iter().any(|finding| matches!(finding, Finding::Answers));
    let on_redis = serve.store.starts_with("redis");
    if on_redis && answers && !has(Aspect::Credentials) {
        report.ok(Check::StoreCredentials, "the server lets the user in");
    }
    if answers && !on_redis {
        report.ok(Check::StoreWrites, "the file can be written");
    }
    let kind = serve.store.split(':').next().unwrap_or_default();
    if on_redis && !failed {
        if !report.has(Check::StoreTopology) {
            report.skipped(Check::StoreTopology, "one server needs none");
        }
        if !report.has(Check::StoreReplicas) {
            report.skipped(Check::StoreReplicas, "--durability is not given");
        }
    }
    let why = match (failed || findings.is_empty(), on_redis) {
        (false, false) if kind == "file" => "it is not looked at in a file".to_owned(),
        (false, false) => format!("a store in `{kind}:` has nothing of the kind"),
        (false, true) => "the rights for it are missing".to_owned(),
        (true, _) => "what comes before it failed".to_owned(),
    };
    report.skip_rest(Check::StoreAddress, Check::StoreClock, &why);
}
