//! Nothing hidden leaks: two games with the same public history and different deals give the same
//! bytes, in every answer, event, error and line of the log.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Once};
use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::game::Millis;
use banqi::rules::{
    Action, BoardSize, Deal, FaceDownRule, Preset, Referee, RuleChanges, RuleSet, Square,
};
use banqi::store::{Options, TimeSource, open};
use prost::Message;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rstest::rstest;
use tonic::{Response, Status};
use tonic_types::StatusExt as _;
use tracing_subscriber::EnvFilter;

use crate::table::{Table, assigned, shuffled, to_move};
use crate::world::{Replica, options, trusting};

/// A history, and two deals that agree on everything it turns up.
struct Script {
    seed: u64,
    actions: Vec<Action>,
    deals: [String; 2],
}

impl Script {
    /// Plays at random, rather moving than turning up, and then shuffles what is still hidden.
    fn random(seed: u64, rules: &RuleSet) -> Self {
        const ACTIONS: usize = 48;
        const HIDDEN: usize = 12;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let board = rules.board_size();
        let first = shuffled(board, &mut random);
        let deal = Deal::parse(board, &first).expect("a deal");
        let mut referee = Referee::new(rules);
        let mut actions = Vec::new();
        let hidden = |referee: &Referee| -> Vec<Square> {
            let squares = board.all().into_iter();
            squares.filter(|&square| referee.position().is_face_down(square)).collect()
        };
        while actions.len() < ACTIONS && hidden(&referee).len() > HIDDEN {
            let legal = referee.legal_actions();
            let reveals = |action: &Action| referee.turns_up(*action).is_some();
            let moves: Vec<Action> =
                legal.iter().copied().filter(|action| !reveals(action)).collect();
            let action = match moves.choose(&mut random) {
                Some(&action) if random.random_bool(0.7) => action,
                _ => *legal.choose(&mut random).expect("a legal action"),
            };
            let mut next = referee.clone();
            next.play(action, |square| deal.at(square)).expect("it is legal");
            if next.outcome().is_some() {
                // Once a game has ended, nothing is hidden.
                break;
            }
            referee = next;
            actions.push(action);
        }
        // In the order of their pieces, each hidden square gets the piece of the one half-way round:
        // every one of them another piece.
        let mut hidden = hidden(&referee);
        hidden.sort_by_key(|&square| deal.at(square).map(|piece| piece.to_string()));
        let mut pieces: Vec<&str> = first.split(' ').collect();
        let mut turned = hidden.clone();
        turned.rotate_left(hidden.len() / 2);
        let moved: Vec<&str> =
            turned.iter().map(|square| pieces[usize::from(square.index())]).collect();
        for (square, piece) in hidden.iter().zip(moved) {
            pieces[usize::from(square.index())] = piece;
        }
        let second = pieces.join(" ");
        let differ = first.split(' ').zip(second.split(' ')).filter(|(a, b)| a != b).count();
        println!("seed {seed}: {} actions, {differ} squares differ", actions.len());
        assert!(differ == hidden.len() && differ > 6, "too little is hidden to show anything");
        Self { seed, actions, deals: [first, second] }
    }
}

/// All that anybody could learn of one game.
#[derive(Default)]
pub(crate) struct Transcript {
    /// What was asked, and what came back in bytes.
    pub(crate) told: Vec<(String, Vec<u8>)>,
    log: Vec<String>,
    /// What differs from game to game by chance, and is as long in each.
    pub(crate) chance: Vec<String>,
}

impl Transcript {
    pub(crate) fn note<T: Message>(
        &mut self,
        what: String,
        answer: Result<Response<T>, Status>,
    ) -> Option<T> {
        match answer {
            Ok(answer) => {
                let message = answer.into_inner();
                self.told.push((what, message.encode_to_vec()));
                Some(message)
            }
            Err(status) => {
                self.told.push((what, describe(&status).into_bytes()));
                None
            }
        }
    }

