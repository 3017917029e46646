//! TLS as a client in another language sees it: whom it believes, whom the service lets in and as
//! what, and certificates that are replaced while serving.

mod support;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rstest::rstest;
use support::PATIENCE;
use support::authority::{Authority, Identity, Validity};
use support::python::Stubs;
use support::replica::Replica;
use tempfile::TempDir;

const SERVER: &[&str] = &["localhost", "127.0.0.1"];

/// A service with files of its own, and what clients are started with.
struct Place {
    directory: TempDir,
    stubs: Stubs,
}

impl Place {
    /// Files of a server with a certificate of the authority.
    fn of(authority: &Authority) -> Self {
        let place = Self { directory: TempDir::new().expect("a directory"), stubs: Stubs::make() };
        place.write("ca.pem", &authority.pem());
        place.give("server", &authority.issue(SERVER, Validity::Now));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file in one step, so that nobody reads half of it.
    fn write(&self, name: &str, content: &str) {
        let whole = self.path("new");
        fs::write(&whole, content).expect("written");
        fs::rename(whole, self.path(name)).expect("renamed");
    }

    fn give(&self, name: &str, identity: &Identity) {
        self.write(&format!("{name}.key"), &identity.key);
        self.write(&format!("{name}.pem"), &identity.certificate);
    }

    fn option(&self, option: &str, file: &str) -> String {
        format!("--{option}={}", self.path(file).display())
    }

    /// The options of a server, and more.
    fn options(&self, more: &[String]) -> Vec<String> {
        let own = [("tls-cert", "server.pem"), ("tls-key", "server.key")];
        own.iter().map(|(option, file)| self.option(option, file)).chain(more.to_vec()).collect()
    }

    fn serve(&self, more: &[String]) -> Replica {
        let options = self.options(more);
        Replica::start(&options.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// What comes of the calls of a client that trusts in `ca.pem`, and shows a certificate.
    fn call(&self, service: &Replica, own: Option<&str>) -> String {
        let mut client = self.stubs.script("secured_client.py");
        client.arg(service.address()).arg(self.path("ca.pem"));
        if let Some(own) = own {
            client.args(["pem", "key"].map(|kind| self.path(&format!("{own}.{kind}"))));
        }
        let output = client.output().expect("python runs");
        let told = String::from_utf8_lossy(&output.stdout).trim().replace('\n', ", ");
        assert!(output.status.success() && !told.is_empty(), "{output:?}");
        told
    }
}

const ALL_IN: &str = "rules OK, create OK, erase PLATFORM_ONLY";
const NONE_IN: &str = "rules UNAVAILABLE, create UNAVAILABLE, erase UNAVAILABLE";

#[test]
fn a_server_is_believed_only_with_a_certificate_that_is_good() {
    let authority = Authority::new();
    let place = Place::of(&authority);
    assert_eq!(place.call(&place.serve(&[]), None), ALL_IN);
    for bad in [
        authority.issue(SERVER, Validity::Over),
        authority.issue(&["other.example"], Validity::Now),
        Authority::new().issue(SERVER, Validity::Now),
    ] {
        place.give("server", &bad);
        assert_eq!(place.call(&place.serve(&[]), None), NONE_IN);
    }
}

#[test]
fn only_holders_of_a_good_certificate_get_in() {
    let authority = Authority::new();
    let place = Place::of(&authority);
    let clients = Authority::new();
    place.write("clients.pem", &clients.pem());
    place.give("good", &clients.issue(&["lobby.example"], Validity::Now));
    place.give("over", &clients.issue(&["lobby.example"], Validity::Over));
    place.give("strange", &authority.issue(&["lobby.example"], Validity::Now));
    let ask = place.option("tls-client-ca", "clients.pem");
    let service = place.serve(std::slice::from_ref(&ask));
    let outcomes = |service: &Replica| {
        [None, Some("good"), Some("over"), Some("strange")].map(|own| place.call(service, own))
    };
    assert_eq!(outcomes(&service), [NONE_IN, ALL_IN, NONE_IN, NONE_IN]);
    let service = place.serve(&[ask, "--tls-client-optional".into()]);
    assert_eq!(outcomes(&service), [ALL_IN, ALL_IN, NONE_IN, NONE_IN]);
}

#[test]
fn a_certificate_has_the_role_that_the_key_file_gives_it() {
    let authority = Authority::new();
    let place = Place::of(&authority);
    place.write("keys", "lobby platform cert:lobby.example\nviewer reader cert:viewer.example\n");
    for name in ["lobby", "viewer", "stranger"] {
        let identity = authority.issue(&[&format!("{name}.example")], Validity::Now);
        place.give(name, &identity);
    }
    let service = place.serve(&[
        place.option("tls-client-ca", "ca.pem"),
        "--tls-client-optional".into(),
        place.option("auth", "keys"),
    ]);
    let no_key = "rules API_KEY_MISSING, create API_KEY_MISSING, erase API_KEY_MISSING";
    for (own, expected) in [
        (Some("lobby"), "rules OK, create OK, erase OK"),
        (Some("viewer"), "rules OK, create ROLE_TOO_LOW, erase ROLE_TOO_LOW"),
        (Some("stranger"), no_key),
        (None, no_key),
    ] {
        assert_eq!(place.call(&service, own), expected, "{own:?}");
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "how long to wait for a real process")]
fn certificates_are_replaced_while_serving() {
    let old = Authority::new();
    let place = Place::of(&old);
    place.give("client", &old.issue(&["client"], Validity::Now));
    let service = place.serve(&[place.option("tls-client-ca", "ca.pem")]);
    assert_eq!(place.call(&service, Some("client")), ALL_IN);

    // What cannot be used changes nothing.
    place.write("server.key", "no key");
    sleep(Duration::from_millis(1500));
    assert_eq!(place.call(&service, Some("client")), ALL_IN);

    let new = Authority::new();
    place.give("server", &new.issue(SERVER, Validity::Now));
    place.write("ca.pem", &new.pem());
    place.give("new client", &new.issue(&["client"], Validity::Now));
    let begun = Instant::now();
    while place.call(&service, Some("new client")) != ALL_IN {
        assert!(begun.elapsed() < PATIENCE, "new certificates are taken up");
    }
    assert_eq!(place.call(&service, Some("client")), NONE_IN, "the old authority is out");
}

#[rstest]
#[case::no_file("server.key", None, "--tls-key")]
#[case::no_certificate("server.pem", Some("nothing"), "--tls-cert")]
#[case::no_key("server.key", Some("nothing"), "--tls-key")]
#[case::no_authority("clients.pem", Some("nothing"), "--tls-client-ca")]
fn files_that_cannot_be_used_are_refused(
    #[case] file: &str,
    #[case] content: Option<&str>,
    #[case] option: &str,
) {
    let authority = Authority::new();
    let place = Place::of(&authority);
    place.write("clients.pem", &authority.pem());
    match content {
        Some(content) => place.write(file, content),
        None => fs::remove_file(place.path(file)).expect("removed"),
    }
    let told = refusal(&place.options(&[place.option("tls-client-ca", "clients.pem")]));
    let path = place.path(file).display().to_string();
    assert!(told.contains(option) && told.contains(&path), "{told}");
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let authority = Authority::new();
    let place = Place::of(&authority);
    place.write("server.key", &authority.issue(SERVER, Validity::Now).key);
    let told = refusal(&place.options(&[]));
    assert!(told.contains("--tls-cert and --tls-key cannot be used together"), "{told}");
}

/// What a service says that does not start.
fn refusal(options: &[String]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    command.args(["serve", "--listen=127.0.0.1:0"]).args(options).stdin(Stdio::null());
    let output = command.output().expect("it runs");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}
