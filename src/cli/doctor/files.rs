//! The files that options name.

use std::path::Path;

use super::check::Check;
use super::report::Report;
use crate::api::callers::{CallerOptions, Callers};
use crate::cli::serve::Serve;
use crate::server::{Tls, TlsOptions, Validity};
use crate::store::{SystemTimeSource, is_open_to_others};

/// Reads each as a start would.
pub(super) fn check(serve: &Serve, report: &mut Report) {
    let tls: Option<TlsOptions> = serve.tls.clone().into();
    tls_files(tls.as_ref(), report);
    callers(serve, report);
    match (&serve.seal_keys, serve.store_options()) {
        (_, Err(error)) => report.fault(Check::SealKeys, error.to_string()),
        (None, Ok(_)) => report.skipped(Check::SealKeys, "--seal-keys is not given"),
        (Some(_), Ok(options)) => {
            let keys = options.records.keys().map(ToString::to_string).unwrap_or_default();
            report.ok(Check::SealKeys, format!("it holds keys: {keys}"));
        }
    }
    let key = tls.as_ref().map(|tls| tls.key.as_path());
    let secrets = [
        ("--tls-key", key),
        ("--service-key", serve.service_key.as_deref()),
        ("--seal-keys", serve.seal_keys.as_deref()),
    ];
    permissions(&secrets, report);
}

fn tls_files(options: Option<&TlsOptions>, report: &mut Report) {
    let Some(options) = options else {
        report.skipped(Check::TlsFiles, "--tls-cert is not given");
        return report.skipped(Check::TlsValidity, "--tls-cert is not given");
    };
    match Tls::check(options) {
        Ok(validity) => {
            report.ok(Check::TlsFiles, "TLS can be served with them");
            tell_validity(Check::TlsValidity, validity, report);
        }
        Err(error) => {
            report.fault(Check::TlsFiles, error.to_string());
            report.skipped(Check::TlsValidity, "the files cannot be used");
        }
    }
}

/// Tells for how long a certificate is good.
pub(super) fn tell_validity(check: Check, validity: Validity, report: &mut Report) {
    match validity {
        Validity::Good => report.ok(check, validity.to_string()),
        Validity::Ending { .. } => report.warning(check, validity.to_string()),
        Validity::Over | Validity::NotYet => report.fault(check, validity.to_string()),
    }
}

/// Each of the two files alone, so that one that is wrong does not hide the other.
fn callers(serve: &Serve, report: &mut Report) {
    let (auth, key) = (&serve.auth, &serve.service_key);
    let only_auth = CallerOptions { auth: auth.clone(), ..CallerOptions::default() };
    let only_key = CallerOptions { service_key: key.clone(), ..CallerOptions::default() };
    for (check, option, given, options, fine) in [
        (Check::AuthFile, "--auth", auth.is_some(), only_auth, "every line is a key"),
        (Check::ServiceKey, "--service-key", key.is_some(), only_key, "it is long enough"),
    ] {
        match Callers::open(&options, std::sync::Arc::new(SystemTimeSource)) {
            _ if !given => report.skipped(check, format!("{option} is not given")),
            Ok(_) => report.ok(check, fine),
            Err(error) => report.fault(check, error.to_string()),
        }
    }
}

fn permissions(secrets: &[(&str, Option<&Path>)], report: &mut Report) {
    let given = secrets.iter().filter_map(|(option, path)| Some((option, (*path)?)));
    let open: Vec<String> = given
        .clone()
        .filter(|(_, path)| is_open_to_others(path))
        .map(|(option, path)| format!("{option} {}: chmod 600 the file", path.display()))
        .collect();
    if !open.is_empty() {
        let text = format!("other users of this machine can read {}", open.join(", "));
        report.warning(Check::Secrets, text);
    } else if given.count() == 0 {
        report.skipped(Check::Secrets, "no option names a file with a secret");
    } else {
        report.ok(Check::Secrets, "no other user can read them");
    }
}
