//! What a call comes to on a state of the game, leaving its credential, request id and etag aside:
//! those are checked before.

use banqi::api::proto::v1;
use banqi::rules::{Action, IllegalAction};

use super::{Chair, Event, Life, Model, board_seat};
use crate::call::Call;

/// The reason of a refusal.
type Reason = String;

fn refuse<T>(reason: &str) -> Result<T, Reason> {
    Err(reason.to_owned())
}

impl Model {
    /// What a write would do for a seat, or why it is refused. `seat` is `None` for whoever acts for
    /// none.
    pub(crate) fn judge(&self, call: &Call, seat: Option<u32>) -> Result<Event, Reason> {
        match (call, seat) {
            (Call::Join(request), _) => self.judge_join(request),
            (Call::AddEntropy(request), Some(seat)) => self.judge_entropy(seat, &request.entropy),
            (Call::Play(request), Some(seat)) => self.judge_play(seat, &request.action),
            (Call::Resign(_), Some(seat)) => {
                self.check_player(seat)?;
                Ok(Event::Resigned { seat })
            }
            (Call::Abort(_), seat) => self.judge_abort(seat),
            (Call::OfferDraw(_), Some(seat)) => self.judge_draw_offer(seat),
            (Call::AnswerDraw(request), Some(seat)) => {
                self.check_answer(self.offers.draw.as_ref(), seat, "NO_DRAW_OFFER")?;
                Ok(Event::DrawAnswered { seat, accepted: request.accept })
            }
            (Call::RequestTakeback(_), Some(seat)) => self.judge_takeback(seat),
            (Call::AnswerTakeback(request), Some(seat)) => {
                self.check_answer(self.offers.takeback.as_ref(), seat, "NO_TAKEBACK_REQUEST")?;
                Ok(Event::TakebackAnswered { seat, accepted: request.accept })
            }
            (Call::Reissue(request), _) => match self.chair(request.seat) {
                None => refuse("NO_SUCH_SEAT"),
                Some(chair) if !chair.joined => refuse("SEAT_NOT_JOINED"),
                Some(_) => Ok(Event::TokenReissued { seat: request.seat }),
            },
            (Call::Rematch(_), _) if self.life() != Life::Finished => refuse("GAME_NOT_OVER"),
            (Call::Rematch(_), _) if self.chairs.iter().any(|chair| !chair.joined) => {
                refuse("SEAT_NOT_JOINED")
            }
            (Call::Rematch(_), _) => Ok(Event::RematchMade),
            _ => unreachable!("{call} acts for a seat or changes nothing"),
        }
    }

    /// Whether an entry of the log may follow, leaving aside who asked for it.
    pub(crate) fn admit(&self, event: &Event, at: i64) -> Result<(), Reason> {
        let due = self.deadline().filter(|deadline| *deadline <= at);
        if let Event::TimedOut { seat } = event {
            let is_due = due.is_some() && *seat == self.seat_to_move();
            return if is_due { Ok(()) } else { Err(format!("due {:?}", self.deadline())) };
        }
        if let Some(due) = due {
            return Err(format!("the seat to move has run out of time at {due}"));
        }
        let seat = match event {
            Event::Joined { seat, .. }
            | Event::EntropyAdded { seat, .. }
            | Event::Played { seat, .. }
            | Event::Resigned { seat }
            | Event::Aborted { seat }
            | Event::DrawOffered { seat }
            | Event::DrawAnswered { seat, .. }
            | Event::TakebackRequested { seat }
            | Event::TakebackAnswered { seat, .. } => Some(*seat).filter(|seat| *seat > 0),
            Event::TokenReissued { .. }
            | Event::RematchMade
            | Event::Created
            | Event::TimedOut { .. } => None,
        };
        let would = self.judge(&asking_for(event)?, seat)?;
        if would == *event { Ok(()) } else { Err(format!("{would:?} would be right")) }
    }

    /// Whether trusted callers can name the seat.
    pub(crate) fn has_seat(&self, seat: u32) -> bool {
        self.chair(seat).is_some()
    }

