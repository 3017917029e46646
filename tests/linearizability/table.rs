//! One game from its creation to its end, and the history of it.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use banqi::api::proto::v1;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};

use crate::call::{Call, Credential, Games};
use crate::client::{Client, Way};
use crate::history::{History, Operation, Outcome};
use crate::plan::{Plan, Role, player};

/// What the clients of a game know of it together: they tell each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    pub(crate) game_id: String,
    /// The newest answer about it.
    pub(crate) game: Option<v1::Game>,
    pub(crate) etags: Vec<String>,
    /// The tokens of each seat, the newest last.
    pub(crate) tokens: BTreeMap<u32, Vec<String>>,
    /// Calls with a request id that were sent.
    pub(crate) sent: Vec<Call>,
}

/// A game in progress: what its clients know, and what has happened.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) plan: Plan,
    known: Mutex<Known>,
    moment: AtomicU64,
    operations: Mutex<Vec<Operation>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    pub(crate) fn new(plan: Plan, game_id: String) -> Self {
        Self {
            plan,
            known: Mutex::new(Known { game_id, ..Known::default() }),
            moment: AtomicU64::new(0),
            operations: Mutex::new(Vec::new()),
        }
    }

    /// A game of any kind, under this id or, now and then, one of the service's choice.
    pub(crate) fn draw(random: &mut Xoshiro256PlusPlus, game_id: String) -> Self {
        let plan = Plan::draw(random);
        // Without an id of its own the game has to be created before anybody can ask for it.
        let is_chosen = random.random_ratio(4, 5);
        Self::new(plan, if is_chosen { game_id } else { String::new() })
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        locked(&self.known)
    }

    /// The present moment.
    pub(crate) fn moment(&self) -> u64 {
        self.moment.fetch_add(1, Ordering::SeqCst)
    }

    /// The last calls that have ended.
    pub(crate) fn recent(&self, count: usize) -> String {
        let operations = locked(&self.operations);
        let first = operations.len().saturating_sub(count);
        operations[first..].iter().map(|operation| format!("  {operation}\n")).collect()
    }

    /// Writes down a call that has ended, and tells all clients what it brought.
    pub(crate) fn record(&self, operation: Operation) {
        if let Some(answer) = operation.outcome.answer() {
            let mut known = self.known();
            if let Some(game) = &answer.game {
                if known.game_id.is_empty() {
                    known.game_id.clone_from(&game.game_id);
                }
                if known.game.as_ref().is_none_or(|newest| newest.revision < game.revision) {
                    known.etags.push(game.etag.clone());
                    known.game = Some(game.clone());
                }
            }
            // The tokens of a rematch are of no use here.
            let tokens = if answer.rematch.is_none() { &answer.tokens[..] } else { &[] };
            for v1::SeatToken { seat, token } in tokens {
                let tokens = known.tokens.entry(*seat).or_default();
                if !tokens.contains(token) {
                    tokens.push(token.clone());
                }
            }
        }
        locked(&self.operations).push(operation);
    }

    /// Calls over a connection that nothing cuts.
    pub(crate) async fn call(&self, clients: &mut [Games], call: Call) -> Outcome {
        let invoked = self.moment();
        let replica = invoked as usize % clients.len();
        let outcome = Outcome::of(call.clone().send(&mut clients[replica]).await);
        let returned = self.moment();
        let client = "the closer".to_owned();
        let operation =
            Operation { client, replica, call, invoked, returned, outcome: outcome.clone() };
        self.record(operation);
        outcome
    }

    /// Ends the game, whatever the clients left of it, and reads all that it has to tell then.
    pub(crate) async fn close(&self, clients: &mut [Games]) -> History {
        // Each round ends a seat or more, and calls of the clients that are still under way can
        // spoil only so many.
        for _ in 0..100 {
            let game_id = self.known().game_id.clone();
            let get = v1::GetGameRequest { game_id, view: v1::GameView::Full.into() };
            let outcome = self.call(clients, Call::Get(get)).await;
            let game = outcome.answer().and_then(|answer| answer.game.clone());
            let Some(game) = game else {
                let label = format!("the closer's {}", self.moment());
                let game_id = self.known().game_id.clone();
                self.call(clients, self.plan.creation(&game_id, label)).await;
                continue;
            };
            if game.state() == v1::GameState::Finished {
                let request = v1::GetFairnessProofRequest { game_id: game.game_id };
                let proof = clients[0].get_fairness_proof(request).await.expect("a proof");
                let operations = locked(&self.operations).clone();
                let rematch = self.rematch(clients, &game.rematch_game_id).await;
                return History { operations, log: game.log, proof: proof.into_inner(), rematch };
            }
            for call in ways_to_the_end(&game) {
                self.call(clients, call).await;
            }
        }
        let operations = locked(&self.operations).clone();
        let proof = v1::GetFairnessProofResponse::default();
        let history = History { operations, log: Vec::new(), proof, rematch: None };
        panic!("the game does not end:\n{}", history.excerpt(0, u64::MAX));
    }

    async fn rematch(&self, clients: &mut [Games], id: &str) -> Option<v1::Game> {
        if id.is_empty() {
            return None;
        }
        let view = v1::GameView::Full.into();
        let request = v1::GetGameRequest { game_id: id.to_owned(), view };
        let answer = clients[0].get_game(request).await.expect("the rematch").into_inner();
        answer.game
    }
}

/// What brings a game nearer to its end.
fn ways_to_the_end(game: &v1::Game) -> Vec<Call> {
    let mut calls = Vec::new();
    for seat in &game.seats {
        if !seat.joined {
            let player_id = player(seat.number);
            let request =
                v1::JoinGameRequest { seat: seat.number, player_id, ..Default::default() };
            calls.push(Call::Join(request));
        } else if game.entropy_required && !seat.entropy_added {
            let entropy = vec![seat.number as u8];
            let request = v1::AddEntropyRequest { entropy, ..Default::default() };
            let mut call = Call::AddEntropy(request);
            call.set_credential(Credential::Seat(seat.number));
            calls.push(call);
        }
    }
    if calls.is_empty() {
        let mut call = Call::Resign(v1::ResignGameRequest::default());
        let to_move = game.position.as_ref().map_or(1, |position| position.to_move);
        call.set_credential(Credential::Seat(to_move));
        calls.push(call);
    }
    for call in &mut calls {
        call.set_game_id(&game.game_id);
    }
    calls
}

/// Has as many clients as there are lanes, or fewer, ask for so many things each.
pub(crate) async fn play<W: Way>(
    table: &Table,
    random: &mut Xoshiro256PlusPlus,
    lanes: &mut [Vec<W>],
    calls: RangeInclusive<usize>,
) {
    let roles = (1..=table.plan.seat_count()).map(Role::Seat);
    let roles = roles.chain([Role::Platform, Role::Stranger]);
    let count = random.random_range(3..=lanes.len());
    let mut clients: Vec<Client<'_, W>> = lanes
        .iter_mut()
        .zip(roles)
        .take(count)
        .map(|(ways, role)| {
            let random = Xoshiro256PlusPlus::seed_from_u64(random.random());
            Client { role, table, ways, random, used: Vec::new() }
        })
        .collect();
    let is_unnamed = table.known().game_id.is_empty();
    if is_unnamed {
        clients[0].create().await;
    }
    let calls = random.random_range(calls);
    futures_util::future::join_all(clients.iter_mut().map(|client| client.run(calls))).await;
}
