//! A simple model of one game. It shares no code with the service but the rules of the board: its
//! subject is seats, turns, ends and refusals, not what a cannon may take.

mod clocks;
mod event;
mod judge;
mod offers;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use banqi::api::proto::v1;
use banqi::rules::{BoardSize, Deal, EndReason, Played, Preset, Referee, RuleSet, Seat};

use clocks::Clocks;
pub(crate) use event::{Event, millis};
use offers::{Offer, Offers, Step};
pub(crate) use view::{actions_of, differences, view_of};

/// One seat.
#[derive(Clone, Debug)]
struct Chair {
    claim: v1::SeatClaim,
    player: String,
    joined: bool,
    entropy: Vec<u8>,
    /// The revision whose answer brought its present token.
    token_since: u64,
}

/// The game at one revision.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    revision: u64,
    game_id: String,
    rules: RuleSet,
    labels: BTreeMap<String, String>,
    entropy_required: bool,
    chairs: Vec<Chair>,
    referee: Referee,
    last_action: Option<Played>,
    /// The seats that have ever acted.
    acted: BTreeSet<u32>,
    steps: Vec<Step>,
    offers: Offers,
    clocks: Clocks,
    rematch: bool,
    created_at: i64,
    started_at: Option<i64>,
    updated_at: i64,
    ended_at: Option<i64>,
}

/// Where the game is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Waiting,
    Active,
    Finished,
}

impl Model {
    /// The game that a creation makes.
    pub(crate) fn create(game_id: &str, request: &v1::CreateGameRequest, at: i64) -> Self {
        let preset = Preset::from_name(&request.preset).expect("a preset");
        let rules = preset.rules();
        let chairs = request.seats.iter().map(|seat| {
            let joined = seat.claim() == v1::SeatClaim::Assigned;
            Chair {
                claim: seat.claim(),
                player: seat.player_id.clone(),
                joined,
                entropy: Vec::new(),
                token_since: u64::from(joined),
            }
        });
        let mut model = Self {
            revision: 1,
            game_id: game_id.to_owned(),
            labels: request.labels.clone(),
            entropy_required: request.entropy_required,
            chairs: chairs.collect(),
            referee: Referee::new(&rules),
            rules,
            last_action: None,
            acted: BTreeSet::new(),
            steps: Vec::new(),
            offers: Offers::default(),
            clocks: Clocks::new(request.time_control.unwrap_or_default(), request.seats.len()),
            rematch: false,
            created_at: at,
            started_at: None,
            updated_at: at,
            ended_at: None,
        };
        model.note_start(at);
        model
    }

    /// The game after an entry of the log. The entry must be allowed.
    pub(crate) fn apply(&mut self, event: &Event, at: i64, deal: &Deal) {
        self.revision += 1;
        self.updated_at = at;
        let (mover, turn) = (self.seat_to_move(), self.referee.position().turn_number());
        let departures = self.referee.departures().len();
        self.happen(event, at, deal);
        if self.referee.departures().len() > departures || self.referee.outcome().is_some() {
            self.end_all_offers();
        }
        if self.ended_at.is_none() && self.referee.outcome().is_some() {
            self.ended_at = Some(at);
            self.clocks.end(mover, at, false);
        } else if self.referee.position().turn_number() > turn {
            let is_in = self.seats_in().any(|seat| seat == mover);
            self.clocks.end(mover, at, is_in);
            self.clocks.begin(at);
        }
        self.note_start(at);
    }

    fn happen(&mut self, event: &Event, at: i64, deal: &Deal) {
        match event {
            Event::Created => unreachable!("a game is created once"),
            Event::Joined { seat, player, entropy } => {
                let revision = self.revision;
                let chair = self.chair_mut(*seat);
                chair.joined = true;
                if chair.claim == v1::SeatClaim::Open {
                    chair.player.clone_from(player);
                }
                chair.entropy.clone_from(entropy);
                chair.token_since = revision;
            }
            Event::EntropyAdded { seat, entropy } => {
                self.chair_mut(*seat).entropy.clone_from(entropy);
            }
            Event::Played { seat, action } => self.play(*seat, action, deal),
            Event::Resigned { seat } => self.leave(*seat, EndReason::Resignation),
            Event::TimedOut { seat } => self.leave(*seat, self.clocks.reason(*seat)),
            Event::Aborted { .. } => self.referee.end(EndReason::Aborted),
            Event::DrawOffered { seat } => {
                self.offers.draw = Some(Offer { seat: *seat, ..Offer::default() });
                self.offers.drawn.insert(*seat);
            }
            Event::DrawAnswered { seat, accepted } => self.answer_draw(*seat, *accepted),
            Event::TakebackRequested { seat } => {
                self.offers.takeback = Some(Offer { seat: *seat, ..Offer::default() });
                self.offers.asked.insert(*seat);
            }
            Event::TakebackAnswered { seat, accepted } => {
                self.answer_takeback(*seat, *accepted, at);
            }
            Event::TokenReissued { seat } => {
                let revision = self.revision;
                self.chair_mut(*seat).token_since = revision;
            }
            Event::RematchMade => self.rematch = true,
        }
    }

