//! A game of every preset, played over gRPC to its end, is what replaying it comes to.

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;
use banqi::api::proto::v1::replay_game_request::Start;
use banqi::rules::Preset;
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rstest::rstest;

use crate::table::Table;
use crate::world::{Backing, World};

#[rstest]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn is_played_to_its_end_and_replays_to_the_same(
    #[values(Backing::Memory, Backing::Redis)] backing: Backing,
) {
    let world = World::start(backing, 2).await;
    let [one, other] = &world.replicas[..] else { panic!("two replicas") };
    for (seed, preset) in (0..).zip(Preset::ALL) {
        let table = Table::create(one, preset.name()).await;
        table.play_out(one, &mut Xoshiro256PlusPlus::seed_from_u64(seed)).await;
        let game = other.get(&table.id).await;
        println!("{} with seed {seed}: {} revisions", preset.name(), game.revision);
        assert_eq!(game.state(), v1::GameState::Finished);

        let records: Vec<v1::ActionRecord> = game
            .log
            .iter()
            .filter_map(|entry| match &entry.event {
                Some(Event::Played(record)) => Some(record.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(records.len() as u64, game.revision - 1);
        let request = v1::GetFairnessProofRequest { game_id: table.id.clone() };
        let proof = other.games().get_fairness_proof(request).await.expect("a proof").into_inner();
        let replay = v1::ReplayGameRequest {
            preset: preset.name().to_owned(),
            rules: None,
            start: Some(Start::Deal(proof.deal)),
            actions: records.iter().map(|record| action(&record.text)).collect(),
        };
        let replayed = one.rules().replay_game(replay).await.expect("a replay").into_inner();
        assert_eq!(replayed.illegal, None);
        assert_eq!(replayed.records, records);
        assert_eq!(replayed.final_position, game.position.expect("a position").text);
        assert_eq!(replayed.result, game.result);
        assert_eq!(replayed.departures, game.departures);
        assert_eq!(game.last_action.as_ref(), records.last());
    }
}

/// The action that a record is of: what was turned up left out, and `-` for whatever came of it.
fn action(record: &str) -> String {
    let told = record.split('(').next().expect("something");
    told.replace(['x', '?', '#', '*'], "-")
}
