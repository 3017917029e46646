//! The methods that the API's descriptors name.

use prost::Message as _;
use prost_types::FileDescriptorSet;

use crate::api::proto::DESCRIPTORS;

/// A method of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Method {
    /// Its service with the package: `banqi.v1.GameService`.
    pub(super) service: String,
    /// Its own name: `WatchGame`.
    pub(super) name: String,
    /// Whether it goes on after its answer has begun.
    pub(super) is_streaming: bool,
}

impl Method {
    /// All of them.
    pub(super) fn all() -> Vec<Self> {
        let files = FileDescriptorSet::decode(DESCRIPTORS).unwrap_or_default().file;
        let mut methods = Vec::new();
        for file in &files {
            for service in &file.service {
                let service_name = format!("{}.{}", file.package(), service.name());
                methods.extend(service.method.iter().map(|method| Self {
                    service: service_name.clone(),
                    name: method.name().to_owned(),
                    is_streaming: method.server_streaming(),
                }));
            }
        }
        methods
    }

    /// Its service and its name, as calls and traces name it.
    pub(super) fn full_name(&self) -> String {
        format!("{}/{}", self.service, self.name)
    }

    /// The path of requests for it.
    pub(super) fn path(&self) -> String {
        format!("/{}", self.full_name())
    }
}
