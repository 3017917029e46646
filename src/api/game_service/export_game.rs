//! `ExportGame`.

use tonic_types::PreconditionViolation;

use crate::api::callers::Caller;
use crate::api::error::{ApiError, FieldFaults, Reason};
use crate::api::export::{GameDocument, record};
use crate::api::fields;
use crate::api::host::{Host, Sight};
use crate::api::proto::v1;
use crate::game::GameId;
use crate::rules::{CdcGameError, RuleSetError};

pub(super) async fn call(
    host: &Host,
    caller: Caller,
    request: v1::ExportGameRequest,
) -> Result<v1::ExportGameResponse, ApiError> {
    let sight = Sight::of(&caller)?;
    let mut faults = FieldFaults::default();
    let id = fields::game_id(&request.game_id, &mut faults);
    let format = v1::ExportFormat::try_from(request.format).map_err(|_| {
        let values = "EXPORT_FORMAT_RECORD, EXPORT_FORMAT_CDC or EXPORT_FORMAT_JSON";
        fields::unknown_value(request.format, values)
    });
    let format = faults.check("format", format);
    let (Some(id), Some(format)) = (id, format) else { return Err(faults.into_error()) };
    let (game, _) = host.show(&id, &sight).await?;
    let text = match format {
        v1::ExportFormat::Unspecified | v1::ExportFormat::Record => record(&game).to_string(),
        v1::ExportFormat::Cdc => record(&game).to_cdc().map_err(|error| match error {
            CdcGameError::Rules(in_the_way) => no_tournament_record(&id, &in_the_way),
            CdcGameError::Text(_) | CdcGameError::Replay(_) => {
                tracing::error!(game = %id, %error, "a game contradicts its own record");
                ApiError::fault()
            }
        })?,
        v1::ExportFormat::Json => GameDocument::of(&game).to_string(),
    };
    Ok(v1::ExportGameResponse { text })
}

fn no_tournament_record(game: &GameId, in_the_way: &RuleSetError) -> ApiError {
    let reason = Reason::NoTournamentRecord;
    let message = format!("the game has no tournament record: {in_the_way}");
    let violation = PreconditionViolation::new(reason.name(), game.as_str(), message.as_str());
    let fields: Vec<_> = in_the_way.0.iter().map(|fault| fault.field).collect();
    ApiError::new(reason, message)
        .about(game)
        .with_metadata("fields", fields.join(","))
        .with_detail(|details| {
            details.set_precondition_failure(vec![violation]);
        })
}