    /// Puts the same in the place of whatever differs by chance.
    pub(crate) fn normalised(mut self) -> Self {
        for chance in &self.chance {
            let same = "~".repeat(chance.len());
            for (_, bytes) in &mut self.told {
                replace(bytes, chance.as_bytes(), same.as_bytes());
            }
            for line in &mut self.log {
                *line = line.replace(chance, &same);
            }
        }
        self
    }
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let mut at = 0;
    while at + old.len() <= bytes.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + old.len()].copy_from_slice(new);
            at += old.len();
        } else {
            at += 1;
        }
    }
}

/// All that a refusal tells, in an order that does not depend on chance.
fn describe(status: &Status) -> String {
    let details = status.get_error_details();
    let info = details.error_info().expect("an ErrorInfo");
    let mut metadata: Vec<_> = info.metadata.iter().collect();
    metadata.sort();
    let mut text = format!("{:?} {} {}", status.code(), status.message(), status.details().len());
    let _ = write!(text, " {} {} {metadata:?}", info.domain, info.reason);
    let _ = write!(text, " {:?} {:?}", details.bad_request(), details.precondition_failure());
    text
}

/// A time that stands still, so that no answer depends on when it is given.
#[derive(Debug)]
pub(crate) struct StandingTime;

impl TimeSource for StandingTime {
    fn now(&self) -> Millis {
        Millis(1_767_225_600_123)
    }
}

thread_local! {
    /// What is logged on this thread, on which all of a test runs.
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where the subscriber writes.
struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Has everything logged that the service's own code and the layers around it say.
fn capture_logs() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new("banqi=trace,tower_http=trace,tonic=trace"))
            .without_time()
            .with_ansi(false)
            .with_writer(|| Log)
            .init();
    });
    LOG.take();
}

