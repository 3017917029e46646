//! Every kind of illegal action, told over gRPC.

use std::collections::BTreeMap;

use banqi::api::error::Reason;
use banqi::api::proto::v1;
use banqi::rules::{
    Action, BoardSize, Deal, Preset, Referee, RepetitionRule, RuleChanges, RuleSet,
};
use rand::SeedableRng as _;
use rand::rngs::Xoshiro256PlusPlus;
use rand::seq::IndexedRandom as _;

use crate::reasons::Provoked;
use crate::table::{Table, shuffled, to_move};
use crate::world::Replica;
use crate::writes::Write;

/// The reasons of actions that the rules forbid.
pub(crate) const REASONS: [Reason; 14] = [
    Reason::OffBoard,
    Reason::ColoursNotSet,
    Reason::NotFaceDown,
    Reason::EmptySquare,
    Reason::FaceDownPiece,
    Reason::NotYourPiece,
    Reason::OwnPiece,
    Reason::OutOfReach,
    Reason::RankTooLow,
    Reason::FaceDownTarget,
    Reason::ChainPiece,
    Reason::ChainNeedsCapture,
    Reason::NoChain,
    Reason::ChaseLimit,
];

/// Rules under which every kind of illegal action comes up.
fn rules() -> RuleSet {
    let changes = RuleChanges {
        chain: Some(true),
        chase_limit: Some(1),
        quiet_limit: Some(1000),
        repetition: Some(RepetitionRule::Off),
        ..RuleChanges::default()
    };
    Preset::Taiwanese.rules().with(&changes).expect("rules that make sense")
}

/// The same rules, as requests have them.
fn asked() -> v1::RuleSet {
    v1::RuleSet {
        chain: Some(true),
        chase_limit: Some(1),
        quiet_limit: Some(1000),
        repetition: Some(v1::RepetitionRule::Off.into()),
        ..Default::default()
    }
}

/// A game in which every kind of illegal action comes up.
struct Find {
    deal: String,
    actions: Vec<Action>,
    /// After how many actions, which action is illegal, and why.
    illegal: Vec<(usize, Action, Reason)>,
}

/// Everything that a request could ask for on a single board, and a bit more.
fn candidates() -> Vec<Action> {
    let squares: Vec<String> =
        ('a'..='h').flat_map(|file| (1..=5).map(move |rank| format!("{file}{rank}"))).collect();
    let moves = squares.iter().flat_map(|from| {
        squares.iter().filter(move |to| *to != from).map(move |to| format!("{from}-{to}"))
    });
    let texts = squares.iter().cloned().chain(moves).chain(["end".to_owned()]);
    texts.map(|text| text.parse().expect("an action")).collect()
}

/// Plays random games with the rules' own referee until one has had every kind.
fn find() -> Find {
    let candidates = candidates();
    for seed in 0.. {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let deal = shuffled(BoardSize::Single, &mut random);
        let pieces = Deal::parse(BoardSize::Single, &deal).expect("a deal");
        let mut referee = Referee::new(&rules());
        let mut actions = Vec::new();
        let mut illegal: BTreeMap<&str, (usize, Action, Reason)> = BTreeMap::new();
        while referee.outcome().is_none() && illegal.len() < REASONS.len() {
            for &action in &candidates {
                if let Err(fault) = referee.check(action) {
                    illegal.entry(fault.name()).or_insert((actions.len(), action, (&fault).into()));
                }
            }
            let legal = referee.legal_actions();
            let action = *legal.choose(&mut random).expect("a legal action");
            referee.play(action, |square| pieces.at(square)).expect("it is legal");
            actions.push(action);
        }
        if illegal.len() == REASONS.len() {
            println!("seed {seed}: every kind within {} actions", actions.len());
            return Find { deal, actions, illegal: illegal.into_values().collect() };
        }
    }
    unreachable!("seeds never run out")
}

/// Has each kind refused, by a validation and by the real thing, and nothing played.
pub(crate) async fn provoke(provoked: &mut Provoked, replica: &Replica) {
    let find = find();
    let table = Table::import(replica, "TAIWANESE", Some(asked()), &find.deal).await;
    let mut game = replica.get(&table.id).await;
    for played in 0..=find.actions.len() {
        for (_, action, reason) in find.illegal.iter().filter(|(after, ..)| *after == played) {
            let request = table.act(to_move(&game), &action.to_string());
            let validation = v1::PlayActionRequest { validate_only: true, ..request.clone() };
            for request in [validation, request] {
                let status = Write::Play(request).send(replica).await.expect_err(reason.name());
                provoked.note(*reason, &status);
            }
            assert_eq!(replica.get(&table.id).await.etag, game.etag);
        }
        if let Some(action) = find.actions.get(played) {
            let request = table.act(to_move(&game), &action.to_string());
            game = table.send(replica, request).await.expect("a legal action");
        }
    }
}
