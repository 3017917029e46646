//! The checker itself: a history that happened passes, and with one fault planted in it it does not.

use banqi::api::proto::v1;
use rstest::rstest;

use crate::call::{Call, Credential};
use crate::checker::{Fault, FaultKind, check};
use crate::history::{History, Operation, Outcome};
use crate::plan::Plan;
use crate::table::Table;
use crate::world::World;

/// A short game, one call after the other; the names are those of [`at`].
async fn story() -> History {
    let world = World::start().await;
    let mut clients = world.direct().await;
    let seat = |claim: v1::SeatClaim| v1::NewSeat { player_id: String::new(), claim: claim.into() };
    let plan = Plan {
        preset: banqi::rules::Preset::Taiwanese,
        seats: vec![seat(v1::SeatClaim::Assigned), seat(v1::SeatClaim::Open)],
        entropy_required: false,
        time_control: None,
    };
    let table = Table::new(plan, "story".to_owned());
    let mut creation = table.plan.creation("story", "first".to_owned());
    creation.set_request_id("936da01f-9abd-4d9d-80c7-02af85c822a8");
    let mut join = Call::Join(v1::JoinGameRequest::default());
    join.set_request_id("0b7f52d4-8a54-4d0e-9f5c-2f1f7bb0a5c1");
    let get = || Call::Get(v1::GetGameRequest::default());
    let flip = |seat: u32, square: &str| {
        let action = square.to_owned();
        let mut call = Call::Play(v1::PlayActionRequest { action, ..Default::default() });
        call.set_credential(Credential::Seat(seat));
        call.set_request_id(&format!("flip {square}"));
        call
    };
    let calls = [
        creation.clone(),
        creation,
        join.clone(),
        join,
        get(),
        flip(1, "a1"),
        flip(1, "a1"),
        get(),
        flip(1, "b1"),
        flip(2, "b1"),
        get(),
        flip(1, "c1"),
    ];
    for mut call in calls {
        call.set_game_id("story");
        let told = table.call(&mut clients, call.clone()).await;
        assert!(!told.is_unknown(), "{call}: {told}");
    }
    table.close(&mut clients).await
}

/// The places of calls in the story.
mod at {
    pub(super) const CREATED: usize = 0;
    pub(super) const CREATED_AGAIN: usize = 1;
    pub(super) const JOINED_AGAIN: usize = 3;
    pub(super) const PLAYED: usize = 5;
    pub(super) const PLAYED_AGAIN: usize = 6;
    pub(super) const READ: usize = 7;
    pub(super) const OUT_OF_TURN: usize = 8;
    pub(super) const PLAYED_BY_OTHER: usize = 9;
    pub(super) const PLAYED_LAST: usize = 11;
}

fn answer(operation: &mut Operation) -> &mut crate::call::Answer {
    match &mut operation.outcome {
        Outcome::Answered(answer) => answer,
        other => panic!("not answered: {other}"),
    }
}

/// Plants a fault.
type Plant = fn(&mut History);

/// The entry of an acknowledged action is not in the log.
fn lose_a_write(history: &mut History) {
    let last = history.log.pop().expect("an entry");
    let played = history.log.pop().expect("the last action");
    // The resignation stands in its place.
    history.log.push(v1::LogEntry { revision: played.revision, ..last });
}

/// The log is shorter than what was acknowledged.
fn lose_the_end(history: &mut History) {
    history.log.pop();
}

/// One call with its repetition had two effects: the later action is the same call.
fn double_an_effect(history: &mut History) {
    let repeated = history.operations[at::PLAYED].call.request_id().map(str::to_owned);
    let call = &mut history.operations[at::PLAYED_LAST].call;
    call.set_request_id(&repeated.expect("it has one"));
}

fn read_what_was(history: &mut History) {
    let earlier = history.operations[at::READ - 3].outcome.clone();
    history.operations[at::READ].outcome = earlier;
}

fn refuse_for_another_reason(history: &mut History) {
    match &mut history.operations[at::OUT_OF_TURN].outcome {
        Outcome::Refused(refused) => refused.reason = "GAME_OVER".to_owned(),
        other => panic!("not refused: {other}"),
    }
}

fn refuse_what_was_right(history: &mut History) {
    let refusal = history.operations[at::OUT_OF_TURN].outcome.clone();
    history.operations[at::PLAYED_AGAIN].outcome = refusal;
}

fn repeat_with_another_token(history: &mut History) {
    answer(&mut history.operations[at::JOINED_AGAIN]).tokens[0].token.push('x');
}

