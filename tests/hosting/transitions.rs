//! Every transition of a hosted game, allowed or refused: `transitions.txt` has what each call comes
//! to in each state, for each caller, before and after the deadline.
//!
//! `UPDATE_TRANSITIONS=1` writes the page anew, to be read with care: it is what is promised.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::time_control::{Clock, SuddenDeath};
use banqi::game::Span;
use banqi::rules::{BoardSize, full_set};
use banqi::server::Config;
use rstest::rstest;
use tonic::Status;

use crate::meddling::{Meddling, Trouble};
use crate::offers::Calls;
use crate::table::{Table, assigned, seat, to_move};
use crate::world::{Backing, Replica, World, reason, trusting};
use crate::writes::Write;

const PAGE: &str = include_str!("transitions.txt");

/// Longer than every deadline of these games.
const LATE: Span = Span::hours(48);

/// Where a game can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    /// Seat 2 is open.
    WaitingOpen,
    /// Seat 2 is reserved for bert.
    WaitingReserved,
    /// Both seats are taken, and their entropy is awaited.
    WaitingEntropy,
    /// Nobody has acted.
    New,
    /// Both have acted; the last turns turned nothing up.
    Begun,
    /// Seat 1 has captured and can go on.
    Chain,
    /// Seat 1, to move, has offered a draw.
    DrawOffered,
    /// Seat 1, to move, has asked to take back.
    TakebackAsked,
    /// Seat 2 has resigned.
    Over,
    /// Seat 2 has resigned, and seat 1 has asked for a rematch.
    Rematched,
    /// Four seats, of which the fourth has resigned; the other caller is seat 2.
    FourSeats,
    /// The same; the other caller is the seat that is out.
    FourSeatsOut,
}

const STATES: [State; 12] = [
    State::WaitingOpen,
    State::WaitingReserved,
    State::WaitingEntropy,
    State::New,
    State::Begun,
    State::Chain,
    State::DrawOffered,
    State::TakebackAsked,
    State::Over,
    State::Rematched,
    State::FourSeats,
    State::FourSeatsOut,
];

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    JoinGame,
    AddEntropy,
    PlayAction,
    ResignGame,
    AbortGame,
    OfferDraw,
    AnswerDraw,
    RequestTakeback,
    AnswerTakeback,
    Rematch,
    ReissueSeatToken,
}

const CALLS: [Call; 11] = [
    Call::JoinGame,
    Call::AddEntropy,
    Call::PlayAction,
    Call::ResignGame,
    Call::AbortGame,
    Call::OfferDraw,
    Call::AnswerDraw,
    Call::RequestTakeback,
    Call::AnswerTakeback,
    Call::Rematch,
    Call::ReissueSeatToken,
];

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Caller {
    /// The seat to move; where none is, seat 1.
    ToMove,
    /// Another seat.
    Other,
    /// Somebody without a token.
    Stranger,
    /// A trusted caller who names no seat.
    Platform,
}

const CALLERS: [Caller; 4] = [Caller::ToMove, Caller::Other, Caller::Stranger, Caller::Platform];

/// The replicas that calls go to.
struct Service {
    world: World,
    strict: Replica,
    late: Replica,
    late_strict: Replica,
}

impl Service {
    async fn start(backing: Backing) -> Self {
        let world = World::start(backing, 1).await;
        let meddling = Meddling::with(Arc::clone(&world.store));
        meddling.make(Trouble::Late(LATE));
        let store = Arc::clone(&world.store);
        Self {
            strict: Replica::on(store, Config::default()).await,
            late: Replica::on(Arc::clone(&meddling) as _, trusting()).await,
            late_strict: Replica::on(meddling, Config::default()).await,
            world,
        }
    }

    fn replica(&self, caller: Caller, late: bool) -> &Replica {
        match (caller == Caller::Stranger, late) {
            (false, false) => self.world.any(),
            (true, false) => &self.strict,
            (false, true) => &self.late,
            (true, true) => &self.late_strict,
        }
    }
}

fn sudden_death() -> Option<v1::TimeControl> {
    let hour = Duration::from_secs(3_600).try_into().expect("short");
    let clock = Clock::SuddenDeath(SuddenDeath { main_time: Some(hour) });
    Some(v1::TimeControl { clock: Some(clock), ..Default::default() })
}

/// A full deal that begins with these pieces on these squares, counted from a1.
fn deal(placed: &[(usize, &str)]) -> String {
    let mut rest: Vec<String> =
        full_set(BoardSize::Single).iter().map(ToString::to_string).collect();
    for (_, piece) in placed {
        let index = rest.iter().position(|other| other == piece).expect("a piece of the set");
        rest.remove(index);
    }
    let mut rest = rest.into_iter();
    let on = |square: usize| placed.iter().find(|(at, _)| *at == square);
    let pieces = (0..32).map(|square| match on(square) {
        Some((_, piece)) => (*piece).to_owned(),
        None => rest.next().expect("a piece for every square"),
    });
    pieces.collect::<Vec<_>>().join(" ")
}

