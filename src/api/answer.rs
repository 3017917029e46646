//! Answers of which a part is encoded already when they are sent.
//!
//! Each is encoded to the same bytes as the message of `banqi.v1` that has its name: a message
//! within a message stands there as its length and its bytes, just as a field of bytes does.

use bytes::Bytes;

use super::proto::v1;

/// `banqi.v1.GetGameResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct GetGameResponse {
    /// A `banqi.v1.Game`, encoded.
    #[prost(bytes = "bytes", tag = "1")]
    pub game: Bytes,
}

/// `banqi.v1.PlayActionResponse`.
#[derive(Clone, PartialEq, prost::Message)]
pub struct PlayActionResponse {
    /// A `banqi.v1.Game`, encoded.
    #[prost(bytes = "bytes", tag = "1")]
    pub game: Bytes,
    /// What the action did.
    #[prost(message, optional, tag = "2")]
    pub record: Option<v1::ActionRecord>,
    /// How many replicas of the store have the action.
    #[prost(message, optional, tag = "3")]
    pub durability: Option<v1::Durability>,
}
