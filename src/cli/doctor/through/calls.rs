//! Calls that show what becomes of calls on the way.

use std::collections::BTreeMap;
use std::time::Duration;

use http::{HeaderMap, HeaderValue};
use prost::Message as _;
use tonic::Code;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};
use tonic_types::StatusExt as _;

use super::PRESETS;
use super::wire::{Calls, Sent, framed};
use crate::api::error::Reason;
use crate::cli::doctor::check::Check;
use crate::cli::doctor::report::Report;

/// How many calls are to find out which replicas answer.
const CALLS: usize = 12;

/// The deadline of the call that is to fail by it.
const DEADLINE: &str = "300m";

/// How long a stream's first message may take.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Whether a call is answered.
pub(super) async fn unary(
    calls: &Calls,
    metadata: &HeaderMap,
    has_key: bool,
    report: &mut Report,
) -> bool {
    let answer = match calls.call(PRESETS, metadata, presets()).await {
        Ok(answer) => answer,
        Err(error) => {
            let text = format!(
                "a call is not answered: {error}; look at the balancer's log, and at whether a \
                 replica is ready"
            );
            report.fault(Check::ThroughCall, text);
            return false;
        }
    };
    let text = match answer.status() {
        Some(status) if status.code() == Code::Ok => {
            report.ok(Check::ThroughCall, "a call is answered");
            return true;
        }
        Some(status) if status.code() == Code::Unauthenticated && !has_key => {
            "the replicas ask for an API key: name its file with --key".to_owned()
        }
        Some(status) if status.code() == Code::Unauthenticated => format!(
            "the key is refused: {}; use one whose line stands in the file of --auth",
            status.message()
        ),
        Some(status) => format!(
            "a call fails with {:?}: {}; look at the balancer's log, and at whether a replica is \
             ready",
            status.code(),
            status.message()
        ),
        None => format!(
            "what answers a call is no gRPC ({}): have the balancer send calls on to the replicas \
             over HTTP/2",
            answer.described()
        ),
    };
    report.fault(Check::ThroughCall, text);
    false
}

/// Which replicas answer.
pub(super) async fn replicas(calls: &Calls, metadata: &HeaderMap, report: &mut Report) {
    let mut named: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..CALLS {
        match calls.call(PRESETS, metadata, presets()).await {
            Ok(answer) if answer.status().is_some_and(|status| status.code() == Code::Ok) => {
                let name = answer.head.get("banqi-replica").and_then(|name| name.to_str().ok());
                if let Some(name) = name {
                    *named.entry(name.to_owned()).or_default() += 1;
                }
            }
            outcome => {
                let told = match outcome {
                    Ok(answer) => answer.status().map_or(answer.described(), |it| it.to_string()),
                    Err(error) => error.to_string(),
                };
                let text = format!(
                    "one call of {CALLS} fails, so one replica may be the reason: {told}; look at \
                     the balancer's list of them"
                );
                return report.fault(Check::ThroughReplicas, text);
            }
        }
    }
    if named.is_empty() {
        let text = "answers do not name their replica (metadata `banqi-replica`)";
        return report.skipped(Check::ThroughReplicas, text);
    }
    let told: Vec<String> = named.iter().map(|(name, count)| format!("{name} {count}")).collect();
    report.ok(Check::ThroughReplicas, format!("of {CALLS} calls answered {}", told.join(", ")));
}

/// Whether `authorization` arrives: a player token that is none is refused for that.
pub(super) async fn metadata(calls: &Calls, mut metadata: HeaderMap, report: &mut Report) {
    let token = HeaderValue::from_static("Bearer bqp_doctor");
    metadata.insert(http::header::AUTHORIZATION, token);
    let answer = calls.call(PRESETS, &metadata, presets()).await;
    let reason = answer.ok().and_then(|answer| answer.status()).and_then(|status| {
        let details = status.get_error_details();
        details.error_info().map(|info| info.reason.clone())
    });
    match reason.as_deref() {
        Some(reason) if reason == Reason::PlayerTokenWrong.name() => {
            report.ok(
                Check::ThroughMetadata,
                "metadata arrives, and the details of errors come back",
            );
        }
        _ => report.fault(
            Check::ThroughMetadata,
            "`authorization` does not arrive, or the details of errors do not come back: have the \
             balancer pass on all headers and trailers",
        ),
    }
}

/// Whether a deadline is passed on: whoever gives up at it must be the replica.
pub(super) async fn deadline(calls: &Calls, mut metadata: HeaderMap, report: &mut Report) {
    metadata.insert("grpc-timeout", HeaderValue::from_static(DEADLINE));
    let answer = calls.call(PRESETS, &metadata, Sent::HeadOnly).await;
    match answer.ok().and_then(|answer| answer.status()) {
        Some(status) if status.code() == Code::DeadlineExceeded => {
            report.ok(Check::ThroughDeadline, "a replica gives up at a caller's deadline");
        }
        _ => report.warning(
            Check::ThroughDeadline,
            "no replica gives up at a caller's deadline: have the balancer pass on `grpc-timeout`, \
             and requests before they are whole",
        ),
    }
}

/// Whether a stream's first message comes while the stream is open.
pub(super) async fn stream(calls: &Calls, report: &mut Report) {
    let request = HealthCheckRequest { service: String::new() }.encode_to_vec();
    let method = "grpc.health.v1.Health/Watch";
    let first = calls.first_message(method, &request, AT_ONCE).await;
    match first {
        Ok(Some(_)) => {
            report.ok(Check::ThroughStream, "the first message of a stream comes at once")
        }
        outcome => {
            let told = match outcome {
                Err(error) => error.to_string(),
                Ok(_) => "it ends without any".to_owned(),
            };
            let text = format!(
                "a stream has no first message: {told}; have the balancer send on answers before \
                 they are whole (no buffering)"
            );
            report.fault(Check::ThroughStream, text);
        }
    }
}

/// Whether games can be served.
pub(super) async fn health(calls: &Calls, report: &mut Report) {
    let request = HealthCheckRequest { service: "banqi.v1.GameService".to_owned() };
    let sent = Sent::Whole(framed(&request.encode_to_vec()));
    let answer = calls.call("grpc.health.v1.Health/Check", &HeaderMap::new(), sent).await;
    let told = answer.ok().and_then(|answer| {
        HealthCheckResponse::decode(answer.message()?).ok().map(|told| told.status())
    });
    match told {
        Some(ServingStatus::Serving) => report.ok(Check::ThroughHealth, "games can be served"),
        Some(_) => report.fault(
            Check::ThroughHealth,
            "a replica says that it is not ready: its store is away, or it stops; /readyz of \
             --http-listen and its log say which",
        ),
        None => report.warning(
            Check::ThroughHealth,
            "`grpc.health.v1.Health` does not answer: let its calls through, for clients that ask",
        ),
    }
}

fn presets() -> Sent {
    Sent::Whole(framed(&[]))
}
