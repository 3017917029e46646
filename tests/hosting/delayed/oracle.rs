//! What a spectator may know, worked out from what the platform was told.

use banqi::api::proto::v1;
use banqi::api::proto::v1::log_entry::Event;

use super::scene::platform;
use crate::table::to_move;
use crate::world::Replica;

/// Everything that the platform was told of a game, state by state, at once after each was written.
pub(super) struct Story {
    pub(super) id: String,
    delay: usize,
    /// With their logs, and without the times of the answers.
    pub(super) states: Vec<v1::Game>,
    pub(super) proofs: Vec<v1::GetFairnessProofResponse>,
}

impl Story {
    /// The story of a game that was just created.
    pub(super) async fn begin(replica: &Replica, id: &str, delay: u32) -> Self {
        let delay = delay as usize;
        let mut story = Self { id: id.to_owned(), delay, states: Vec::new(), proofs: Vec::new() };
        story.follow(replica).await;
        story
    }

    /// Asks for the newest state, which is at most one later than what was told; answers whether it
    /// is.
    pub(super) async fn follow(&mut self, replica: &Replica) -> bool {
        let view = v1::GameView::Full.into();
        let request = v1::GetGameRequest { game_id: self.id.clone(), view };
        let answer = replica.games().get_game(platform(request)).await.expect("shown");
        let mut game = answer.into_inner().game.expect("a game");
        assert!(game.server_time.take().is_some());
        assert_eq!(game.log.len() as u64, game.revision);
        if game.log.len() == self.states.len() {
            assert_eq!(Some(&game), self.states.last(), "the same as before");
            return false;
        }
        assert_eq!(game.log.len(), self.states.len() + 1, "one thing at a time");
        if let Some(last) = self.states.last() {
            assert_eq!(game.log[..last.log.len()], last.log, "the past is as it was");
        }
        self.states.push(game);
        let request = v1::GetFairnessProofRequest { game_id: self.id.clone() };
        let answer = replica.games().get_fairness_proof(platform(request)).await.expect("shown");
        self.proofs.push(answer.into_inner());
        true
    }

    pub(super) fn newest(&self) -> usize {
        self.states.len() - 1
    }

    pub(super) fn last(&self) -> &v1::Game {
        self.states.last().expect("a state")
    }

    pub(super) fn has_ended(&self) -> bool {
        self.last().result.is_some()
    }

    /// Which of the states is the newest that a spectator may know.
    ///
    /// A turn is over with an action after which no chain goes on, or when the seat to move leaves.
    /// Until enough of them were completed, nothing of play is known.
    pub(super) fn shown(&self) -> usize {
        if self.has_ended() {
            return self.newest();
        }
        let turns = self.turn_ends();
        if let Some(hidden_from) = turns.len().checked_sub(self.delay)
            && hidden_from > 0
        {
            return turns[hidden_from - 1];
        }
        let is_play = |state: &v1::Game| {
            let event = state.log.last().and_then(|entry| entry.event.as_ref());
            !matches!(
                event.expect("something happened"),
                Event::Created(_)
                    | Event::Joined(_)
                    | Event::EntropyAdded(_)
                    | Event::SeatTokenReissued(_)
            )
        };
        self.states.iter().position(is_play).map_or(self.newest(), |first| first - 1)
    }

    /// The states in which a turn was just completed.
    pub(super) fn turn_ends(&self) -> Vec<usize> {
        let completes_a_turn = |&index: &usize| {
            let (before, state) = (&self.states[index - 1], &self.states[index]);
            let entry = state.log.last().expect("an entry");
            match entry.event.as_ref().expect("something happened") {
                Event::Played(_) => {
                    let position = state.position.as_ref().expect("a position");
                    position.chain_from() == v1::Square::Unspecified
                }
                Event::Resigned(gone) => gone.seat == to_move(before),
                Event::TimedOut(gone) => gone.seat == to_move(before),
                _ => false,
            }
        };
        (1..self.states.len()).filter(completes_a_turn).collect()
    }

    /// A state without its log.
    pub(super) fn basic(&self, index: usize) -> v1::Game {
        v1::Game { log: Vec::new(), ..self.states[index].clone() }
    }

    /// What a state is told as when it is news.
    pub(super) fn event(&self, index: usize) -> v1::GameEvent {
        let entry = self.states[index].log.last().cloned();
        v1::GameEvent { entry, game: Some(self.basic(index)) }
    }
}
