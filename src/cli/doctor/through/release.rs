//! Whether the API behind is this release's, by what it tells of itself (server reflection).

use http::HeaderMap;
use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ServerReflectionRequest, ServerReflectionResponse};

use super::wire::{Calls, Sent, framed};
use crate::api::proto::DESCRIPTORS;
use crate::cli::doctor::check::Check;
use crate::cli::doctor::report::Report;

/// Compares every file of the API.
pub(super) async fn check(calls: &Calls, report: &mut Report) {
    let own = FileDescriptorSet::decode(DESCRIPTORS).expect("what was built in");
    let own = own.file.into_iter().filter(|file| file.name().starts_with("banqi/v1/"));
    let mut different = Vec::new();
    for file in own {
        match told(calls, file.name()).await {
            Some(Some(theirs)) if theirs == file => {}
            Some(_) => different.push(file.name().to_owned()),
            None => {
                let text = "server reflection does not answer: let its calls through, for tools \
                            like grpcurl";
                return report.warning(Check::ThroughRelease, text);
            }
        }
    }
    if different.is_empty() {
        let version = env!("CARGO_PKG_VERSION");
        return report.ok(Check::ThroughRelease, format!("its API is that of {version}, as here"));
    }
    let text = format!(
        "another release answers: {} differ; run the release here that runs there",
        different.join(", ")
    );
    report.warning(Check::ThroughRelease, text);
}

/// A file as the other side has it, if it has it; `None` where it does not answer.
async fn told(calls: &Calls, name: &str) -> Option<Option<FileDescriptorProto>> {
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::FileByFilename(name.to_owned())),
    };
    let sent = Sent::Whole(framed(&request.encode_to_vec()));
    let method = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let answer = calls.call(method, &HeaderMap::new(), sent).await.ok()?;
    let answer = ServerReflectionResponse::decode(answer.message()?).ok()?;
    Some(match answer.message_response? {
        MessageResponse::FileDescriptorResponse(files) => {
            let decoded =
                files.file_descriptor_proto.iter().map(|file| FileDescriptorProto::decode(&**file));
            decoded.filter_map(Result::ok).find(|file| file.name() == name)
        }
        _ => None,
    })
}
