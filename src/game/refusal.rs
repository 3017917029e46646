//! Why commands are refused.

use super::id::GameId;
use super::time::Millis;
use crate::rules::{IllegalAction, PlacesError, Seat};

/// Why a command is refused. A refusal changes nothing, and none depends on anything hidden.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The game has ended.
    #[error("the game is over")]
    GameOver,
    /// The game was created before.
    #[error("the game exists already")]
    GameExists,
    /// The game waits for players or for their entropy.
    #[error("the game has not started: it waits for players or for their entropy")]
    NotStarted,
    /// An action was played already.
    #[error("the game has begun: an action was played")]
    AlreadyBegun,
    /// Another seat is to move.
    #[error("it is seat {to_move}'s turn")]
    NotYourTurn {
        /// The seat that is to move.
        to_move: Seat,
    },
    /// The seat is out of the game.
    #[error("seat {seat} is out of the game")]
    SeatOut {
        /// Which.
        seat: Seat,
    },
    /// The game does not have this seat.
    #[error("there is no seat {seat}: the game has {seats}")]
    NoSuchSeat {
        /// The one asked for.
        seat: Seat,
        /// How many there are.
        seats: u8,
    },
    /// Somebody sits there.
    #[error("seat {seat} is taken")]
    SeatTaken {
        /// Which.
        seat: Seat,
    },
    /// The seat is for another player.
    #[error("seat {seat} is reserved for another player")]
    SeatReserved {
        /// Which.
        seat: Seat,
    },
    /// The seat is for whoever had it in the game before.
    #[error(
        "seat {seat} is for the player of game `{previous}`: call Rematch on that game with the token \
         of the seat there"
    )]
    SeatOfRematch {
        /// Which.
        seat: Seat,
        /// The game before.
        previous: GameId,
    },
    /// Every seat is taken, or reserved for other players.
    #[error("no seat is open to this player")]
    NoSeatOpen,
    /// The player has a seat, and did not ask for another one by its number.
    #[error("this player has seat {seat}")]
    AlreadySeated {
        /// Which.
        seat: Seat,
    },
    /// Nobody has taken the seat yet.
    #[error("nobody has taken seat {seat} yet")]
    NotJoined {
        /// Which.
        seat: Seat,
    },
    /// The seat has added to the deal already.
    #[error("seat {seat} has added its entropy")]
    EntropyAdded {
        /// Which.
        seat: Seat,
    },
    /// The deal can no longer be added to.
    #[error("the deal is fixed: entropy comes before the first action")]
    DealFixed,
    /// The deal was given, so nothing can be added to it.
    #[error("the deal was given at creation, so no entropy can be added")]
    DealGiven,
    /// What has come due has to be written first.
    #[error("a deadline has passed")]
    Overdue,
    /// The seat to move has run out of time.
    #[error("seat {seat} has run out of time")]
    TimeIsUp {
        /// Which.
        seat: Seat,
    },
    /// The game goes on.
    #[error("the game is not over yet")]
    NotOver,
    /// The rematch ended before every seat had asked for it.
    #[error(
        "the rematch `{id}` ended before every seat had asked for it, and there is one only: create \
         a new game"
    )]
    RematchOver {
        /// Its id.
        id: GameId,
    },
    /// There is a rematch already.
    #[error("the game has a rematch already")]
    RematchMade,
    /// A draw is offered already.
    #[error("seat {by} has offered a draw: answer it, or wait for the answers")]
    DrawOfferPending {
        /// Who has offered it.
        by: Seat,
    },
    /// The seat has offered a draw since it last acted.
    #[error(
        "seat {seat} has offered a draw since it last acted: it can again after its next action"
    )]
    DrawOfferSpent {
        /// Which.
        seat: Seat,
    },
    /// No draw is offered.
    #[error("no draw is offered")]
    NoDrawOffer,
    /// The seat made the offer itself.
    #[error("seat {seat} made the offer itself: the others answer it")]
    OwnOffer {
        /// Which.
        seat: Seat,
    },
    /// The seat has accepted already.
    #[error("seat {seat} has accepted already")]
    OfferAnswered {
        /// Which.
        seat: Seat,
    },
    /// A takeback is asked for already.
    #[error("seat {by} has asked for a takeback: answer it, or wait for the answers")]
    TakebackPending {
        /// Who has asked for it.
        by: Seat,
    },
    /// The seat has asked for a takeback since the last action.
    #[error(
        "seat {seat} has asked for a takeback since the last action: it can again after the next"
    )]
    TakebackSpent {
        /// Which.
        seat: Seat,
    },
    /// No takeback is asked for.
    #[error("no takeback is asked for")]
    NoTakebackRequest,
    /// The seat has made no turn.
    #[error("the seat has made no turn that could be taken back")]
    NothingToTakeBack,
    /// A turn to be taken back turned something up.
    #[error("a turn that turned something up cannot be taken back, nor any before it")]
    TakebackRevealed,
    /// A seat went out in the turns to be taken back.
    #[error("a seat went out since: turns before that cannot be taken back")]
    TakebackSeatOut,
    /// The game has seen as many takebacks as it may.
    #[error("this game has seen {most} takebacks, and there can be no more")]
    TakebackLimit {
        /// How many.
        most: u16,
    },
    /// Every seat has acted.
    #[error("every seat has acted: it is too late to abort, but not to resign or to offer a draw")]
    AbortTooLate,
    /// The game cannot end with these places.
    #[error("the game cannot end with these places: {0}")]
    Places(#[from] PlacesError),
    /// It is too early.
    #[error("not due before {due:?}")]
    NotDue {
        /// When it will be due.
        due: Millis,
    },
    /// The rules do not allow the action.
    #[error(transparent)]
    Illegal(#[from] IllegalAction),
}
