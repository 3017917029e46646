//! The addresses to listen on.

use std::io::{Error, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::check::Check;
use super::report::Report;
use super::through::is_banqi;
use crate::cli::serve::Serve;

/// How long whoever has a port may take to say who he is.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who has a port.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holder {
    Banqi,
    Other,
    Unknown,
}

/// Tries to listen on each for a moment.
pub(super) async fn check(serve: &Serve, report: &mut Report) {
    let secured = serve.tls.is_given();
    match TcpListener::bind(serve.listen).await {
        Ok(_) => report.ok(Check::Listen, format!("--listen {} is free", serve.listen)),
        Err(error) => {
            let here = reached_at(serve.listen);
            let holder = match error.kind() {
                ErrorKind::AddrInUse if secured => Holder::Unknown,
                ErrorKind::AddrInUse if is_banqi(here).await => Holder::Banqi,
                _ => Holder::Other,
            };
            tell(Check::Listen, "--listen", serve.listen, &error, holder, report);
        }
    }
    let Some(address) = serve.http_listen else {
        return report.skipped(Check::HttpListen, "--http-listen is not given");
    };
    match TcpListener::bind(address).await {
        Ok(_) => report.ok(Check::HttpListen, format!("--http-listen {address} is free")),
        Err(error) => {
            let holder = match error.kind() {
                ErrorKind::AddrInUse if answers_probes(reached_at(address)).await => Holder::Banqi,
                _ => Holder::Other,
            };
            tell(Check::HttpListen, "--http-listen", address, &error, holder, report);
        }
    }
}

fn tell(
    check: Check,
    option: &str,
    address: SocketAddr,
    error: &Error,
    holder: Holder,
    report: &mut Report,
) {
    let text = match error.kind() {
        ErrorKind::AddrInUse if holder == Holder::Banqi => {
            return report.ok(check, format!("{option} {address}: a banqi serves there already"));
        }
        ErrorKind::AddrInUse if holder == Holder::Unknown => {
            let text = format!(
                "{option} {address}: the port is in use, and over TLS it is not asked by whom: \
                 unless it is a banqi that serves already, stop it (`ss -ltnp` names it)"
            );
            return report.warning(check, text);
        }
        ErrorKind::AddrInUse => format!(
            "{option} {address}: something else than a banqi has the port: stop it (`ss -ltnp` \
             names it), or choose another port"
        ),
        _ => format!(
            "{option} {address}: cannot listen there: {error}; the address must be one of this \
             machine's (0.0.0.0 and [::] stand for all), and ports below 1024 need the right to \
             use them"
        ),
    };
    report.fault(check, text);
}

/// Where whoever listens on an address is reached from here.
fn reached_at(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// Whether the probes of a banqi answer.
async fn answers_probes(address: SocketAddr) -> bool {
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        stream
            .write_all(b"GET /livez HTTP/1.1\r\nhost: banqi\r\nconnection: close\r\n\r\n")
            .await?;
        let mut answer = Vec::new();
        stream.take(4096).read_to_end(&mut answer).await?;
        std::io::Result::Ok(answer.ends_with(b"alive\n"))
    };
    matches!(timeout(PATIENCE, asked).await, Ok(Ok(true)))
}