fn create_again_with_the_tokens_of_another(history: &mut History) {
    let token = answer(&mut history.operations[at::JOINED_AGAIN]).tokens[0].token.clone();
    answer(&mut history.operations[at::CREATED_AGAIN]).tokens[0].token = token;
}

fn repeat_with_another_revision(history: &mut History) {
    let other = history.operations[at::PLAYED_BY_OTHER].outcome.clone();
    history.operations[at::PLAYED_AGAIN].outcome = other;
}

fn repeat_with_another_record(history: &mut History) {
    let record = &mut answer(&mut history.operations[at::PLAYED_AGAIN]).record;
    record.as_mut().expect("a record").text = "a1-b1".to_owned();
}

fn tell_another_turn(history: &mut History) {
    let game = &mut answer(&mut history.operations[at::READ]).game;
    game.as_mut().and_then(|game| game.position.as_mut()).expect("a position").to_move = 1;
}

fn tell_what_no_other_answer_does(history: &mut History) {
    let game = &mut answer(&mut history.operations[at::PLAYED_AGAIN]).game;
    game.as_mut().expect("a game").commitment.push(0);
}

/// Both were answered, the later one first.
fn swap_two_writes_in_time(history: &mut History) {
    let [one, other] = history
        .operations
        .get_disjoint_mut([at::PLAYED_BY_OTHER, at::PLAYED_LAST])
        .expect("two calls");
    std::mem::swap(&mut one.invoked, &mut other.invoked);
    std::mem::swap(&mut one.returned, &mut other.returned);
}

/// Nobody asked for what happened.
fn forget_who_asked(history: &mut History) {
    history.operations.remove(at::PLAYED_LAST);
}

fn act_out_of_turn(history: &mut History) {
    use banqi::api::proto::v1::log_entry::Event;
    let event = &mut history.log[2].event;
    let Some(Event::Played(record)) = event else { panic!("the first action is the third entry") };
    record.seat = 2;
}

#[rstest]
#[case::lost_write(lose_a_write, FaultKind::Answer)]
#[case::lost_end(lose_the_end, FaultKind::Lost)]
#[case::doubled_effect(double_an_effect, FaultKind::Unexplained)]
#[case::stale_read(read_what_was, FaultKind::Unexplained)]
#[case::wrong_refusal(refuse_for_another_reason, FaultKind::Unexplained)]
#[case::refused_repetition(refuse_what_was_right, FaultKind::Unexplained)]
#[case::another_token(repeat_with_another_token, FaultKind::Differing)]
#[case::token_of_another(create_again_with_the_tokens_of_another, FaultKind::Differing)]
#[case::another_revision(repeat_with_another_revision, FaultKind::Unexplained)]
#[case::another_record(repeat_with_another_record, FaultKind::Answer)]
#[case::another_turn(tell_another_turn, FaultKind::Answer)]
#[case::another_commitment(tell_what_no_other_answer_does, FaultKind::Differing)]
#[case::real_time_order(swap_two_writes_in_time, FaultKind::Unexplained)]
#[case::unasked(forget_who_asked, FaultKind::Unexplained)]
#[case::out_of_turn(act_out_of_turn, FaultKind::Log)]
#[tokio::test]
async fn a_planted_fault_is_found(#[case] plant: Plant, #[case] kind: FaultKind) {
    let history = story().await;
    check(&history).unwrap_or_else(|fault| panic!("{fault}\n{}", history.excerpt(0, u64::MAX)));
    let mut faulty = history;
    plant(&mut faulty);
    let found: Result<_, Fault> = check(&faulty);
    let fault = found.expect_err("the fault is found");
    assert_eq!(fault.kind, kind, "{fault}");
}

/// A call whose outcome nobody knows is explained with its effect and without.
#[tokio::test]
async fn an_unknown_outcome_is_explained_either_way() {
    let mut history = story().await;
    let unknown = || Outcome::Unknown("cut".to_owned());
    history.operations[at::PLAYED_LAST].outcome = unknown();
    history.operations[at::CREATED].outcome = unknown();
    // It was sent once more, and that call never reached the service.
    let mut lost = history.operations[at::PLAYED_BY_OTHER].clone();
    lost.call.set_request_id("never there");
    lost.outcome = unknown();
    history.operations.push(lost);
    check(&history).unwrap_or_else(|fault| panic!("{fault}\n{}", history.excerpt(0, u64::MAX)));
}
