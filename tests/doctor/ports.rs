//! Addresses to listen on.

use std::net::TcpListener;

use crate::examined::Examined;
use crate::support::replica::Replica;

#[test]
fn a_port_is_free_or_taken_by_a_banqi_or_by_another() {
    let replica = Replica::start(&[]);
    let ours =
        [format!("--listen={}", replica.address()), format!("--http-listen={}", replica.probes())];
    Examined::by(&ours).assert("listen.port", "ok", &["a banqi serves there already"]).assert(
        "http_listen.port",
        "ok",
        &["a banqi serves there already"],
    );
    let holders = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    for holder in &holders {
        let holder = holder.try_clone().expect("the same");
        // Hangs up on whoever comes, as another service may.
        std::thread::spawn(move || holder.incoming().for_each(drop));
    }
    let [grpc, http] = holders.map(|holder| holder.local_addr().expect("an address"));
    let others = [format!("--listen={grpc}"), format!("--http-listen={http}")];
    Examined::by(&others).assert("listen.port", "fault", &["something else", "ss -ltnp"]).assert(
        "http_listen.port",
        "fault",
        &["something else", "ss -ltnp"],
    );
    Examined::by(&["--listen=192.0.2.1:0", "--insecure"]).assert(
        "listen.port",
        "fault",
        &["cannot listen there", "0.0.0.0"],
    );
    Examined::by(&["--listen=127.0.0.1:0"]).assert("listen.port", "ok", &["is free"]).assert(
        "http_listen.port",
        "skipped",
        &["--http-listen is not given"],
    );
}
