//! A call is safe to retry: the same request id has one effect and one answer, over any replica.

use banqi::api::proto::v1;
use banqi::api::proto::v1::import_game_request::Start;
use banqi::rules::BoardSize;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rstest::rstest;

use crate::support::bad_fields;
use crate::table::{Table, assigned, seat, shuffled};
use crate::world::{Backing, Replica, World, reason, request_id};
use crate::writes::{Answer, Write};

/// Repeats a write over both replicas, before and after later actions, and tries its id on
/// something else.
async fn repeat(world: &World, write: Write, more: impl AsyncFn(&Replica, &Answer)) {
    let write = write.with_request_id(&request_id());
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let first = write.send(one).await.expect("the first call is right");
    for replica in [other, one] {
        assert_eq!(write.send(replica).await.expect("the repeated one too"), first, "{write:?}");
    }
    let id = &first.game.game_id;
    assert_eq!(one.get(id).await.revision, first.game.revision, "one effect of {write:?}");

    more(other, &first).await;
    let standing = one.get(id).await;
    assert!(standing.revision > first.game.revision, "something happened meanwhile");
    for replica in [one, other] {
        assert_eq!(write.send(replica).await.expect("still"), first, "{write:?}");
        let status = write.clone().changed().send(replica).await.expect_err("another body");
        assert_eq!(reason(&status), "REQUEST_ID_REUSED", "{write:?}");
    }
    let after = other.get(id).await;
    assert_eq!((after.etag, after.log), (standing.etag, standing.log), "no effect of {write:?}");
}

fn table(answer: &Answer) -> Table {
    Table::of(Some(answer.game.clone()), answer.tokens.clone())
}

