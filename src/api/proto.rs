//! What `build.rs` makes of `proto/`.

/// Package `banqi.v1`.
#[allow(missing_docs, unreachable_pub, clippy::all)]
pub mod v1 {
    tonic::include_proto!("banqi.v1");
    include!(concat!(env!("OUT_DIR"), "/servers/banqi.v1.rs"));
}

/// The descriptors of everything under `proto/`, for server reflection.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
