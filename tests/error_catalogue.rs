//! `docs/errors.md` lists every reason, just as the code has it.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use banqi::api::error::{DOMAIN, Reason, code_name};

fn catalogue() -> String {
    let mut text = format!(
        "# Errors\n\n\
         Every error carries a `google.rpc.ErrorInfo` with domain `{DOMAIN}` and one of these\n\
         reasons. Programs compare the reason; the message is for people and may change. An action\n\
         that the rules forbid has its reason also where a call answers OK and tells of it, as\n\
         `ReplayGame` does in `illegal`.\n\n\
         Every FAILED_PRECONDITION has a `google.rpc.PreconditionFailure` whose subject is the game,\n\
         or for `NO_SERVICE_KEY` the option that is missing.\n\
         Its type is the reason, or `ILLEGAL_ACTION` for all actions that the rules forbid.\n\n\
         This page is written from the code: `UPDATE_DOCS=1 cargo test --test error_catalogue`.\n\n\
         | reason | gRPC code | meaning |\n|---|---|---|\n"
    );
    for reason in Reason::ALL {
        let code = code_name(reason.code());
        let _ = writeln!(text, "| `{reason}` | {code} | {} |", reason.meaning());
    }
    text
}

#[test]
fn the_page_is_what_the_code_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/errors.md");
    let expected = catalogue();
    if env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &expected).expect("the page is written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == expected,
        "docs/errors.md is out of date: run `UPDATE_DOCS=1 cargo test --test error_catalogue`"
    );
}

#[test]
fn no_two_reasons_have_one_name() {
    for (index, reason) in Reason::ALL.iter().enumerate() {
        assert!(Reason::ALL[..index].iter().all(|other| other.name() != reason.name()));
    }
}
