//! Draws, takebacks, aborts and rematches: what each is refused for.

use banqi::api::error::Reason;
use banqi::api::proto::v1;

use crate::reasons::Provoked;
use crate::table::Table;
use crate::world::Replica;
use crate::writes::Write;

/// The calls of a seat at a table.
pub(crate) struct Calls<'a>(pub(crate) &'a Table, pub(crate) u32);

macro_rules! calls {
    ($($name:ident = $variant:ident($request:ident { $($field:ident: $kind:ty),* });)+) => {
        impl Calls<'_> {
            $(pub(crate) fn $name(&self, $($field: $kind),*) -> Write {
                Write::$variant(v1::$request {
                    game_id: self.0.id.clone(),
                    seat_token: self.0.token(self.1),
                    $($field: $field.into(),)*
                    ..Default::default()
                })
            })+
        }
    };
}

calls! {
    resign = Resign(ResignGameRequest {});
    abort = Abort(AbortGameRequest {});
    offer_draw = OfferDraw(OfferDrawRequest {});
    answer_draw = AnswerDraw(AnswerDrawRequest { accept: bool });
    request_takeback = RequestTakeback(RequestTakebackRequest {});
    answer_takeback = AnswerTakeback(AnswerTakebackRequest { accept: bool });
    rematch = Rematch(RematchRequest { first: v1::RematchFirst });
}

/// Provokes every refusal of an offer.
pub(crate) async fn provoke(provoked: &mut Provoked, replica: &Replica) {
    let table = Table::create(replica, "TAIWANESE").await;
    table.play(replica, "a1").await;
    let (one, two) = (Calls(&table, 1), Calls(&table, 2));
    provoked.by(Reason::NoDrawOffer, replica, one.answer_draw(true)).await;
    one.offer_draw().send(replica).await.expect("offered");
    provoked.by(Reason::DrawOfferPending, replica, two.offer_draw()).await;
    provoked.by(Reason::OwnOffer, replica, one.answer_draw(true)).await;
    two.answer_draw(false).send(replica).await.expect("declined");
    provoked.by(Reason::DrawOfferSpent, replica, one.offer_draw()).await;
    provoked.by(Reason::NoTakebackRequest, replica, two.answer_takeback(true)).await;
    provoked.by(Reason::NothingToTakeBack, replica, two.request_takeback()).await;
    provoked.by(Reason::TakebackRevealed, replica, one.request_takeback()).await;
    table.play(replica, "b1").await;
    provoked.by(Reason::AbortTooLate, replica, one.abort()).await;
    provoked.by(Reason::GameNotOver, replica, one.rematch(v1::RematchFirst::Same)).await;
    rematches(provoked, replica).await;
    takebacks(provoked, replica).await;
    four_seats(provoked, replica).await;
}

/// Plays until the last two turns turned nothing up, so that either seat can take one back.
async fn quiet(replica: &Replica, preset: &str) -> Table {
    let table = Table::create(replica, preset).await;
    let mut quiet_turns = 0;
    while quiet_turns < 4 {
        let game = replica.get(&table.id).await;
        let quiet = |action: &&v1::LegalAction| action.kind() == v1::ActionKind::Move;
        let action = game.legal_actions.iter().find(quiet).or(game.legal_actions.first());
        let game = table.play(replica, &action.expect("a legal action").text).await;
        quiet_turns = game.position.expect("a position").quiet_turns;
    }
    table
}

/// A rematch that is aborted before the other seat has asked is no dead end that says nothing.
async fn rematches(provoked: &mut Provoked, replica: &Replica) {
    let table = Table::create(replica, "TAIWANESE").await;
    table.resign(replica, 2).await;
    let (one, two) = (Calls(&table, 1), Calls(&table, 2));
    let same = v1::RematchFirst::Same;
    let answer = one.rematch(same).send(replica).await.expect("asked");
    let new = answer.game.game_id.clone();
    let seat_token = answer.tokens[0].token.clone();
    let join = |seat| {
        Write::Join(v1::JoinGameRequest { game_id: new.clone(), seat, ..Default::default() })
    };
    provoked.by(Reason::SeatReserved, replica, join(2)).await;
    provoked.by(Reason::NoSeatOpen, replica, join(0)).await;
    let abort = v1::AbortGameRequest { game_id: new.clone(), seat_token, ..Default::default() };
    Write::Abort(abort).send(replica).await.expect("aborted");
    provoked.by(Reason::RematchOver, replica, two.rematch(same)).await;
    provoked.by(Reason::RematchOver, replica, one.rematch(same)).await;
    let again = v1::RematchRequest { game_id: new.clone(), seat: 1, ..Default::default() };
    provoked.by(Reason::SeatNotJoined, replica, Write::Rematch(again)).await;
}

async fn takebacks(provoked: &mut Provoked, replica: &Replica) {
    let table = quiet(replica, "TAIWANESE").await;
    let (one, two) = (Calls(&table, 1), Calls(&table, 2));
    one.request_takeback().send(replica).await.expect("asked");
    provoked.by(Reason::TakebackPending, replica, two.request_takeback()).await;
    provoked.by(Reason::OwnOffer, replica, one.answer_takeback(true)).await;
    two.answer_takeback(false).send(replica).await.expect("declined");
    provoked.by(Reason::TakebackSpent, replica, one.request_takeback()).await;

    let table = quiet(replica, "TAIWANESE").await;
    let (one, two) = (Calls(&table, 1), Calls(&table, 2));
    for _ in 0..100 {
        one.request_takeback().send(replica).await.expect("asked");
        two.answer_takeback(true).send(replica).await.expect("granted");
        // The turn that was just taken back was a quiet one.
        table.play_quietly(replica).await;
    }
    provoked.by(Reason::TakebackLimit, replica, one.request_takeback()).await;
}

async fn four_seats(provoked: &mut Provoked, replica: &Replica) {
    let table = quiet(replica, "DOUBLE_FOUR").await;
    Calls(&table, 1).offer_draw().send(replica).await.expect("offered");
    Calls(&table, 2).answer_draw(true).send(replica).await.expect("accepted");
    provoked.by(Reason::OfferAnswered, replica, Calls(&table, 2).answer_draw(true)).await;
    table.resign(replica, 4).await;
    provoked.by(Reason::NoDrawOffer, replica, Calls(&table, 3).answer_draw(true)).await;
    provoked.by(Reason::TakebackSeatOut, replica, Calls(&table, 1).request_takeback()).await;
}
