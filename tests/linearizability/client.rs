//! One client: it draws what to ask for, calls over ways on which calls get lost, and repeats itself.

use std::time::Duration;

use futures_util::future::join;
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;

use crate::call::Call;
use crate::history::{Operation, Outcome};
use crate::plan::{Draw, Role};
use crate::table::Table;

/// How often a client sends one request at most.
const ATTEMPTS: usize = 5;

/// A way to one replica.
pub(crate) trait Way {
    /// What happens to one call on it.
    type Fate;

    fn draw(random: &mut Xoshiro256PlusPlus) -> Self::Fate;

    /// Sends a call; tells how it ended for the caller.
    async fn send(&mut self, table: &Table, call: &Call, fate: Self::Fate) -> Outcome;
}

pub(crate) struct Client<'a, W> {
    pub(crate) role: Role,
    pub(crate) table: &'a Table,
    /// One to each replica.
    pub(crate) ways: &'a mut [W],
    pub(crate) random: Xoshiro256PlusPlus,
    /// The request ids that it has used.
    pub(crate) used: Vec<String>,
}

impl<W: Way> Client<'_, W> {
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
            let replica = self.random.random_range(0..self.ways.len());
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

    /// Sends a call to one replica.
    async fn send(&mut self, replica: usize, call: &Call) -> Outcome {
        let fate = W::draw(&mut self.random);
        let name = format!("{:?}", self.role);
        send(self.table, name, replica, &mut self.ways[replica], call, fate).await
    }

    /// Sends a call to two replicas at the same time; tells what the first one said.
    async fn send_twice(&mut self, replica: usize, call: &Call) -> Outcome {
        let one_fate = W::draw(&mut self.random);
        let other_fate = W::draw(&mut self.random);
        let name = format!("{:?}", self.role);
        let other = (replica + 1) % self.ways.len();
        let [one_way, other_way] =
            self.ways.get_disjoint_mut([replica, other]).expect("two replicas");
        let table = self.table;
        let (outcome, _) = join(
            send(table, name.clone(), replica, one_way, call, one_fate),
            send(table, name, other, other_way, call, other_fate),
        )
        .await;
        outcome
    }
}

/// Makes one call and writes down what came of it.
async fn send<W: Way>(
    table: &Table,
    client: String,
    replica: usize,
    way: &mut W,
    call: &Call,
    fate: W::Fate,
) -> Outcome {
    let invoked = table.moment();
    let outcome = way.send(table, call, fate).await;
    let returned = table.moment();
    let call = call.clone();
    table.record(Operation { client, replica, call, invoked, returned, outcome: outcome.clone() });
    outcome
}
