//! The address of a store on Redis: `redis://…` and its relatives.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;
use zeroize::Zeroizing;

use super::access::{Access, HostPort};
use super::tls::{Own, Tls};
use crate::store::Misconfiguration;
use crate::store::open::bad_address;

/// Where a store is and how it is reached.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) kind: Kind,
    /// The server, the sentinels, or some nodes of the cluster; at least one.
    pub(super) hosts: Vec<HostPort>,
    /// What the servers that keep games are shown.
    pub(super) access: Access,
}

/// What stands at an address.
#[derive(Debug)]
pub(super) enum Kind {
    /// One server.
    Server,
    /// Sentinels, which say which server is a service's primary; and what they are shown.
    Sentinels { service: String, access: Access },
    /// Nodes of a cluster.
    Cluster,
}

/// The parts of an address between its punctuation.
struct Parts<'a> {
    credentials: Option<&'a str>,
    hosts: &'a str,
    path: Vec<&'a str>,
    options: HashMap<&'a str, String>,
}

/// The options of every kind, then those of sentinels alone.
const OPTIONS: [&str; 3] = ["ca", "cert", "key"];
const SENTINEL_OPTIONS: [&str; 3] = ["sentinel-user", "sentinel-password", "sentinel-tls"];

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong with it, without repeating any of it: it may contain a password.
    pub(super) fn parse(text: &str) -> Result<Self, Misconfiguration> {
        let (scheme, rest) = text.split_once("://").ok_or_else(|| {
            bad_address("write `redis://HOST:PORT`, `redis://USER:PASSWORD@HOST:PORT/DATABASE`")
        })?;
        let (encrypted, kind) = match scheme.split_once('+').unwrap_or((scheme, "")) {
            ("redis", kind) => (false, kind),
            ("rediss", kind) => (true, kind),
            _ => return Err(unknown_kind()),
        };
        let mut parts = Parts::split(rest)?;
        let (user, password) = credentials(parts.credentials)?;
        let tls = tls(encrypted, &mut parts.options)?;
        let mut access = Access { user, password, database: 0, tls };
        let (kind, port) = match kind {
            "" => {
                access.database = database(&parts.path)?;
                (Kind::Server, 6_379)
            }
            "sentinel" => {
                let Some((&service, path)) =
                    parts.path.split_first().filter(|(it, _)| !it.is_empty())
                else {
                    return Err(bad_address("the service is missing: end with `/SERVICE`"));
                };
                access.database = database(path)?;
                let service = decode(service)?;
                let sentinels = sentinel_access(access.tls.as_ref(), &mut parts.options)?;
                (Kind::Sentinels { service, access: sentinels }, 26_379)
            }
            "cluster" if parts.path.iter().all(|part| part.is_empty()) => (Kind::Cluster, 6_379),
            "cluster" => return Err(bad_address("a cluster has no databases to choose from")),
            _ => return Err(unknown_kind()),
        };
        if !parts.options.is_empty() {
            return Err(bad_address(format_args!(
                "it has an option that there is not: there are {}, and with sentinels {}",
                OPTIONS.join(", "),
                SENTINEL_OPTIONS.join(", ")
            )));
        }
        let hosts = hosts(parts.hosts, port)?;
        if matches!(kind, Kind::Server) && hosts.len() > 1 {
            return Err(bad_address(
                "one server has one host: several are those of `redis+sentinel` or `redis+cluster`",
            ));
        }
        Ok(Self { kind, hosts, access })
    }
}

impl<'a> Parts<'a> {
    fn split(rest: &'a str) -> Result<Self, Misconfiguration> {
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (credentials, hosts) = match authority.rsplit_once('@') {
            Some((credentials, hosts)) => (Some(credentials), hosts),
            None => (None, authority),
        };
        let mut options = HashMap::new();
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) =
                option.split_once('=').ok_or_else(|| bad_address("an option has no value"))?;
            if options.insert(name, decode(value)?).is_some() {
                return Err(bad_address("an option is given twice"));
            }
        }
        Ok(Self { credentials, hosts, path: path.split('/').collect(), options })
    }
}

fn unknown_kind() -> Misconfiguration {
    bad_address(
        "it begins with `redis://`, `redis+sentinel://` or `redis+cluster://`, or with `rediss` \
         for TLS",
    )
}

/// Puts characters back that are written as `%` and their bytes.
fn decode(text: &str) -> Result<String, Misconfiguration> {
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| bad_address("what stands for `%XX` in it is not UTF-8"))?.into_owned())
}

type Credentials = (Option<String>, Option<Zeroizing<String>>);

fn credentials(text: Option<&str>) -> Result<Credentials, Misconfiguration> {
    let Some(text) = text else { return Ok((None, None)) };
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    pair(decode(user)?, decode(password)?)
}

fn pair(user: String, password: String) -> Result<Credentials, Misconfiguration> {
    match (user.is_empty(), password.is_empty()) {
        (true, true) => Ok((None, None)),
        (_, false) => Ok((Some(user).filter(|user| !user.is_empty()), Some(password.into()))),
        (false, true) => Err(bad_address("a user needs a password: `USER:PASSWORD@`")),
    }
}

fn database(path: &[&str]) -> Result<i64, Misconfiguration> {
    let bad = || bad_address("a database is a number: `/0`");
    match path {
        [] | [""] => Ok(0),
        [number] => number.parse::<u16>().map(i64::from).map_err(|_| bad()),
        _ => Err(bad()),
    }
}

fn hosts(text: &str, default_port: u16) -> Result<Vec<HostPort>, Misconfiguration> {
    text.split(',')
        .map(|text| host_port(text, default_port))
        .collect::<Option<_>>()
        .ok_or_else(|| bad_address("a host is written `HOST`, `HOST:PORT` or `[IPv6]:PORT`"))
}

