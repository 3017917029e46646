//! What clients of a game ask for, drawn at random.

use banqi::api::proto::v1;
use banqi::api::proto::v1::time_control::{
    ByoYomi, Clock, Correspondence, Increment, PerTurn, SuddenDeath, Unlimited,
};
use banqi::rules::{Action, BoardSize, Preset, Square};
use rand::RngExt as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;

use crate::call::{Call, Credential};
use crate::checker::CREATION;
use crate::table::Known;

/// The presets that are played, the likelier ones more often.
const PRESETS: [Preset; 6] = [
    Preset::Taiwanese,
    Preset::Taiwanese,
    Preset::TaiwaneseDarkChain,
    Preset::XiangqiChase,
    Preset::DoubleFour,
    Preset::DoubleFour,
];

/// Whom a client acts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A seat's player.
    Seat(u32),
    /// Somebody looking for a seat.
    Stranger,
    /// The platform, which names seats.
    Platform,
}

/// What a game is to be.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) preset: Preset,
    pub(crate) seats: Vec<v1::NewSeat>,
    pub(crate) entropy_required: bool,
    pub(crate) time_control: Option<v1::TimeControl>,
}

/// The player of a seat.
pub(crate) fn player(seat: u32) -> String {
    format!("player {seat}")
}

/// Mostly none, otherwise so little time that it does run out.
fn draw_time_control(random: &mut Xoshiro256PlusPlus) -> Option<v1::TimeControl> {
    let mut span = |from: i32, to: i32| {
        let millis = random.random_range(from..to);
        Some(prost_types::Duration { seconds: 0, nanos: millis * 1_000_000 })
    };
    let clock = match span(0, 12)?.nanos / 1_000_000 {
        0 => Clock::SuddenDeath(SuddenDeath { main_time: span(100, 900) }),
        1 => Clock::Increment(Increment { main_time: span(100, 300), increment: span(100, 120) }),
        2 => Clock::PerTurn(PerTurn { limit: span(100, 300) }),
        3 => {
            let main_time = span(100, 200);
            Clock::ByoYomi(ByoYomi { main_time, periods: 3, period: span(100, 150) })
        }
        4 => Clock::Correspondence(Correspondence { days_per_turn: 3 }),
        5 => Clock::Unlimited(Unlimited { inactivity_limit: span(100, 200) }),
        _ => return None,
    };
    let first_turn_limit = span(0, 4).filter(|span| span.nanos == 0).and(span(100, 400));
    Some(v1::TimeControl { clock: Some(clock), first_turn_limit })
}

impl Plan {
    pub(crate) fn draw(random: &mut Xoshiro256PlusPlus) -> Self {
        let preset = *PRESETS.choose(random).expect("a preset");
        let seats = (1..=u32::from(preset.rules().seats())).map(|seat| {
            let (claim, player_id) = match random.random_range(0..4) {
                0 => (v1::SeatClaim::Open, String::new()),
                1 => (v1::SeatClaim::Reserved, player(seat)),
                _ => (v1::SeatClaim::Assigned, player(seat)),
            };
            v1::NewSeat { player_id, claim: claim.into() }
        });
        let seats = seats.collect();
        let entropy_required = random.random_ratio(1, 6);
        Self { preset, seats, entropy_required, time_control: draw_time_control(random) }
    }

    /// A creation; `label` tells it from all others.
    pub(crate) fn creation(&self, game_id: &str, label: String) -> Call {
        let request = v1::CreateGameRequest {
            game_id: game_id.to_owned(),
            preset: self.preset.name().to_owned(),
            seats: self.seats.clone(),
            labels: [(CREATION.to_owned(), label)].into(),
            entropy_required: self.entropy_required,
            time_control: self.time_control,
            ..Default::default()
        };
        Call::Create(Box::new(request))
    }

    pub(crate) fn seat_count(&self) -> u32 {
        self.seats.len() as u32
    }
}

/// What a client draws from.
pub(crate) struct Draw<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) role: Role,
    pub(crate) known: &'a Known,
    pub(crate) random: &'a mut Xoshiro256PlusPlus,
}

