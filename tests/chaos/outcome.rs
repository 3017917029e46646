//! What has come of a game in the end, and whether it may have.

use std::collections::BTreeMap;
use std::process::Command;

use banqi::api::export::Hexadecimal;
use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use banqi::api::proto::v1::replay_game_request::Start;
use banqi::api::proto::v1::rules_service_client::RulesServiceClient;
use tonic::transport::Endpoint;

use crate::plan::{Case, Happened};
use crate::players::{Acknowledged, Table};
use crate::replicas::{COUNT, Replicas, in_time};

/// The log of a game that has ended, once it is checked that every replica tells the same, and that
/// it is that of a legal game on the promised deal.
pub(crate) async fn final_log(replicas: &Replicas, table: &Table) -> Vec<v1::LogEntry> {
    let mut told: Vec<v1::Game> = Vec::new();
    for replica in 0..COUNT {
        let request =
            v1::GetGameRequest { game_id: table.id.clone(), view: v1::GameView::Full.into() };
        let answer = in_time(replicas.games(replica).get_game(request)).await.expect("a game");
        let mut game = answer.into_inner().game.expect("a game");
        game.server_time = None;
        told.push(game);
    }
    assert_eq!(told[0], told[1]);
    assert_eq!(told[0], told[2]);
    let game = told.swap_remove(0);
    for (revision, entry) in (1..).zip(&game.log) {
        assert_eq!(entry.revision, revision, "{}", table.id);
    }
    assert_eq!(game.revision, game.log.len() as u64);
    replay(replicas, &game).await;
    verify(replicas, table).await;
    game.log
}

/// Plays the actions of the log anew.
async fn replay(replicas: &Replicas, game: &v1::Game) {
    let request = v1::GetFairnessProofRequest { game_id: game.game_id.clone() };
    let proof = in_time(replicas.games(0).get_fairness_proof(request)).await.expect("a proof");
    let played = game.log.iter().filter_map(|entry| match &entry.event {
        Some(Event::Played(record)) => Some(record.clone()),
        _ => None,
    });
    let played: Vec<v1::ActionRecord> = played.collect();
    let request = v1::ReplayGameRequest {
        preset: String::new(),
        rules: game.rules.clone(),
        start: Some(Start::Deal(proof.into_inner().deal)),
        actions: played.iter().map(|record| action_of(&record.text)).collect(),
    };
    let uri = format!("http://{}", replicas.address(0));
    let channel = Endpoint::from_shared(uri).expect("a URI").connect_lazy();
    let replay = in_time(RulesServiceClient::new(channel).replay_game(request)).await;
    let replay = replay.expect("a replay").into_inner();
    assert_eq!(replay.illegal, None, "{}", game.game_id);
    assert_eq!(replay.records, played, "{}", game.game_id);
}

/// The action of a record, which tells besides what it did.
fn action_of(record: &str) -> String {
    let squares: String =
        record.chars().map(|it| if "x?#*".contains(it) { '-' } else { it }).collect();
    squares.split('(').next().unwrap_or_default().to_owned()
}

/// Checks that the deal is the promised one, as players do.
async fn verify(replicas: &Replicas, table: &Table) {
    let commitment = Hexadecimal(table.commitment.clone()).to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_banqi"));
    let server = replicas.address(0);
    command.args(["verify", "--server", &server, "--game", &table.id, "--commitment", &commitment]);
    let run = move || command.output().expect("the command runs");
    let output = tokio::task::spawn_blocking(run).await.expect("no panic");
    assert!(output.status.success(), "{output:?}");
}

/// How many answered actions were lost.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lost {
    /// Of which the answer had said that too few servers had them.
    pub(crate) told_unsafe: usize,
    /// That enough servers had, answered when somebody may still have asked a primary that had been
    /// replaced: who has such a write need not be who has taken over.
    pub(crate) misled: usize,
}

/// Whether the answer says that enough servers have the action.
fn is_said_safe(answer: &Acknowledged) -> bool {
    answer.durability.as_ref().is_some_and(|it| it.acknowledged >= it.wanted)
}

/// Whether an answered action may be lost: where servers are replaced, and its answer said that too
/// few had it, or came when it may have been written to a primary that had been replaced.
fn may_be_lost(case: Case, happened: &Happened, answer: &Acknowledged) -> bool {
    case.may_lose() && (!is_said_safe(answer) || happened.may_be_behind(answer.moment))
}

/// Checks that what somebody was told to be lost is: that it stands nowhere, unless a lost action was
/// played again by somebody else.
pub(crate) fn check_losses<'a>(
    id: &str,
    log: &[v1::LogEntry],
    answers: &[Acknowledged],
    told: impl Iterator<Item = &'a String>,
) {
    for etag in told {
        let of_it = || answers.iter().filter(|answer| answer.etag == *etag);
        let made_again =
            || of_it().any(|it| of_it().any(|other| it.request_id != other.request_id));
        let stands = log.iter().any(|entry| entry.etag == *etag);
        assert!(!stands || made_again(), "{id}: told of a loss that there was not: {etag}");
    }
}

/// Checks what players of a game were answered against its log, and that who knows of a lost action
/// is told; adds the lost ones.
pub(crate) async fn check_answers(
    case: Case,
    happened: &Happened,
    replicas: &Replicas,
    id: &str,
    log: &[v1::LogEntry],
    answers: &[Acknowledged],
    lost: &mut Lost,
) {
    let mut owners = BTreeMap::new();
    for answer in answers {
        // A lost action may be played again by somebody else, at the same time of the game.
        let first = owners.entry(&answer.etag).or_insert(answer);
        let one_effect = first.request_id == answer.request_id;
        let made_again = || [*first, answer].iter().any(|it| may_be_lost(case, happened, it));
        assert!(one_effect || made_again(), "two requests had one effect: {first:?} {answer:?}");
        let index = usize::try_from(answer.revision).expect("few") - 1;
        match log.get(index).filter(|entry| entry.etag == answer.etag) {
            Some(entry) => {
                let Some(Event::Played(record)) = &entry.event else {
                    panic!("{id}: {answer:?} stands as {entry:?}");
                };
                assert_eq!(action_of(&record.text), answer.action, "{id}: {answer:?}");
            }
            None => {
                assert!(may_be_lost(case, happened, answer), "{id}: lost: {answer:?}");
                if is_said_safe(answer) {
                    lost.misled += 1;
                } else {
                    lost.told_unsafe += 1;
                }
                let after_etag = answer.etag.clone();
                let request =
                    v1::PollGameRequest { game_id: id.to_owned(), after_etag, wait: None };
                let told = in_time(replicas.games(0).poll_game(request)).await.expect("an answer");
                assert!(told.into_inner().history_lost, "{id}: nobody is told of {answer:?}");
            }
        }
    }
}
