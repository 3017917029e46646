//! Replicas on one Redis behind a balancer, what happens to them, and the client that plays meanwhile.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::balancer::{Balancer, Kind};
use crate::network::Network;
use crate::support::python::{ROOT, environment};
use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

/// Replicas at the beginning.
const FIRST: u8 = 3;
/// Replicas after more were started.
const MOST: u8 = 5;
/// How the client's commands ask for a happening.
const ASKED: &str = "asked for: ";

/// What happens to the replicas while games are played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Happening {
    /// The replica with most of the games is killed.
    Kill,
    /// The replica with most of the games is told to stop.
    Stop,
    /// Replicas are started until there are five.
    Scale,
    /// Each replica is told to stop, one after the other, and started again when it has.
    Roll,
}

impl Happening {
    const ALL: [Self; 4] = [Self::Kill, Self::Stop, Self::Scale, Self::Roll];

    /// How many replicas there are afterwards.
    const fn replicas(self) -> u8 {
        match self {
            Self::Kill | Self::Stop => FIRST - 1,
            Self::Scale | Self::Roll => MOST,
        }
    }
}

/// What is shipped in `deploy/`, on this machine's loopback. The balancer is first, and so the
/// first to end.
pub(crate) struct Deployment {
    balancer: Balancer,
    kind: Kind,
    pub(crate) network: Network,
    replicas: Vec<Option<Replica>>,
    redis: RedisServer,
}

impl Deployment {
    /// Starts three replicas.
    pub(crate) fn start(kind: Kind) -> Self {
        let (network, redis) = (Network::new(), RedisServer::start());
        let replicas = (0..FIRST).map(|number| Some(start(network, number, &redis))).collect();
        let balancer = Balancer::start(kind, network, FIRST, MOST);
        balancer.wait_until_it_is_answered();
        Self { balancer, kind, network, replicas, redis }
    }

    /// Has a client play so many games at once while all of this happens, one after the other.
    pub(crate) fn play(&mut self, games: usize, happenings: &[Happening]) {
        let mut command = Command::new(environment().join("bin/python"));
        command.arg(Path::new(ROOT).join("deploy/check.py"));
        command.args(["--seed=1", "--pace=0.1", &format!("--replicas={FIRST}")]);
        command.arg(format!("--games={games}"));
        for &happening in happenings {
            let calls = if self.is_seamless(happening) { "seamless" } else { "repeated" };
            let ask = format!("echo \"{ASKED}{happening:?} $BUSIEST\" && read -r done");
            command.args(["--happening", &format!("{happening:?}"), calls]);
            command.args([&happening.replicas().to_string(), &ask]);
        }
        command.arg(self.network.balancer().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = command.spawn().expect("python runs");
        let mut answers = client.stdin.take().expect("a pipe");
        // Every call of the client has a deadline, so it ends.
        for line in BufReader::new(client.stdout.take().expect("a pipe")).lines() {
            let line = line.expect("text");
            println!("{line}");
            if let Some(asked) = line.strip_prefix(ASKED) {
                let (name, busiest) = asked.split_once(' ').expect("and the busiest replica");
                let happening = Happening::ALL
                    .into_iter()
                    .find(|happening| format!("{happening:?}") == name)
                    .expect("what was given it");
                self.happen(happening, busiest.parse().expect("its address"));
                writeln!(answers, "done").expect("it waits for this");
            }
        }
        let status = client.wait().expect("it has closed its output");
        assert!(status.success(), "{status}: what the client told stands above");
    }

    /// Whether no call may fail by it. nginx has no probes, so it finds out by calls who has stopped;
    /// and when it reloads, calls that come over connections which it is just closing are lost.
    fn is_seamless(&self, happening: Happening) -> bool {
        happening != Happening::Kill && self.kind != Kind::Nginx
    }

    fn happen(&mut self, happening: Happening, busiest: SocketAddr) {
        let busiest = (0..MOST).find(|&number| self.network.calls(number) == busiest);
        let busiest = usize::from(busiest.expect("a replica of this network"));
        match happening {
            Happening::Kill => self.take(busiest).kill(),
            Happening::Stop => {
                let status = self.take(busiest).stop();
                assert!(status.success(), "{status}");
            }
            Happening::Scale => {
                for number in 0..MOST {
                    let index = usize::from(number);
                    if index == self.replicas.len() {
                        self.replicas.push(None);
                    }
                    let replica = &mut self.replicas[index];
                    replica.get_or_insert_with(|| start(self.network, number, &self.redis));
                }
                self.balancer.tell(MOST);
            }
            Happening::Roll => {
                for number in 0..MOST {
                    let status = self.take(number.into()).stop();
                    assert!(status.success(), "{status}");
                    let again = start(self.network, number, &self.redis);
                    self.replicas[usize::from(number)] = Some(again);
                }
            }
        }
    }

    fn take(&mut self, number: usize) -> Replica {
        self.replicas[number].take().expect("it was started")
    }
}

fn start(network: Network, number: u8, redis: &RedisServer) -> Replica {
    let arguments = ["--store", &redis.url(), "--stop-delay=3"];
    Replica::start_on(network.calls(number), network.probes(number), &arguments)
}