/// A game of two with a given deal, after these actions.
async fn played(replica: &Replica, preset: &str, deal: String, actions: &[&str]) -> Table {
    let request = v1::ImportGameRequest {
        preset: preset.to_owned(),
        seats: assigned(preset),
        start: Some(v1::import_game_request::Start::Deal(deal)),
        time_control: sudden_death(),
        ..Default::default()
    };
    let answer = replica.platform().import_game(request).await.expect("imported").into_inner();
    let table = Table::of(answer.game, answer.seat_tokens);
    for action in actions {
        table.play(replica, action).await;
    }
    table
}

async fn created(replica: &Replica, request: v1::CreateGameRequest) -> Table {
    let request = v1::CreateGameRequest { time_control: sudden_death(), ..request };
    let answer = replica.games().create_game(request).await.expect("created").into_inner();
    Table::of(answer.game, answer.seat_tokens)
}

impl State {
    /// A game that is there.
    async fn reach(self, replica: &Replica) -> Table {
        let begun = async || {
            let deal = deal(&[(0, "R"), (1, "p"), (8, "p")]);
            played(replica, "TAIWANESE", deal, &["a1", "b1", "h4", "a2", "a1-b1", "a2-a1"]).await
        };
        let with_second = async |claim, player| {
            let seats = vec![seat(v1::SeatClaim::Assigned, "anna"), seat(claim, player)];
            created(replica, v1::CreateGameRequest { seats, ..Default::default() }).await
        };
        let send = async |write: Write| write.send(replica).await.expect("allowed");
        match self {
            Self::WaitingOpen => with_second(v1::SeatClaim::Open, "").await,
            Self::WaitingReserved => with_second(v1::SeatClaim::Reserved, "bert").await,
            Self::WaitingEntropy => {
                let seats = assigned("TAIWANESE");
                let request =
                    v1::CreateGameRequest { seats, entropy_required: true, ..Default::default() };
                created(replica, request).await
            }
            Self::New => {
                let seats = assigned("TAIWANESE");
                created(replica, v1::CreateGameRequest { seats, ..Default::default() }).await
            }
            Self::Begun => begun().await,
            Self::Chain => {
                let deal = deal(&[(0, "R"), (1, "p"), (2, "p")]);
                let actions = ["a1", "b1", "h4", "c1", "a1-b1"];
                played(replica, "TAIWANESE_CHAIN", deal, &actions).await
            }
            Self::DrawOffered => {
                let table = begun().await;
                send(Calls(&table, 1).offer_draw()).await;
                table
            }
            Self::TakebackAsked => {
                let table = begun().await;
                send(Calls(&table, 1).request_takeback()).await;
                table
            }
            Self::Over => {
                let table = begun().await;
                send(Calls(&table, 2).resign()).await;
                table
            }
            Self::Rematched => {
                let table = begun().await;
                send(Calls(&table, 2).resign()).await;
                send(Calls(&table, 1).rematch(v1::RematchFirst::Same)).await;
                table
            }
            Self::FourSeats | Self::FourSeatsOut => {
                let seats = assigned("DOUBLE_FOUR");
                let preset = "DOUBLE_FOUR".to_owned();
                let request = v1::CreateGameRequest { preset, seats, ..Default::default() };
                let table = created(replica, request).await;
                for action in ["a1", "b1", "c1", "d1"] {
                    table.play(replica, action).await;
                }
                send(Calls(&table, 4).resign()).await;
                table
            }
        }
    }

    /// The seat of a caller.
    fn seat(self, caller: Caller) -> Option<u32> {
        match (caller, self) {
            (Caller::ToMove, _) => Some(1),
            (Caller::Other, Self::FourSeatsOut) => Some(4),
            (Caller::Other, _) => Some(2),
            (Caller::Stranger | Caller::Platform, _) => None,
        }
    }
}

impl Call {
    /// The call on a game, by whoever has the token.
    fn write(self, table: &Table, action: &str, seat_token: String) -> Write {
        let game_id = table.id.clone();
        macro_rules! request {
            ($variant:ident($request:ident { $($field:ident: $value:expr),* })) => {
                Write::$variant(v1::$request {
                    game_id,
                    seat_token,
                    $($field: $value,)*
                    ..Default::default()
                })
            };
        }
        match self {
            Self::JoinGame => Write::Join(v1::JoinGameRequest { game_id, ..Default::default() }),
            Self::ReissueSeatToken => Write::Reissue(v1::ReissueSeatTokenRequest {
                game_id,
                seat: 1,
                ..Default::default()
            }),
            Self::AddEntropy => request!(AddEntropy(AddEntropyRequest { entropy: vec![7] })),
            Self::PlayAction => {
                request!(Play(PlayActionRequest { action: action.to_owned() }))
            }
            Self::ResignGame => request!(Resign(ResignGameRequest {})),
            Self::AbortGame => request!(Abort(AbortGameRequest {})),
            Self::OfferDraw => request!(OfferDraw(OfferDrawRequest {})),
            Self::AnswerDraw => request!(AnswerDraw(AnswerDrawRequest { accept: true })),
            Self::RequestTakeback => request!(RequestTakeback(RequestTakebackRequest {})),
            Self::AnswerTakeback => {
                request!(AnswerTakeback(AnswerTakebackRequest { accept: true }))
            }
            Self::Rematch => request!(Rematch(RematchRequest {})),
        }
    }
}