#[rstest]
#[tokio::test]
async fn creations(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values("", "a-chosen-id")] id: &str,
) {
    let world = World::start(backing, 2).await;
    let request = v1::CreateGameRequest {
        game_id: id.to_owned(),
        seats: assigned("TAIWANESE"),
        seating: v1::Seating::Random.into(),
        labels: [("kind".to_owned(), "test".to_owned())].into(),
        ..Default::default()
    };
    repeat(&world, Write::Create(request), async |replica, answer| {
        assert_eq!(answer.tokens.len(), 2);
        table(answer).play_on(replica, 3).await;
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn imports(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values("", "a-chosen-id")] id: &str,
) {
    let world = World::start(backing, 2).await;
    let deal = shuffled(BoardSize::Single, &mut Xoshiro256PlusPlus::seed_from_u64(1));
    let request = v1::ImportGameRequest {
        game_id: id.to_owned(),
        seats: assigned("TAIWANESE"),
        start: Some(Start::Deal(deal)),
        ..Default::default()
    };
    repeat(&world, Write::Import(request), async |replica, answer| {
        assert_eq!(answer.tokens.len(), 2);
        table(answer).play_on(replica, 3).await;
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn joins(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
    #[values(0, 2)] asked: u32,
) {
    let world = World::start(backing, 2).await;
    let seats = vec![seat(v1::SeatClaim::Assigned, ""), seat(v1::SeatClaim::Open, "")];
    let request = v1::CreateGameRequest { seats, ..Default::default() };
    let created = Write::Create(request).send(world.any()).await.expect("created");
    let join = v1::JoinGameRequest {
        game_id: created.game.game_id.clone(),
        seat: asked,
        player_id: "anna".to_owned(),
        entropy: b"anna's own".to_vec(),
        ..Default::default()
    };
    repeat(&world, Write::Join(join), async |replica, answer| {
        let tokens = [created.tokens.clone(), answer.tokens.clone()].concat();
        Table::of(Some(answer.game.clone()), tokens).play_on(replica, 3).await;
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn entropy(#[values(Backing::Memory, Backing::Redis)] backing: Backing) {
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let request = v1::AddEntropyRequest {
        game_id: table.id.clone(),
        seat_token: table.token(2),
        entropy: vec![7; 64],
        ..Default::default()
    };
    repeat(&world, Write::AddEntropy(request), async |replica, _| {
        table.play_on(replica, 3).await;
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn actions(#[values(Backing::Memory, Backing::Redis)] backing: Backing) {
    let world = World::start(backing, 2).await;
    let table = Table::create(world.any(), "TAIWANESE").await;
    let play = Write::Play(table.act(1, "b2"));
    repeat(&world, play, async |replica, answer| {
        assert!(answer.record.as_ref().is_some_and(|record| record.text.starts_with("b2(")));
        table.play_on(replica, 3).await;
    })
    .await;
}

#[rstest]
#[tokio::test]
async fn actions_that_ended_the_turn_or_the_game(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let four = Table::create(world.any(), "DOUBLE_FOUR").await;
    repeat(&world, Write::Resign(four.resignation(3)), async |replica, _| {
        four.play_on(replica, 3).await;
        for seat in [1, 2] {
            four.resign(replica, seat).await;
        }
    })
    .await;

    // The last write of a game is answered again, and not with GAME_OVER.
    let two = Table::create(world.any(), "TAIWANESE").await;
    two.play_on(world.any(), 1).await;
    let resignation = Write::Resign(two.resignation(1)).with_request_id("the end");
    let first = resignation.send(&world.replicas[0]).await.expect("resigned");
    assert!(first.game.result.is_some());
    assert_eq!(resignation.send(&world.replicas[1]).await.expect("repeated"), first);
}

#[rstest]
#[tokio::test]
async fn an_id_belongs_to_one_kind_of_call_and_to_one_seat(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let id = request_id();
    Write::Play(table.act(1, "a1")).with_request_id(&id).send(one).await.expect("played");
    let resignation = Write::Resign(table.resignation(1)).with_request_id(&id);
    let status = resignation.send(other).await.expect_err("used for an action");
    assert_eq!(reason(&status), "REQUEST_ID_REUSED");
    // Another seat's ids are its own.
    Write::Play(table.act(2, "a2")).with_request_id(&id).send(other).await.expect("played");
}

#[rstest]
#[tokio::test]
async fn calls_of_the_same_shape_are_told_apart(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    table.play_on(one, 2).await;
    let id = request_id();
    let (game_id, seat_token) = (table.id.clone(), table.token(1));
    let offer = v1::OfferDrawRequest { game_id, seat_token, ..Default::default() };
    Write::OfferDraw(offer).with_request_id(&id).send(one).await.expect("offered");
    let resignation = Write::Resign(table.resignation(1)).with_request_id(&id);
    let status = resignation.send(other).await.expect_err("used for an offer");
    assert_eq!(reason(&status), "REQUEST_ID_REUSED");
    assert!(other.get(&table.id).await.result.is_none(), "nobody has resigned");
}

#[rstest]
#[tokio::test]
async fn a_refused_call_does_not_use_up_its_id(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let play = Write::Play(table.act(2, "a1")).with_request_id("patience");
    assert_eq!(reason(&play.send(one).await.expect_err("not yet")), "NOT_YOUR_TURN");
    table.play(one, "h4").await;
    let played = play.send(other).await.expect("now it is");
    assert_eq!(played.game.revision, 3);
}

#[rstest]
#[tokio::test]
async fn the_last_eight_of_a_seat_are_remembered(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    let table = Table::create(one, "TAIWANESE").await;
    let mut game = one.get(&table.id).await;
    let mut answers = Vec::new();
    for turn in 0..9 {
        for seat in [1, 2] {
            let flip = &game.legal_actions[0].text;
            let id = if seat == 1 { format!("turn {turn}") } else { String::new() };
            let etag = &game.etag;
            let play = Write::Play(table.act(seat, flip)).with_request_id(&id).with_etag(etag);
            let answer = play.send(one).await.expect("a legal action");
            game = answer.game.clone();
            if seat == 1 {
                answers.push((play, answer));
            }
        }
    }
    for (play, answer) in &answers[1..] {
        assert_eq!(&play.send(other).await.expect("remembered"), answer);
    }
    // Forgotten, but for its etag it would be played again.
    let status = answers[0].0.send(other).await.expect_err("the ninth is forgotten");
    assert_eq!(reason(&status), "ETAG_MISMATCH");
}

#[rstest]
#[case::a_word("again")]
#[case::nil("00000000-0000-0000-0000-000000000000")]
#[case::by_time("01890a5d-ac96-774b-bcce-b302099a8057")]
#[case::of_another_variant("936da01f-9abd-4d9d-00c7-02af85c822a8")]
#[tokio::test]
async fn ids_that_can_be_guessed_are_refused_where_tokens_are_answered(#[case] id: &str) {
    let world = World::start(Backing::Memory, 1).await;
    let deal = shuffled(BoardSize::Single, &mut Xoshiro256PlusPlus::seed_from_u64(2));
    let start = Some(Start::Deal(deal));
    let writes = [
        Write::Create(v1::CreateGameRequest::default()),
        Write::Import(v1::ImportGameRequest { start, ..Default::default() }),
        Write::Join(v1::JoinGameRequest { game_id: "any".to_owned(), ..Default::default() }),
    ];
    for write in writes {
        let status = write.clone().with_request_id(id).send(world.any()).await;
        assert_eq!(bad_fields(&status.expect_err("refused")), ["request_id"], "{write:?}");
    }
    // Elsewhere any text will do.
    let table = Table::create(world.any(), "TAIWANESE").await;
    let play = Write::Play(table.act(1, "a1")).with_request_id(id);
    play.send(world.any()).await.expect("played");
}
