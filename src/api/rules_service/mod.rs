//! `banqi.v1.RulesService`: the rules, without a store.

mod analyze;
mod replay;

use std::sync::Arc;

use tonic::{Request, Response, Status};

use super::callers::{Callers, Role};
use super::convert;
use super::error::{ApiError, FieldFaults};
use super::proto::v1;
use super::proto::v1::rules_service_server::{RulesService, RulesServiceServer};
use crate::rules::Preset;

pub use replay::MAX_ACTIONS;

/// The handlers of `RulesService`.
#[derive(Clone, Debug)]
pub struct RulesApi {
    callers: Arc<Callers>,
}

impl RulesApi {
    /// Handlers for these callers.
    pub fn new(callers: Arc<Callers>) -> Self {
        Self { callers }
    }

    /// What a request says whose caller may ask about the rules.
    fn receive<T>(&self, request: Request<T>) -> Result<T, ApiError> {
        let (caller, request) = self.callers.receive(request)?;
        caller.require(Role::Reader)?;
        Ok(request)
    }

    /// The service, with the limits that its description states.
    pub fn into_server(self) -> RulesServiceServer<Self> {
        RulesServiceServer::new(self).max_decoding_message_size(super::MAX_MESSAGE)
    }
}

#[tonic::async_trait]
impl RulesService for RulesApi {
    async fn list_presets(
        &self,
        request: Request<v1::ListPresetsRequest>,
    ) -> Result<Response<v1::ListPresetsResponse>, Status> {
        let v1::ListPresetsRequest {} = self.receive(request)?;
        let presets = Preset::ALL.into_iter().map(Into::into).collect();
        Ok(Response::new(v1::ListPresetsResponse { presets }))
    }

    async fn check_rule_set(
        &self,
        request: Request<v1::CheckRuleSetRequest>,
    ) -> Result<Response<v1::CheckRuleSetResponse>, Status> {
        let request = self.receive(request)?;
        let mut faults = FieldFaults::default();
        let rules = convert::rules::read(&request.preset, request.rules, &mut faults)
            .ok_or_else(|| faults.into_error())?;
        Ok(Response::new(v1::CheckRuleSetResponse { rules: Some((&rules).into()) }))
    }

    async fn analyze_position(
        &self,
        request: Request<v1::AnalyzePositionRequest>,
    ) -> Result<Response<v1::AnalyzePositionResponse>, Status> {
        Ok(Response::new(analyze::analyze(self.receive(request)?)?))
    }

    async fn replay_game(
        &self,
        request: Request<v1::ReplayGameRequest>,
    ) -> Result<Response<v1::ReplayGameResponse>, Status> {
        Ok(Response::new(replay::replay(self.receive(request)?)?))
    }
}