/// What one call comes to: the state of the game after it, or the reason why not.
async fn outcome(
    service: &Service,
    state: State,
    call: Call,
    caller: Caller,
    late: bool,
) -> String {
    let table = state.reach(service.world.any()).await;
    let game = service.world.any().get(&table.id).await;
    // A seat that is not to move tries what the one that is could do.
    let action = game.legal_actions.first().map_or("a1", |action| &action.text);
    assert!(game.result.is_some() || to_move(&game) == 1, "{state:?}: seat 1 is to move");
    let token = match state.seat(caller) {
        // Nobody has the token of a seat that nobody has taken.
        Some(seat) => table.tokens.get(seat as usize - 1).cloned().unwrap_or("none".to_owned()),
        None => String::new(),
    };
    let replica = service.replica(caller, late);
    let answer: Result<_, Status> = call.write(&table, action, token).send(replica).await;
    check_timeouts(&replica.get(&table.id).await, &game, late);
    match answer {
        Ok(answer) if call == Call::ReissueSeatToken => {
            assert_ne!(answer.tokens[0].token, table.tokens[0]);
            "ok".to_owned()
        }
        Ok(answer) => {
            let name = answer.game.state().as_str_name();
            let state = name.strip_prefix("GAME_STATE_").expect("its prefix").to_lowercase();
            format!("ok,{state}")
        }
        Err(status) => reason(&status),
    }
}

/// After the deadline it was enforced exactly once, and never before it.
fn check_timeouts(game: &v1::Game, before: &v1::Game, late: bool) {
    use v1::log_entry::Event;
    let by_time = |entry: &&v1::LogEntry| match entry.event.as_ref().expect("an event") {
        Event::TimedOut(_) => true,
        Event::Aborted(aborted) => aborted.seat == 0 && late,
        _ => false,
    };
    let expected = usize::from(late && before.result.is_none());
    assert_eq!(game.log.iter().filter(by_time).count(), expected, "{:?}", game.log);
}

#[rstest]
#[tokio::test]
async fn every_call_in_every_state_comes_to_what_the_page_says(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let service = Service::start(backing).await;
    let mut found = BTreeMap::new();
    let mut page = heading();
    for late in [false, true] {
        for state in STATES {
            for call in CALLS {
                let mut cells = Vec::new();
                for caller in CALLERS {
                    cells.push(outcome(&service, state, call, caller, late).await);
                }
                let when = if late { "after" } else { "before" };
                let row = format!("{state:?} {when} {call:?}");
                page += &line(&row, &cells);
                found.insert(row, cells);
            }
            page.push('\n');
        }
    }
    if std::env::var_os("UPDATE_TRANSITIONS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hosting/transitions.txt");
        std::fs::write(path, &page).expect("a page that can be written");
        return;
    }
    let promised = promised();
    assert_eq!(promised.len(), 2 * STATES.len() * CALLS.len(), "every row is there");
    for (row, cells) in &found {
        assert_eq!(Some(cells), promised.get(row), "{row}");
    }
}

/// The rows of the page.
fn promised() -> BTreeMap<String, Vec<String>> {
    let rows = PAGE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.map(|line| {
        let words: Vec<String> = line.split_whitespace().map(ToOwned::to_owned).collect();
        assert_eq!(words.len(), 3 + CALLERS.len(), "{line}");
        (words[..3].join(" "), words[3..].to_vec())
    })
    .collect()
}

fn heading() -> String {
    "# What each call comes to: the state of the game that it answers, or the reason why not.\n\
     # The states and callers are those of transitions.rs. After the deadline the seat to move has\n\
     # lost by time, and a waiting game is aborted, before the call is looked at.\n\
     #\n\
     # state, when, call: the seat to move (1), another seat, a stranger, the platform\n\n"
        .to_owned()
}

fn line(row: &str, cells: &[String]) -> String {
    let mut words = row.split(' ');
    let mut word = || words.next().unwrap_or_default();
    let mut text = format!("{:<16} {:<7} {:<17}", word(), word(), word());
    for cell in cells {
        text += &format!(" {cell:<21}");
    }
    text.trim_end().to_owned() + "\n"
}
