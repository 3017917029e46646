//! What stands around every call.

mod admission;
mod arrival;
mod browsers;
mod cors;
mod deadline;
mod drain;
mod frequent;
mod observe;
mod only_grpc;
mod panics;

pub(super) use admission::AdmissionLayer;
pub(super) use browsers::Browsers;
pub(super) use cors::cors;
pub(super) use deadline::DeadlineLayer;
pub(super) use drain::DrainLayer;
pub(super) use frequent::Frequent;
pub(super) use observe::{ObserveLayer, ObservedCall, Observer};
pub(super) use only_grpc::OnlyGrpcLayer;
pub(super) use panics::CatchPanicsLayer;