    fn judge_join(&self, request: &v1::JoinGameRequest) -> Result<Event, Reason> {
        self.check_not_over()?;
        let player = &request.player_id;
        let is_theirs = |chair: &Chair| !player.is_empty() && chair.player == *player;
        let find =
            |wanted: &dyn Fn(&Chair) -> bool| (1..).zip(&self.chairs).find(|(_, c)| wanted(c));
        let seat = if request.seat > 0 {
            let Some(chair) = self.chair(request.seat) else { return refuse("NO_SUCH_SEAT") };
            if chair.joined {
                return refuse("SEAT_TAKEN");
            }
            if chair.claim == v1::SeatClaim::Reserved && !is_theirs(chair) {
                return refuse("SEAT_RESERVED");
            }
            request.seat
        } else if let Some((seat, _)) = find(&|chair| !chair.joined && is_theirs(chair)) {
            seat
        } else if find(&is_theirs).is_some() {
            return refuse("ALREADY_SEATED");
        } else if let Some((seat, _)) =
            find(&|chair| !chair.joined && chair.claim == v1::SeatClaim::Open)
        {
            seat
        } else {
            return refuse("NO_SEAT_OPEN");
        };
        Ok(Event::Joined { seat, player: player.clone(), entropy: request.entropy.clone() })
    }

    fn judge_entropy(&self, seat: u32, entropy: &[u8]) -> Result<Event, Reason> {
        self.check_not_over()?;
        let Some(chair) = self.chair(seat) else { return refuse("NO_SUCH_SEAT") };
        if !chair.joined {
            return refuse("SEAT_NOT_JOINED");
        }
        if !self.acted.is_empty() {
            return refuse("DEAL_FIXED");
        }
        if !chair.entropy.is_empty() {
            return refuse("ENTROPY_ADDED");
        }
        Ok(Event::EntropyAdded { seat, entropy: entropy.to_vec() })
    }

    fn judge_play(&self, seat: u32, action: &str) -> Result<Event, Reason> {
        self.check_player(seat)?;
        if seat != self.seat_to_move() {
            return refuse("NOT_YOUR_TURN");
        }
        let action: Action = action.parse().expect("clients send actions");
        self.referee.check(action).map_err(|illegal| reason_of(&illegal))?;
        Ok(Event::Played { seat, action: action.to_string() })
    }

    fn check_not_over(&self) -> Result<(), Reason> {
        if self.life() == Life::Finished { refuse("GAME_OVER") } else { Ok(()) }
    }

    /// Whether the seat is playing.
    pub(super) fn check_player(&self, seat: u32) -> Result<(), Reason> {
        match self.life() {
            Life::Waiting => refuse("GAME_NOT_STARTED"),
            Life::Finished => refuse("GAME_OVER"),
            Life::Active if self.chair(seat).is_none() => refuse("NO_SUCH_SEAT"),
            Life::Active if self.referee.position().is_out(board_seat(seat)) => refuse("SEAT_OUT"),
            Life::Active => Ok(()),
        }
    }
}

/// The call that asks for an event.
fn asking_for(event: &Event) -> Result<Call, Reason> {
    Ok(match event.clone() {
        Event::Created | Event::TimedOut { .. } => return refuse("no call asks for that"),
        Event::Joined { seat, player: player_id, entropy } => {
            Call::Join(v1::JoinGameRequest { seat, player_id, entropy, ..Default::default() })
        }
        Event::EntropyAdded { entropy, .. } => {
            Call::AddEntropy(v1::AddEntropyRequest { entropy, ..Default::default() })
        }
        Event::Played { action, .. } => {
            Call::Play(v1::PlayActionRequest { action, ..Default::default() })
        }
        Event::Resigned { .. } => Call::Resign(v1::ResignGameRequest::default()),
        Event::Aborted { .. } => Call::Abort(v1::AbortGameRequest::default()),
        Event::DrawOffered { .. } => Call::OfferDraw(v1::OfferDrawRequest::default()),
        Event::DrawAnswered { accepted: accept, .. } => {
            Call::AnswerDraw(v1::AnswerDrawRequest { accept, ..Default::default() })
        }
        Event::TakebackRequested { .. } => {
            Call::RequestTakeback(v1::RequestTakebackRequest::default())
        }
        Event::TakebackAnswered { accepted: accept, .. } => {
            Call::AnswerTakeback(v1::AnswerTakebackRequest { accept, ..Default::default() })
        }
        Event::TokenReissued { seat } => {
            Call::Reissue(v1::ReissueSeatTokenRequest { seat, ..Default::default() })
        }
        Event::RematchMade => Call::Rematch(v1::RematchRequest::default()),
    })
}

/// The reason of an illegal action: the rules' name for it, as reasons are spelled.
fn reason_of(illegal: &IllegalAction) -> Reason {
    let debug = format!("{illegal:?}");
    let name = debug.split([' ', '{']).next().unwrap_or_default();
    let mut reason = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !reason.is_empty() {
            reason.push('_');
        }
        reason.push(letter.to_ascii_uppercase());
    }
    reason
}