/// Reads a host with its port, or with this one when it has none.
pub(super) fn host_port(text: &str, default_port: u16) -> Option<HostPort> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => {
            let (host, port) = text.split_once(':').map_or((text, None), |(h, p)| (h, Some(p)));
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            (Some(host).filter(|host| !host.is_empty() && host.bytes().all(allowed))?, port)
        }
    };
    let port = match port {
        Some(port) => port.parse().ok().filter(|&port| port > 0)?,
        None => default_port,
    };
    Some(HostPort { host: host.into(), port })
}

fn tls(
    encrypted: bool,
    options: &mut HashMap<&str, String>,
) -> Result<Option<Tls>, Misconfiguration> {
    let [ca, cert, key] = OPTIONS.map(|name| options.remove(name));
    if !encrypted {
        return if ca.or(cert).or(key).is_some() {
            Err(bad_address("`ca`, `cert` and `key` are for TLS: begin with `rediss`"))
        } else {
            Ok(None)
        };
    }
    let own = match (cert, key) {
        (None, None) => None,
        (Some(cert), Some(key)) => Some(Own { certificate: cert.into(), key: key.into() }),
        _ => return Err(bad_address("`cert` and `key` go together")),
    };
    Ok(Some(Tls { authorities: ca.map(Into::into), own }))
}

/// What sentinels are shown: nothing but what is given for them, over TLS if the servers are.
fn sentinel_access(
    servers: Option<&Tls>,
    options: &mut HashMap<&str, String>,
) -> Result<Access, Misconfiguration> {
    let [user, password, encrypted] = SENTINEL_OPTIONS.map(|name| options.remove(name));
    let (user, password) = pair(user.unwrap_or_default(), password.unwrap_or_default())?;
    let tls = match encrypted.as_deref() {
        None => servers.cloned(),
        Some("yes") => Some(servers.cloned().unwrap_or_default()),
        Some("no") => None,
        Some(_) => return Err(bad_address("`sentinel-tls` is `yes` or `no`")),
    };
    Ok(Access { user, password, database: 0, tls })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Address {
        Address::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn shown(hosts: &[HostPort]) -> Vec<String> {
        hosts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_server_has_a_database_and_credentials() {
        let address = parse("redis://ann:p%40ss%2F@db.example/3");
        assert!(matches!(address.kind, Kind::Server));
        assert_eq!(shown(&address.hosts), ["db.example:6379"]);
        assert_eq!(address.access.database, 3);
        assert_eq!(address.access.user.as_deref(), Some("ann"));
        assert_eq!(address.access.password.as_ref().expect("one").as_str(), "p@ss/");
        assert!(address.access.tls.is_none());
        let address = parse("rediss://:secret@[::1]:7000");
        assert_eq!(shown(&address.hosts), ["[::1]:7000"]);
        assert_eq!(address.access.user, None);
        assert!(address.access.tls.is_some());
        assert!(!format!("{address:?}").contains("secret"));
    }

    #[test]
    fn sentinels_have_a_service_and_credentials_of_their_own() {
        let address = parse(
            "rediss+sentinel://ann:one@a,b:7001/games/2?sentinel-user=bob&sentinel-password=two",
        );
        assert_eq!(shown(&address.hosts), ["a:26379", "b:7001"]);
        let Kind::Sentinels { service, access } = &address.kind else { panic!("{address:?}") };
        assert_eq!(service, "games");
        assert_eq!((address.access.database, access.database), (2, 0));
        assert_eq!(access.user.as_deref(), Some("bob"));
        assert_eq!(access.password.as_ref().expect("one").as_str(), "two");
        assert!(access.tls.is_some());
        let address = parse("rediss+sentinel://ann:one@a/games?sentinel-tls=no");
        let Kind::Sentinels { access, .. } = &address.kind else { panic!("{address:?}") };
        assert!(access.tls.is_none() && access.user.is_none() && access.password.is_none());
    }

    #[test]
    fn a_cluster_is_named_by_some_of_its_nodes() {
        let address = parse("redis+cluster://10.0.0.1,10.0.0.2:7000/");
        assert!(matches!(address.kind, Kind::Cluster));
        assert_eq!(shown(&address.hosts), ["10.0.0.1:6379", "10.0.0.2:7000"]);
    }

    #[test]
    fn what_is_wrong_is_told_without_repeating_it() {
        for (text, told) in [
            ("redis:secret", "redis://HOST:PORT"),
            ("redis+secret://h", "redis+sentinel://"),
            ("redis://:secret@h:secret", "HOST:PORT"),
            ("redis://:se/cret@h", "number"),
            ("redis://:s?cret=x@h", "option"),
            ("redis://secret@h", "USER:PASSWORD@"),
            ("redis://h/secret", "number"),
            ("redis://h,secret", "one host"),
            ("redis://h?secret=x", "sentinel-user"),
            ("redis://h?ca=secret", "rediss"),
            ("rediss://h?cert=secret", "go together"),
            ("rediss://h?ca=a&ca=secret", "twice"),
            ("redis+sentinel://h", "/SERVICE"),
            ("redis+sentinel://h/s?sentinel-user=secret", "USER:PASSWORD@"),
            ("redis+sentinel://h/s?sentinel-tls=secret", "`yes` or `no`"),
            ("redis+cluster://h/1", "no databases"),
            ("redis+cluster://h?sentinel-tls=no", "option"),
        ] {
            let error = Address::parse(text).expect_err(text).to_string();
            assert!(error.contains(told), "{text}: {error}");
            assert!(!error.contains("secret") && !error.contains("cret="), "{text}: {error}");
        }
    }
}