impl Draw<'_> {
    fn chance(&mut self, percent: u32) -> bool {
        self.random.random_ratio(percent, 100)
    }

    /// The next call of a client, without a request id.
    pub(crate) fn call(&mut self, label: String) -> Call {
        let mut call = self.kind(label);
        call.set_game_id(&self.known.game_id);
        if call.credential().is_some() {
            let credential = self.credential();
            match &credential {
                Shown::Nothing => call.set_credential(Credential::Nothing),
                Shown::Token(token) => call.set_credential(Credential::Token(token)),
                Shown::Seat(seat) => call.set_credential(Credential::Seat(*seat)),
            }
        }
        if self.chance(25) {
            let etags = &self.known.etags;
            let newest = self.known.game.as_ref().map(|game| game.etag.clone());
            let etag = match self.random.random_range(0..10) {
                0 => Some(format!("{}.{:016x}", 1 + etags.len(), 1)),
                1 | 2 => etags.choose(self.random).cloned(),
                _ => newest,
            };
            call.set_etag(&etag.unwrap_or_default());
        }
        call
    }

    fn kind(&mut self, label: String) -> Call {
        if let Some(answer) = self.answer_to_an_offer() {
            return answer;
        }
        // How likely each kind of call is, as the client believes the game to stand.
        let weights: [u32; 12] = match self.known.game.as_ref().map(v1::Game::state) {
            None => [60, 10, 3, 5, 1, 1, 1, 1, 1, 1, 1, 15],
            Some(v1::GameState::Waiting) => [4, 50, 20, 10, 1, 1, 1, 1, 1, 1, 4, 12],
            Some(v1::GameState::Active) => [1, 2, 3, 60, 1, 1, 4, 2, 12, 3, 2, 10],
            Some(_) => [3, 5, 5, 15, 8, 3, 3, 3, 3, 3, 4, 15],
        };
        let rematch = match self.known.game.as_ref().map(v1::Game::state) {
            Some(v1::GameState::Finished) => 30,
            _ => 1,
        };
        let mut drawn = self.random.random_range(0..weights.iter().sum::<u32>() + rematch);
        let kind = weights.iter().position(|weight| {
            let found = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            found
        });
        match kind {
            Some(0) => self.plan.creation(&self.known.game_id, label),
            Some(1) => self.join(),
            Some(2) => {
                let entropy = self.entropy();
                Call::AddEntropy(v1::AddEntropyRequest { entropy, ..Default::default() })
            }
            Some(3) => {
                let (action, validate_only) = (self.action(), self.chance(5));
                Call::Play(v1::PlayActionRequest { action, validate_only, ..Default::default() })
            }
            Some(4) => Call::Resign(v1::ResignGameRequest::default()),
            Some(5) => Call::Abort(v1::AbortGameRequest::default()),
            Some(6) => Call::OfferDraw(v1::OfferDrawRequest::default()),
            Some(7) => {
                let accept = self.chance(40);
                Call::AnswerDraw(v1::AnswerDrawRequest { accept, ..Default::default() })
            }
            Some(8) => Call::RequestTakeback(v1::RequestTakebackRequest::default()),
            Some(9) => {
                let accept = self.chance(80);
                Call::AnswerTakeback(v1::AnswerTakebackRequest { accept, ..Default::default() })
            }
            Some(10) => {
                let seat = self.random.random_range(1..=4);
                Call::Reissue(v1::ReissueSeatTokenRequest { seat, ..Default::default() })
            }
            Some(_) => self.read(),
            None => {
                let first = self.random.random_range(0..4);
                Call::Rematch(v1::RematchRequest { first, ..Default::default() })
            }
        }
    }

    /// Often an answer, where an offer waits for one.
    fn answer_to_an_offer(&mut self) -> Option<Call> {
        let game = self.known.game.as_ref()?;
        if self.random.random_ratio(1, 2) {
            return None;
        }
        if game.takeback_request.is_some() {
            let accept = self.chance(80);
            Some(Call::AnswerTakeback(v1::AnswerTakebackRequest { accept, ..Default::default() }))
        } else if game.draw_offer.is_some() {
            let accept = self.chance(25);
            Some(Call::AnswerDraw(v1::AnswerDrawRequest { accept, ..Default::default() }))
        } else {
            None
        }
    }

    fn read(&mut self) -> Call {
        if self.chance(30) {
            Call::ListActions(v1::ListLegalActionsRequest::default())
        } else {
            let view = if self.chance(50) { v1::GameView::Full } else { v1::GameView::Basic };
            Call::Get(v1::GetGameRequest { view: view.into(), ..Default::default() })
        }
    }

    fn entropy(&mut self) -> Vec<u8> {
        (0..8).map(|_| self.random.random()).collect()
    }

    fn join(&mut self) -> Call {
        let wanted = match self.role {
            Role::Seat(seat) => seat,
            Role::Stranger | Role::Platform => 1 + self.random.random_range(0..self.seats()),
        };
        let player_id = match self.random.random_range(0..10) {
            0 => String::new(),
            1 => "a stranger".to_owned(),
            _ => player(wanted),
        };
        let seat = match self.random.random_range(0..10) {
            0 => self.random.random_range(1..=4),
            1..=5 => wanted,
            _ => 0,
        };
        let entropy = if self.chance(30) { self.entropy() } else { Vec::new() };
        Call::Join(v1::JoinGameRequest { seat, player_id, entropy, ..Default::default() })
    }

    fn action(&mut self) -> String {
        let legal = self.known.game.as_ref().map_or(&[][..], |game| &game.legal_actions);
        // What turns nothing up can be taken back, so there should be some of that.
        let unrevealing = |action: &&v1::LegalAction| {
            matches!(action.kind(), v1::ActionKind::Move | v1::ActionKind::Capture)
        };
        let quiet: Vec<&v1::LegalAction> = legal.iter().filter(unrevealing).collect();
        let chosen = match quiet.choose(self.random) {
            Some(action) if self.random.random_ratio(3, 4) => Some(*action),
            _ => legal.choose(self.random),
        };
        match chosen {
            Some(action) if !self.random.random_ratio(1, 10) => action.text.clone(),
            _ => {
                let mut square = || {
                    let index = self.random.random_range(0..BoardSize::Double.squares() as u8);
                    Square::new(index).expect("a square")
                };
                let (from, to) = (square(), square());
                let action = match self.random.random_range(0..5) {
                    0 => Action::EndChain,
                    1 | 2 => Action::Flip(from),
                    _ if from == to => Action::Flip(from),
                    _ => Action::Move { from, to },
                };
                action.to_string()
            }
        }
    }

    fn seats(&self) -> u32 {
        self.plan.seat_count()
    }

    fn credential(&mut self) -> Shown {
        let to_move = self.known.game.as_ref().and_then(|game| game.position.as_ref());
        let to_move = to_move.map_or(1, |position| position.to_move);
        let seat = match self.role {
            Role::Seat(seat) => seat,
            Role::Stranger => 1 + self.random.random_range(0..self.seats()),
            Role::Platform => {
                let any = self.random.random_range(1..=4);
                if self.chance(70) { to_move } else { any }
            }
        };
        if self.role == Role::Platform {
            return Shown::Seat(seat);
        }
        match self.random.random_range(0..40) {
            0 => Shown::Nothing,
            1 => Shown::Token("no token at all".to_owned()),
            2 => Shown::Seat(seat),
            _ => {
                let tokens = self.known.tokens.get(&seat);
                let token = tokens.and_then(|tokens| {
                    if self.random.random_ratio(1, 8) {
                        tokens.choose(self.random)
                    } else {
                        tokens.last()
                    }
                });
                token.map_or(Shown::Nothing, |token| Shown::Token(token.clone()))
            }
        }
    }
}

/// What a call will show.
enum Shown {
    Nothing,
    Token(String),
    Seat(u32),
}
