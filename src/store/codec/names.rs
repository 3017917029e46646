//! The stored numbers of the values that the game has names for.

use super::{CodecError, proto};
use crate::game::{Claim, Milestone};
use crate::rules::{
    BoardRule, CannonRule, ChariotRule, EndReason, EqualsRule, FaceDownRule, HorseRule,
    RepetitionRule,
};

/// A value that is stored as a number of its enum in the schema.
pub(super) trait Named: Sized {
    /// The number.
    fn number(self) -> i32;

    /// The value with this number; an error for 0 and for numbers of a newer format.
    fn from_number(number: i32) -> Result<Self, CodecError>;
}

macro_rules! named {
    ($($value_type:ident = $proto_type:ident { $($value:ident),+ $(,)? })+) => {$(
        impl Named for $value_type {
            fn number(self) -> i32 {
                match self {
                    $(Self::$value => proto::$proto_type::$value.into(),)+
                }
            }

            fn from_number(number: i32) -> Result<Self, CodecError> {
                match proto::$proto_type::try_from(number) {
                    $(Ok(proto::$proto_type::$value) => Ok(Self::$value),)+
                    Ok(proto::$proto_type::Unspecified) => {
                        Err(CodecError::Missing { field: stringify!($proto_type) })
                    }
                    Err(_) => Err(CodecError::UnknownNumber {
                        name: stringify!($proto_type),
                        number,
                    }),
                }
            }
        }
    )+};
}

named! {
    CannonRule = Cannon { Jump, Step, JumpAny }
    EqualsRule = Equals { Take, BothRemoved }
    FaceDownRule = FaceDown { Safe, Probe, Trade }
    ChariotRule = Chariot { Step, ChargeRanked, ChargeAny }
    HorseRule = Horse { Step, Diagonal }
    RepetitionRule = Repetition { Draw, AttackerLoses, Off }
    BoardRule = Board { Single, Double }
    Claim = Claim { Assigned, Open, Reserved, Rematch }
    Milestone = Milestone { Created, Started, Ended }
    EndReason = EndReason {
        AllCaptured,
        NoPiecesLeft,
        NoLegalTurn,
        ThreefoldRepetition,
        QuietLimit,
        PerpetualAttack,
        LastStanding,
        Resignation,
        Timeout,
        Agreement,
        Aborted,
        Abandoned,
        Adjudicated,
    }
}
