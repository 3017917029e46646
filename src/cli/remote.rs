//! The service that a command calls.

use std::path::PathBuf;

use clap::Args;
use tonic::metadata::AsciiMetadataValue;

use crate::client::{Client, ConnectError, Options};

/// How a service is called.
#[derive(Args, Clone, Debug)]
pub(super) struct RemoteOptions {
    /// A key of a service that asks for one
    #[arg(long, value_name = "KEY", env = "BANQI_API_KEY", hide_env_values = true)]
    api_key: Option<AsciiMetadataValue>,

    /// Authorities to trust instead of the system's (PEM), for https://
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
}

impl RemoteOptions {
    /// A client of the service at an address.
    pub(super) async fn connect(&self, address: &str) -> Result<Client, ConnectError> {
        let options = Options {
            api_key: self.api_key.clone(),
            authorities: self.ca.clone(),
            ..Options::default()
        };
        Client::connect(address, options).await
    }
}
