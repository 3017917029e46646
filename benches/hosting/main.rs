//! What a call costs the service, beside what it would cost a bare one (the floor, `floor.rs`).
//!
//! Both run as processes of their own against Redis servers of their own; windows in which one or
//! the other is called alternate, so that whatever else the machine does falls on both. What
//! decides is the ratio of processor time a call within a round.

#![expect(clippy::disallowed_methods, reason = "time is what is measured")]

mod floor;
mod load;
mod process;
#[path = "../../tests/support/redis_server.rs"]
#[allow(dead_code, reason = "what tests do with a server")]
mod redis_server;
mod report;
mod tape;

use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use tokio::task::JoinSet;

use self::load::{Balance, Call, Table, Tally};
use self::process::Server;
use self::redis_server::RedisServer;
use self::report::{Measured, Pair};

/// Measures what a call costs the service and what it costs the floor.
#[derive(Parser)]
struct Arguments {
    /// How many rounds each arrangement is measured in
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// How many seconds each of a round's four windows lasts
    #[arg(long, default_value_t = 1.0)]
    seconds: f64,
    /// How many connections to each replica
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// How many calls each connection has in flight
    #[arg(long, default_value_t = 8)]
    in_flight: usize,
    /// Measure one replica only
    #[arg(long)]
    one: bool,
    /// What `cargo bench` adds
    #[arg(long, hide = true)]
    bench: bool,
    #[command(subcommand)]
    role: Option<Role>,
}

#[derive(Subcommand)]
enum Role {
    /// Serves the floor: what this program starts itself for
    #[command(hide = true)]
    Floor { redis: String },
}

fn main() {
    let arguments = Arguments::parse();
    match &arguments.role {
        Some(Role::Floor { redis }) => floor::serve(redis),
        None => measure(&arguments),
    }
}

/// Replicas of one kind beside their Redis, and the tables that play there.
struct Subject {
    servers: Vec<Server>,
    _redis: RedisServer,
    tables: Vec<Table>,
}

impl Subject {
    async fn start(
        arguments: &Arguments,
        replicas: usize,
        balance: Balance,
        server: impl Fn(&str) -> Server,
    ) -> Self {
        let redis = RedisServer::start();
        let servers: Vec<_> = (0..replicas).map(|_| server(&redis.url())).collect();
        let addresses: Vec<_> = servers.iter().map(|server| server.address.clone()).collect();
        let (connections, in_flight) = (arguments.connections, arguments.in_flight);
        let tables = Table::open(&addresses, balance, connections, in_flight).await;
        Self { servers, _redis: redis, tables }
    }

    /// Calls for one window at all tables.
    async fn window(&mut self, call: Call, length: Duration) -> Measured {
        let mut tables = JoinSet::new();
        for mut table in self.tables.drain(..) {
            tables.spawn(async move {
                table.prepare().await;
                table
            });
        }
        let prepared = tables.join_all().await;

        let (begun, before) = (Instant::now(), self.processor_time());
        let mut tables = JoinSet::new();
        for mut table in prepared {
            tables.spawn(async move {
                let tally = table.call(call, begun + length).await;
                (table, tally)
            });
        }
        let finished = tables.join_all().await;
        let (took, spent) = (begun.elapsed(), self.processor_time() - before);

        let mut total = Tally::default();
        for (table, tally) in finished {
            self.tables.push(table);
            total.latencies.extend(tally.latencies);
            total.answered += tally.answered;
        }
        Measured::new(total, spent, took)
    }

    fn processor_time(&self) -> Duration {
        self.servers.iter().map(Server::processor_time).sum()
    }
}

fn measure(arguments: &Arguments) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        report::heading();
        arrangement(arguments, "one replica", 1, Balance::Affinity).await;
        if !arguments.one {
            arrangement(arguments, "three, round-robin", 3, Balance::RoundRobin).await;
            arrangement(arguments, "three, affinity", 3, Balance::Affinity).await;
        }
    });
}

/// Measures one arrangement of replicas, in rounds.
async fn arrangement(arguments: &Arguments, name: &str, replicas: usize, balance: Balance) {
    let mut banqi = Subject::start(arguments, replicas, balance, Server::banqi).await;
    let mut floor = Subject::start(arguments, replicas, balance, Server::floor).await;
    let length = Duration::from_secs_f64(arguments.seconds);
    let mut played = Vec::new();
    let mut read = Vec::new();
    // The first round warms up.
    for round in 0..=arguments.rounds {
        for (call, pairs) in [(Call::PlayAction, &mut played), (Call::GetGame, &mut read)] {
            let pair = Pair {
                banqi: banqi.window(call, length).await,
                floor: floor.window(call, length).await,
            };
            if round > 0 {
                pairs.push(pair);
            }
        }
    }
    report::lines(name, "PlayAction", &played);
    report::lines(name, "GetGame", &read);
}
