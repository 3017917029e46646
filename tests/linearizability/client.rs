//! One client: it draws what to ask for, calls over connections that may be cut, and repeats itself.

use std::time::Duration;

use futures_util::future::join;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use tokio::time::timeout;
use tonic_types::StatusExt as _;

use crate::call::Call;
use crate::history::{Operation, Outcome};
use crate::plan::{Draw, Role};
use crate::proxy::Fate;
use crate::support::PATIENCE;
use crate::table::Table;
use crate::world::Lane;

/// How often a client sends one request at most.
const ATTEMPTS: usize = 5;

/// Why the outcome of a call is unknown, where the client itself or its proxy sees to that.
pub(crate) const CUT: &str = "the connection was cut";
pub(crate) const STUCK: &str = "the call never left the client";
pub(crate) const LEFT: &str = "the client went away";

pub(crate) struct Client<'a> {
    pub(crate) role: Role,
    pub(crate) table: &'a Table,
    pub(crate) lanes: &'a mut [Lane],
    pub(crate) random: Xoshiro256PlusPlus,
    /// The request ids that it has used.
    pub(crate) used: Vec<String>,
}

impl Client<'_> {
    /// Asks for so many things.
    pub(crate) async fn run(&mut self, calls: usize) {
        for _ in 0..calls {
            if self.table.plan.time_control.is_some() && self.chance(8) {
                // Somebody thinks, perhaps for too long.
                let span = Duration::from_millis(self.random.random_range(20..200));
                tokio::time::sleep(span).await;
            }
            let call = self.draw();
            self.ask(call).await;
        }
    }

    /// Creates the game under an id of the service's choice; does not give up.
    pub(crate) async fn create(&mut self) {
        let mut call = self.table.plan.creation("", self.label());
        call.set_request_id(&self.request_id());
        while self.table.known().game_id.is_empty() {
            self.ask(call.clone()).await;
        }
    }

    fn label(&mut self) -> String {
        format!("{:016x}", self.random.random::<u64>())
    }

    /// A random UUID, as creations and joins want it.
    fn request_id(&mut self) -> String {
        uuid::Builder::from_random_bytes(self.random.random()).into_uuid().to_string()
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_ratio(percent, 100)
    }

    /// What to ask for next.
    fn draw(&mut self) -> Call {
        let known = self.table.known().clone();
        if self.chance(3)
            && let Some(call) = known.sent.choose(&mut self.random)
        {
            // Somebody else's, or an old one of its own.
            return call.clone();
        }
        let label = self.label();
        let mut draw = Draw {
            plan: &self.table.plan,
            role: self.role,
            known: &known,
            random: &mut self.random,
        };
        let mut call = draw.call(label);
        if self.chance(80) {
            let id = match self.used.last_chunk::<4>().and_then(|ids| ids.choose(&mut self.random))
            {
                // By mistake an id that it has used for something else.
                Some(used) if self.random.random_ratio(5, 100) => used.clone(),
                _ => self.request_id(),
            };
            call.set_request_id(&id);
            self.used.push(id);
        }
        if call.request_id().is_some() {
            self.table.known().sent.push(call.clone());
        }
        call
    }

    /// Asks for one thing, again and again where it is safe to and nobody knows what came of it, and
    /// sometimes for no reason at all.
    async fn ask(&mut self, call: Call) {
        for _ in 0..ATTEMPTS {
            let replica = self.random.random_range(0..self.lanes.len());
            let outcome = if call.request_id().is_some() && self.chance(10) {
                self.send_twice(replica, &call).await
            } else {
                self.send(replica, &call).await
            };
            let again = match (call.request_id(), outcome) {
                (None, _) => 0,
                (Some(_), Outcome::Unknown(_)) => 85,
                (Some(_), _) => 15,
            };
            if !self.chance(again) {
                return;
            }
        }
    }

    fn fate(&mut self) -> (Fate, Option<Duration>) {
        let short = Duration::from_micros(self.random.random_range(0..4_000));
        match self.random.random_range(0..100) {
            0..4 => (Fate::CutBefore, None),
            4..7 => (Fate::CutWithin, None),
            7..14 => (Fate::CutAfter, None),
            14..20 => (Fate::Delay(short), None),
            // The client goes away without waiting for the answer.
            20..25 => (Fate::Pass, Some(short)),
            _ => (Fate::Pass, None),
        }
    }

    /// Sends a call to one replica.
    async fn send(&mut self, replica: usize, call: &Call) -> Outcome {
        let (fate, patience) = self.fate();
        let name = format!("{:?}", self.role);
        send(self.table, name, replica, &mut self.lanes[replica], call, fate, patience).await
    }

    /// Sends a call to two replicas at the same time; tells what the first one said.
    async fn send_twice(&mut self, replica: usize, call: &Call) -> Outcome {
        let (one_fate, one_patience) = self.fate();
        let (other_fate, other_patience) = self.fate();
        let name = format!("{:?}", self.role);
        let other = (replica + 1) % self.lanes.len();
        let [one_lane, other_lane] =
            self.lanes.get_disjoint_mut([replica, other]).expect("two replicas");
        let table = self.table;
        let (outcome, _) = join(
            send(table, name.clone(), replica, one_lane, call, one_fate, one_patience),
            send(table, name, other, other_lane, call, other_fate, other_patience),
        )
        .await;
        outcome
    }
}

/// Makes one call and writes down what came of it.
async fn send(
    table: &Table,
    client: String,
    replica: usize,
    lane: &mut Lane,
    call: &Call,
    fate: Fate,
    patience: Option<Duration>,
) -> Outcome {
    lane.proxy.decide(fate);
    let cuts = !matches!(fate, Fate::Pass | Fate::Delay(_));
    let invoked = table.moment();
    let sent = timeout(patience.unwrap_or(PATIENCE), call.clone().send(&mut lane.client)).await;
    let returned = table.moment();
    let outcome = match sent {
        Ok(Err(status)) if status.get_error_details().error_info().is_none() && cuts => {
            Outcome::Unknown(CUT.to_owned())
        }
        Ok(result) => Outcome::of(result),
        Err(_) if patience.is_some() => Outcome::Unknown(LEFT.to_owned()),
        // A call that never left the client is not the service's to answer.
        Err(_) if !lane.proxy.has_carried_a_request() => Outcome::Unknown(STUCK.to_owned()),
        Err(_) => panic!(
            "no answer to {call} ({fate:?}) from replica {replica} within {PATIENCE:?}: {}\n{}",
            lane.proxy.carried(),
            table.recent(60)
        ),
    };
    lane.proxy.decide(Fate::Pass);
    let call = call.clone();
    table.record(Operation { client, replica, call, invoked, returned, outcome: outcome.clone() });
    outcome
}