/// The lines logged since, without what is no matter of the deal: how long each call took, and in
/// which order tasks ran.
fn captured_logs() -> Vec<String> {
    let log = String::from_utf8(LOG.take()).expect("text");
    let untimed = |line: &str| {
        let words = line
            .split(' ')
            .filter(|word| !word.contains("latency=") && !word.contains("duration="));
        words.collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<String> = log.lines().map(untimed).collect();
    lines.sort();
    lines
}

/// Plays a history on a deal, and asks everything that can be asked on the way.
async fn transcribe(script: &Script, preset: &str, rules: v1::RuleSet, deal: &str) -> Transcript {
    capture_logs();
    let store = open("memory:", Options { time: Arc::new(StandingTime), ..options() }).await;
    let mut config = trusting();
    config.watching.keep_alive = Duration::from_secs(3600);
    let replica = Replica::on(store.expect("a store"), config).await;

    let mut transcript = Transcript::default();
    let import = v1::ImportGameRequest {
        game_id: "the-game".to_owned(),
        preset: preset.to_owned(),
        rules: Some(rules),
        seats: assigned(preset),
        start: Some(Start::Deal(deal.to_owned())),
        ..Default::default()
    };
    let answer = replica.platform().import_game(import).await;
    let imported = transcript.note("import".to_owned(), answer).expect("imported");
    let table = Table::of(imported.game, imported.seat_tokens);
    transcript.chance.extend(table.tokens.iter().cloned());

    let mut watch = replica.watch(&table.id, "").await.expect("a watch");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(script.seed);
    let mut stale = String::new();
    for (index, action) in script.actions.iter().enumerate() {
        let event = watch.message().await.map(|message| Response::new(message.expect("no end")));
        transcript.note(format!("event {index}"), event).expect("an event");
        let game = replica.get(&table.id).await;
        if index % 6 == 0 {
            ask_everything(&mut transcript, &replica, &table, &game, &stale, &mut random).await;
        }
        stale = game.etag.clone();
        let request = v1::PlayActionRequest {
            request_id: format!("action {index}"),
            ..table.act(to_move(&game), &action.to_string())
        };
        for _ in 0..2 {
            let answer = replica.games().play_action(request.clone()).await;
            transcript.note(format!("play {action}"), answer).expect("a legal action");
        }
    }
    let game = replica.get(&table.id).await;
    assert_eq!(game.result, None, "all of this was before the end");
    ask_everything(&mut transcript, &replica, &table, &game, &stale, &mut random).await;
    let histories = game.log.iter().filter_map(|entry| entry.etag.split('.').nth(1));
    transcript.chance.extend(histories.map(str::to_owned));
    transcript.chance.push(replica.server.grpc.port().to_string());

    transcript.log = captured_logs();
    assert!(transcript.log.len() > script.actions.len(), "the log was captured");

    // In the end all is shown, and the deals were different indeed.
    let mut game = game;
    while game.result.is_none() {
        game = table.resign(&replica, to_move(&game)).await;
    }
    let request = v1::GetFairnessProofRequest { game_id: table.id.clone() };
    let proof = replica.games().get_fairness_proof(request).await.expect("a proof").into_inner();
    assert_eq!(proof.deal, deal);
    drop(watch);
    replica.stop().await;
    transcript.normalised()
}

/// Every reading call, and every way of trying an action without playing it.
async fn ask_everything(
    transcript: &mut Transcript,
    replica: &Replica,
    table: &Table,
    game: &v1::Game,
    stale: &str,
    random: &mut Xoshiro256PlusPlus,
) {
    let (mut games, id) = (replica.games(), || table.id.clone());
    for view in [v1::GameView::Basic, v1::GameView::Full] {
        let request = v1::GetGameRequest { game_id: id(), view: view.into() };
        transcript.note(format!("get {view:?}"), games.get_game(request).await);
        let request = v1::BatchGetGamesRequest { game_ids: vec![id(), id()], view: view.into() };
        transcript.note(format!("batch {view:?}"), games.batch_get_games(request).await);
    }
    let request = v1::ListLegalActionsRequest { game_id: id() };
    transcript.note("legal actions".to_owned(), games.list_legal_actions(request).await);
    let request = v1::GetFairnessProofRequest { game_id: id() };
    transcript.note("proof".to_owned(), games.get_fairness_proof(request).await);
    for format in crate::exports::FORMATS {
        let request = v1::ExportGameRequest { game_id: id(), format: format.into() };
        transcript.note(format!("export {format:?}"), games.export_game(request).await);
    }
    for after in ["", stale] {
        let mut watch = replica.watch(&table.id, after).await.expect("a watch");
        let first = watch.message().await.map(|message| Response::new(message.expect("no end")));
        transcript.note("watch".to_owned(), first);
    }

    let cells = game.position.as_ref().expect("a position").cells.len();
    let squares: Vec<Square> = (0..cells as u8).filter_map(Square::new).collect();
    let flips = squares.iter().map(ToString::to_string);
    let moves = (0..60).filter_map(|_| {
        let (from, to) = (squares.choose(random)?, squares.choose(random)?);
        (from != to).then(|| format!("{from}-{to}"))
    });
    let legal = game.legal_actions.iter().map(|action| action.text.clone());
    let tries: Vec<String> = flips.chain(moves).chain(legal).chain(["end".to_owned()]).collect();
    for action in tries {
        let request =
            v1::PlayActionRequest { validate_only: true, ..table.act(to_move(game), &action) };
        transcript.note(format!("try {action}"), games.play_action(request).await);
    }
    // Attempts in earnest that are refused: out of turn, at another state, illegal.
    let to_move = to_move(game);
    let other = if to_move == 1 { 2 } else { 1 };
    for square in &squares {
        let attempt = table.act(other, &square.to_string());
        transcript.note(format!("out of turn {square}"), games.play_action(attempt).await);
        if !stale.is_empty() {
            let mut attempt = table.act(to_move, &square.to_string());
            stale.clone_into(&mut attempt.etag);
            transcript.note(format!("too late {square}"), games.play_action(attempt).await);
        }
    }
    let legal = |text: &str| game.legal_actions.iter().any(|action| action.text == text);
    for (from, to) in squares.iter().zip(&squares[1..]) {
        let action = format!("{from}-{to}");
        if !legal(&action) {
            let attempt = table.act(to_move, &action);
            transcript.note(format!("illegal {action}"), games.play_action(attempt).await);
        }
    }
}

pub(crate) fn compare(one: &Transcript, other: &Transcript) {
    assert_eq!(one.told.len(), other.told.len());
    for ((what, one), (also, other)) in one.told.iter().zip(&other.told) {
        assert_eq!(what, also);
        assert_eq!(one.len(), other.len(), "the length of `{what}` tells them apart");
        assert!(one == other, "`{what}` tells them apart");
    }
    for (one, other) in one.log.iter().zip(&other.log) {
        assert_eq!(one, other, "the log tells them apart");
    }
    assert_eq!(one.log.len(), other.log.len(), "the log tells them apart");
}

/// What a preset and the changes to it are, for the referee and for requests.
fn rules(preset: Preset, face_down: Option<FaceDownRule>) -> (RuleSet, v1::RuleSet) {
    let changes = RuleChanges { face_down, ..RuleChanges::default() };
    let asked = match face_down {
        None => None,
        Some(FaceDownRule::Safe) => Some(v1::FaceDownRule::Safe),
        Some(FaceDownRule::Probe) => Some(v1::FaceDownRule::Probe),
        Some(FaceDownRule::Trade) => Some(v1::FaceDownRule::Trade),
    };
    let rules = preset.rules().with(&changes).expect("rules that make sense");
    (rules, v1::RuleSet { face_down: asked.map(Into::into), ..Default::default() })
}

#[rstest]
#[case::default(Preset::Taiwanese, None, 1)]
#[case::probe(Preset::Taiwanese, Some(FaceDownRule::Probe), 2)]
#[case::trade(Preset::Taiwanese, Some(FaceDownRule::Trade), 3)]
#[case::chain(Preset::TaiwaneseChain, None, 4)]
#[case::dark_chain(Preset::TaiwaneseDarkChain, None, 5)]
#[case::chain_trade(Preset::TaiwaneseDarkChain, Some(FaceDownRule::Trade), 6)]
#[case::exchange_probe(Preset::MainlandExchange, Some(FaceDownRule::Probe), 7)]
#[case::four_seats(Preset::DoubleFour, Some(FaceDownRule::Probe), 8)]
#[tokio::test]
async fn games_that_differ_in_what_is_hidden_are_told_alike(
    #[case] preset: Preset,
    #[case] face_down: Option<FaceDownRule>,
    #[case] seed: u64,
) {
    let (rules, asked) = rules(preset, face_down);
    let script = Script::random(seed, &rules);
    let [first, second] = &script.deals;
    let one = transcribe(&script, preset.name(), asked.clone(), first).await;
    let other = transcribe(&script, preset.name(), asked, second).await;
    println!("{} answers, {} lines of log", one.told.len(), one.log.len());
    compare(&one, &other);
}

/// The comparison is no formality: a single piece that shows tells two games apart.
#[tokio::test]
#[should_panic(expected = "tells them apart")]
async fn one_piece_that_shows_is_noticed() {
    let (_, asked) = rules(Preset::Taiwanese, None);
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let first = shuffled(BoardSize::Single, &mut random);
    let mut pieces: Vec<&str> = first.split(' ').collect();
    let other = pieces.iter().position(|piece| *piece != pieces[0]).expect("another piece");
    pieces.swap(0, other);
    let second = pieces.join(" ");
    let actions = vec!["a1".parse().expect("an action")];
    let script = Script { seed: 9, actions, deals: [first, second] };
    let [first, second] = &script.deals;
    let one = transcribe(&script, "TAIWANESE", asked.clone(), first).await;
    let other = transcribe(&script, "TAIWANESE", asked, second).await;
    compare(&one, &other);
}