    fn play(&mut self, seat: u32, action: &str, deal: &Deal) {
        let (before, last_action) = (self.referee.clone(), self.last_action);
        let action = action.parse().expect("an action");
        let played = self.referee.play(action, |square| deal.at(square));
        let played = played.expect("the entry is allowed");
        self.last_action = Some(played);
        self.acted.insert(seat);
        self.end_offers_of(seat);
        let fixed = if played.record.turned_up().is_some() {
            Some("TAKEBACK_REVEALED")
        } else if self.referee.departures().len() > before.departures().len() {
            Some("TAKEBACK_SEAT_OUT")
        } else {
            None
        };
        let turn = played.turn_number;
        self.steps.push(Step { seat: Some(seat), turn, fixed, before, last_action });
    }

    fn leave(&mut self, seat: u32, reason: EndReason) {
        let (before, last_action) = (self.referee.clone(), self.last_action);
        self.referee.leave(board_seat(seat), reason);
        let fixed = Some("TAKEBACK_SEAT_OUT");
        self.steps.push(Step { seat: None, turn: 0, fixed, before, last_action });
    }

    fn note_start(&mut self, at: i64) {
        if self.started_at.is_none() && self.life() == Life::Active {
            self.started_at = Some(at);
            self.clocks.begin(at);
        }
    }

    /// When the seat to move runs out of time.
    pub(crate) fn deadline(&self) -> Option<i64> {
        self.clocks.deadline(self.seat_to_move())
    }

    /// Whether it has a rematch.
    pub(crate) fn has_rematch(&self) -> bool {
        self.rematch
    }

    fn seats_in(&self) -> impl Iterator<Item = u32> {
        let is_in = |seat: &u32| !self.referee.position().is_out(board_seat(*seat));
        (1..).take(self.chairs.len()).filter(is_in)
    }

    pub(crate) fn life(&self) -> Life {
        let awaited =
            |chair: &Chair| !chair.joined || self.entropy_required && chair.entropy.is_empty();
        if self.referee.outcome().is_some() {
            Life::Finished
        } else if self.chairs.iter().any(awaited) {
            Life::Waiting
        } else {
            Life::Active
        }
    }

    /// Whether it is played on the double board.
    pub(crate) fn is_double(&self) -> bool {
        self.rules.board_size() == BoardSize::Double
    }

    /// When the present token of a seat came, if it has one.
    pub(crate) fn token_since(&self, seat: u32) -> Option<u64> {
        self.chair(seat).filter(|chair| chair.joined).map(|chair| chair.token_since)
    }

    /// The seats whose players have their tokens from the creation on.
    pub(crate) fn assigned_seats(&self) -> Vec<u32> {
        let assigned = |seat: &u32| {
            self.chair(*seat).is_some_and(|chair| chair.claim == v1::SeatClaim::Assigned)
        };
        (1..).take(self.chairs.len()).filter(assigned).collect()
    }

    /// What the last action did, as it is written.
    pub(crate) fn last_record(&self) -> Option<String> {
        self.last_action.map(|played| played.record.to_string())
    }

    pub(crate) fn seat_to_move(&self) -> u32 {
        self.referee.position().to_move().number().into()
    }

    /// What each seat has added to the deal.
    pub(crate) fn entropies(&self) -> Vec<Vec<u8>> {
        self.chairs.iter().map(|chair| chair.entropy.clone()).collect()
    }

    fn chair(&self, seat: u32) -> Option<&Chair> {
        self.chairs.get((seat as usize).checked_sub(1)?)
    }

    fn chair_mut(&mut self, seat: u32) -> &mut Chair {
        &mut self.chairs[seat as usize - 1]
    }
}

fn board_seat(seat: u32) -> Seat {
    u8::try_from(seat).ok().and_then(Seat::new).expect("a seat of the board")
}
