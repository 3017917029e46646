//! The catalogue of reasons: every error that the service can tell.

use std::fmt;

use tonic::Code;

use crate::rules::IllegalAction;

/// Defines the catalogue: a variant, its name on the wire, its gRPC code and its meaning.
macro_rules! reasons {
    ($($variant:ident = $name:literal, $code:ident, $meaning:literal;)+) => {
        /// Why a call was refused, as `google.rpc.ErrorInfo.reason` tells it. `docs/errors.md`
        /// lists them all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Reason {
            $(#[doc = $meaning] $variant,)+
        }

        impl Reason {
            /// Every reason, in the order of `docs/errors.md`.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Its name on the wire.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The gRPC code that it comes with.
            pub const fn code(self) -> Code {
                match self {
                    $(Self::$variant => Code::$code,)+
                }
            }

            /// What it means and what the caller can do, in a sentence.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$variant => $meaning,)+
                }
            }
        }
    };
}

reasons! {
    InvalidFields = "INVALID_FIELDS", InvalidArgument,
        "Fields of the request are malformed; `google.rpc.BadRequest` names each of them and says what would be right.";
    MalformedMessage = "MALFORMED_MESSAGE", InvalidArgument,
        "The bytes received are no message of the expected type; generate the client from `proto/banqi/v1`.";
    MessageTooLarge = "MESSAGE_TOO_LARGE", ResourceExhausted,
        "The request has more than 1 MiB; send less in one call.";
    Overloaded = "OVERLOADED", ResourceExhausted,
        "The replica has as many calls or streams as it takes on at once; come back after the delay that `google.rpc.RetryInfo` names, or call another replica.";
    RateLimited = "RATE_LIMITED", ResourceExhausted,
        "The caller creates games faster than the service lets him; come back after the delay that `google.rpc.RetryInfo` names.";
    TooManyStreams = "TOO_MANY_STREAMS", ResourceExhausted,
        "The caller has as many streams open over this replica as he may; close some.";
    Unimplemented = "UNIMPLEMENTED", Unimplemented,
        "There is no such service or method, or the message is compressed, which the service does not read.";
    ServiceNotFound = "SERVICE_NOT_FOUND", NotFound,
        "The health check names a service that is not served here.";
    DeadlineExceeded = "DEADLINE_EXCEEDED", DeadlineExceeded,
        "The call's deadline passed before its answer was there, or its request did not arrive within 20 s.";
    ShuttingDown = "SHUTTING_DOWN", Unavailable,
        "This replica is stopping; connect again, to another one.";
    StreamExpired = "STREAM_EXPIRED", Unavailable,
        "The stream has lasted long enough; open it anew after its last etag or cursor, so that load spreads over all replicas.";
    Internal = "INTERNAL", Internal,
        "A fault of the service itself; its log has more.";
    CredentialsMalformed = "CREDENTIALS_MALFORMED", Unauthenticated,
        "Metadata `authorization` or `x-api-key` cannot be read; metadata `key` says which of them.";
    ApiKeyMissing = "API_KEY_MISSING", Unauthenticated,
        "The service has API keys, and the call shows none, nor a seat token where one would do; metadata `needed` is the role that it needs.";
    ApiKeyWrong = "API_KEY_WRONG", Unauthenticated,
        "The API key is none of this service's, or not any more.";
    RoleTooLow = "ROLE_TOO_LOW", PermissionDenied,
        "The API key's role does not allow the call; metadata `role` and `needed` tell both.";
    PlayerTokenWrong = "PLAYER_TOKEN_WRONG", Unauthenticated,
        "The player token was made with another service key, or is none.";
    PlayerTokenExpired = "PLAYER_TOKEN_EXPIRED", Unauthenticated,
        "The player token has expired; ask the platform for a new one.";
    OtherPlayer = "OTHER_PLAYER", PermissionDenied,
        "The player token is another player's than the one asked about.";
    NoServiceKey = "NO_SERVICE_KEY", FailedPrecondition,
        "The service was started without --service-key, so it cannot issue player tokens.";
    SpectatorsHidden = "SPECTATORS_HIDDEN", PermissionDenied,
        "The game is hidden from everyone without a seat in it until it has ended; metadata `game_id` names it.";
    SeatTokenMissing = "SEAT_TOKEN_MISSING", Unauthenticated,
        "The call acts for a seat, but shows no seat token.";
    SeatTokenWrong = "SEAT_TOKEN_WRONG", PermissionDenied,
        "The seat token is none of this game's, or was replaced by a newer one.";
    PlatformOnly = "PLATFORM_ONLY", PermissionDenied,
        "Only trusted callers may call `PlatformService` or act by `seat`, and this service, which has no API keys, trusts none; start it with --auth, or with --dev-platform.";
    GameNotFound = "GAME_NOT_FOUND", NotFound,
        "There is no such game; metadata `game_id` names it.";
    GameIdTaken = "GAME_ID_TAKEN", AlreadyExists,
        "There is a game of that id already; metadata `game_id` names it.";
    RequestIdReused = "REQUEST_ID_REUSED", InvalidArgument,
        "The same caller used this `request_id` before for another call; use a new one for each call.";
    EtagMismatch = "ETAG_MISMATCH", Aborted,
        "The game has changed since `etag`; metadata `etag` and `revision` tell the state that the caller may see, if any.";
    HistoryLost = "HISTORY_LOST", Aborted,
        "The game never was in the state of `etag`: the store lost what followed, or the game was deleted and created anew; metadata `etag` and `revision` tell the state that the caller may see, if any.";
    Contention = "CONTENTION", Aborted,
        "Other writes on the game were faster five times in a row; metadata `etag` and `revision` tell the state that the caller may see, if any.";
    CursorExpired = "CURSOR_EXPIRED", OutOfRange,
        "What follows `after_cursor` is not kept any more; begin anew without a cursor, and read the games themselves for what was missed.";
    StoreUnavailable = "STORE_UNAVAILABLE", Unavailable,
        "The store is away or did not answer in time, so the outcome may be unknown; repeat the call with the same `request_id`.";
    RecordBroken = "RECORD_BROKEN", DataLoss,
        "The stored record of the game is broken or contradicts itself; nothing is played on it.";
    RecordNewer = "RECORD_NEWER", Unavailable,
        "A newer release wrote the game, and this replica does not know its format yet.";
    RecordSealed = "RECORD_SEALED", Unavailable,
        "The stored record of the game is sealed with a key that this replica does not have (--seal-keys); another replica may have it.";
    GameNotStarted = "GAME_NOT_STARTED", FailedPrecondition,
        "The game waits for players or for their entropy.";
    NotYourTurn = "NOT_YOUR_TURN", FailedPrecondition,
        "Another seat is to move.";
    SeatOut = "SEAT_OUT", FailedPrecondition,
        "The seat is out of the game.";
    NoSuchSeat = "NO_SUCH_SEAT", FailedPrecondition,
        "The game has fewer seats.";
    SeatTaken = "SEAT_TAKEN", FailedPrecondition,
        "Somebody has taken the seat.";
    SeatReserved = "SEAT_RESERVED", FailedPrecondition,
        "The seat is reserved for another player.";
    NoSeatOpen = "NO_SEAT_OPEN", FailedPrecondition,
        "Every seat is taken, or reserved for other players.";
    AlreadySeated = "ALREADY_SEATED", FailedPrecondition,
        "The player has a seat, and did not ask for another one by its number.";
    SeatNotJoined = "SEAT_NOT_JOINED", FailedPrecondition,
        "Nobody has taken the seat yet.";
    EntropyAdded = "ENTROPY_ADDED", FailedPrecondition,
        "The seat has added its entropy already.";
    DealFixed = "DEAL_FIXED", FailedPrecondition,
        "Entropy comes before the first action.";
    DealGiven = "DEAL_GIVEN", FailedPrecondition,
        "The deal was given at creation, so nothing can be added to it.";
    GameOver = "GAME_OVER", FailedPrecondition,
        "The game has ended; nothing more can be done in it.";
    GameNotOver = "GAME_NOT_OVER", FailedPrecondition,
        "The game goes on; a rematch can be asked for once it has ended.";
    RematchOver = "REMATCH_OVER", FailedPrecondition,
        "The rematch ended before every seat had asked for it; a game has one rematch, so create a new game.";
    AbortTooLate = "ABORT_TOO_LATE", FailedPrecondition,
        "Every seat has acted, so the game cannot be aborted any more; resign, or offer a draw.";
    PlacementsWrong = "PLACEMENTS_WRONG", FailedPrecondition,
        "The game cannot end with these placements: each seat has one, and a seat that is out keeps its own.";
    DrawOfferPending = "DRAW_OFFER_PENDING", FailedPrecondition,
        "A draw is offered already; answer it, or wait for the answers.";
    DrawOfferSpent = "DRAW_OFFER_SPENT", FailedPrecondition,
        "The seat has offered a draw since it last acted; it can again after its next action.";
    NoDrawOffer = "NO_DRAW_OFFER", FailedPrecondition,
        "No draw is offered, or not any more.";
    OwnOffer = "OWN_OFFER", FailedPrecondition,
        "The seat made the offer or the request itself; the other seats answer it.";
    OfferAnswered = "OFFER_ANSWERED", FailedPrecondition,
        "The seat has accepted the offer or the request already.";
    TakebackPending = "TAKEBACK_PENDING", FailedPrecondition,
        "A takeback is asked for already; answer that, or wait for the answers.";
    TakebackSpent = "TAKEBACK_SPENT", FailedPrecondition,
        "The seat has asked for a takeback since the last action; it can again after the next one.";
    NoTakebackRequest = "NO_TAKEBACK_REQUEST", FailedPrecondition,
        "No takeback is asked for, or not any more.";
    NothingToTakeBack = "NOTHING_TO_TAKE_BACK", FailedPrecondition,
        "The seat has made no turn that could be taken back.";
    TakebackRevealed = "TAKEBACK_REVEALED", FailedPrecondition,
        "A turn that would be taken back turned something up, which nobody can forget.";
    TakebackSeatOut = "TAKEBACK_SEAT_OUT", FailedPrecondition,
        "A seat went out in the turns that would be taken back.";
    TakebackLimit = "TAKEBACK_LIMIT", FailedPrecondition,
        "The game has seen 100 takebacks, and there can be no more.";
    NoTournamentRecord = "NO_TOURNAMENT_RECORD", FailedPrecondition,
        "Tournament records cannot hold games of these rules; metadata `fields` names what is in the way. Ask for another form.";
    OffBoard = "OFF_BOARD", FailedPrecondition,
        "The action names a square that is not on this board.";
    ColoursNotSet = "COLOURS_NOT_SET", FailedPrecondition,
        "The seat has no colour yet, so it can only turn up a piece.";
    NotFaceDown = "NOT_FACE_DOWN", FailedPrecondition,
        "The piece to turn up is face up already.";
    EmptySquare = "EMPTY_SQUARE", FailedPrecondition,
        "There is no piece on the square to act from.";
    FaceDownPiece = "FACE_DOWN_PIECE", FailedPrecondition,
        "The piece to move is face down.";
    NotYourPiece = "NOT_YOUR_PIECE", FailedPrecondition,
        "The piece to move belongs to another seat.";
    OwnPiece = "OWN_PIECE", FailedPrecondition,
        "The piece aimed at is the seat's own.";
    OutOfReach = "OUT_OF_REACH", FailedPrecondition,
        "The piece cannot get to that square.";
    RankTooLow = "RANK_TOO_LOW", FailedPrecondition,
        "The piece may not take the one aimed at.";
    FaceDownTarget = "FACE_DOWN_TARGET", FailedPrecondition,
        "The rule set does not let face-down pieces be aimed at.";
    ChainPiece = "CHAIN_PIECE", FailedPrecondition,
        "In a chain only the piece that captured may act.";
    ChainNeedsCapture = "CHAIN_NEEDS_CAPTURE", FailedPrecondition,
        "In a chain the piece may only capture again, or the chain be ended.";
    NoChain = "NO_CHAIN", FailedPrecondition,
        "There is no chain to end.";
    ChaseLimit = "CHASE_LIMIT", FailedPrecondition,
        "The piece has chased the same enemy piece as often as the rule set allows.";
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<&IllegalAction> for Reason {
    fn from(illegal: &IllegalAction) -> Self {
        match illegal {
            IllegalAction::GameOver => Self::GameOver,
            IllegalAction::OffBoard { .. } => Self::OffBoard,
            IllegalAction::ColoursNotSet => Self::ColoursNotSet,
            IllegalAction::NotFaceDown { .. } => Self::NotFaceDown,
            IllegalAction::EmptySquare { .. } => Self::EmptySquare,
            IllegalAction::FaceDownPiece { .. } => Self::FaceDownPiece,
            IllegalAction::NotYourPiece { .. } => Self::NotYourPiece,
            IllegalAction::OwnPiece { .. } => Self::OwnPiece,
            IllegalAction::OutOfReach { .. } => Self::OutOfReach,
            IllegalAction::RankTooLow { .. } => Self::RankTooLow,
            IllegalAction::FaceDownTarget { .. } => Self::FaceDownTarget,
            IllegalAction::ChainPiece { .. } => Self::ChainPiece,
            IllegalAction::ChainNeedsCapture { .. } => Self::ChainNeedsCapture,
            IllegalAction::NoChain => Self::NoChain,
            IllegalAction::ChaseLimit { .. } => Self::ChaseLimit,
        }
    }
}

/// The name that gRPC gives a code: `INVALID_ARGUMENT`.
pub const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
