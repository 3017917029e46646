//! Callers: who may call, and what. Every handler begins by asking [`Callers`] who calls.

mod api_key;
mod caller;
mod certificate;
mod key_file;
mod keys;
mod lasting;
mod player_token;
mod quotas;
mod role;
mod service_key;
mod shown;

use std::path::PathBuf;
use std::sync::Arc;

use tonic::Request;
use tonic::metadata::MetadataMap;

pub use api_key::{ApiKey, KeyHash, KeyHashError};
pub use caller::Caller;
pub use certificate::{CertificateName, CertificateNameError, Peer};
pub use key_file::KeyFileError;
pub use keys::{Credential, CredentialError, KeyEntry, KeyFault, KeyName, KeyNameError};
pub(super) use lasting::{Messages, lasting};
pub use player_token::{PlayerToken, PlayerTokenError};
pub use quotas::CallerLimits;
pub(super) use quotas::StreamPlace;
pub use role::{Role, RoleError};
pub use service_key::{ServiceKey, ServiceKeyError};
pub(crate) use shown::{API_KEY, AUTHORIZATION};

use self::caller::{Proven, Standing};
use self::key_file::KeyFile;
use self::quotas::Quotas;
use self::shown::Shown;
use super::error::{ApiError, Reason};
use crate::game::{Millis, PlayerId, Span};
use crate::store::TimeSource;

/// How callers are told apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerOptions {
    /// The file of API keys; without one everyone may call.
    pub auth: Option<PathBuf>,
    /// Whether everyone may act by seat number and call the platform's service. Not with `auth`.
    pub dev_platform: bool,
    /// The file of the key that player tokens are made with.
    pub service_key: Option<PathBuf>,
    /// How much each caller may ask for.
    pub limits: CallerLimits,
}

/// Why callers cannot be told apart as configured.
#[derive(Debug, thiserror::Error)]
pub enum CallersError {
    /// The key file cannot be used.
    #[error("--auth: {0}")]
    Keys(#[from] KeyFileError),
    /// The service key cannot be used.
    #[error("--service-key: {0}")]
    ServiceKey(#[from] ServiceKeyError),
}

/// What a service knows of its callers.
#[derive(Debug)]
pub struct Callers {
    admission: Admission,
    service_key: Option<ServiceKey>,
    time: Arc<dyn TimeSource>,
    quotas: Arc<Quotas>,
}

/// Who is let in.
#[derive(Debug)]
enum Admission {
    Open { dev_platform: bool },
    Keys(Arc<KeyFile>),
}

impl Callers {
    /// Reads what the options name. `time` says whether player tokens have expired.
    ///
    /// # Errors
    /// What is wrong with a file.
    pub fn open(
        options: &CallerOptions,
        time: Arc<dyn TimeSource>,
    ) -> Result<Arc<Self>, CallersError> {
        let admission = match &options.auth {
            Some(path) => Admission::Keys(Arc::new(KeyFile::open(path)?)),
            None => Admission::Open { dev_platform: options.dev_platform },
        };
        let service_key = options.service_key.as_deref().map(ServiceKey::open).transpose()?;
        let quotas = Quotas::new(options.limits);
        Ok(Arc::new(Self { admission, service_key, time, quotas }))
    }

    /// Takes up changes of the key file for as long as it is polled; never ends.
    pub async fn follow_keys(&self) {
        match &self.admission {
            Admission::Keys(file) => file.follow().await,
            Admission::Open { .. } => std::future::pending().await,
        }
    }

    /// Who sent a request, and what it says.
    ///
    /// # Errors
    /// Where its credentials are none of this service's.
    pub(super) fn receive<T>(&self, request: Request<T>) -> Result<(Caller, T), ApiError> {
        let caller = self.identify(request.metadata(), request.extensions().get())?;
        Ok((caller, request.into_inner()))
    }

    fn identify(&self, metadata: &MetadataMap, peer: Option<&Peer>) -> Result<Caller, ApiError> {
        let shown = Shown::read(metadata)?;
        let standing = match (&self.admission, shown.key) {
            (Admission::Open { dev_platform }, _) => Standing::Open { dev_platform: *dev_platform },
            (Admission::Keys(file), None) => match peer.and_then(|peer| file.find_peer(peer)) {
                Some(key) => Standing::Known { key, file: Arc::clone(file) },
                None => Standing::Anonymous,
            },
            (Admission::Keys(file), Some(text)) => {
                let key = file.find(&KeyHash::of(text)).ok_or_else(|| {
                    ApiError::new(
                        Reason::ApiKeyWrong,
                        "the API key is none of this service's, or not any more: a key is `bqk_` \
                         and 43 characters, and its line stands in the file of --auth",
                    )
                })?;
                Standing::Known { key, file: Arc::clone(file) }
            }
        };
        let player = shown.player_token.map(|text| self.prove(text)).transpose()?;
        let quotas = Arc::clone(&self.quotas);
        Ok(Caller { standing, seat_token: shown.seat_token, player, quotas })
    }

    /// The player that a player token is for.
    fn prove(&self, text: &str) -> Result<Proven, ApiError> {
        let Some(key) = &self.service_key else {
            return Err(ApiError::new(
                Reason::PlayerTokenWrong,
                "this service has no key to check player tokens with: start it with --service-key",
            ));
        };
        let token = PlayerToken::verify(key, text, self.time.now())?;
        Ok(Proven { token, time: Arc::clone(&self.time) })
    }

    /// A token for a player, as text, and when it expires.
    ///
    /// # Errors
    /// Where the service has no key to make it with.
    pub(super) fn issue_player_token(
        &self,
        player: PlayerId,
        lifetime: Span,
    ) -> Result<(String, Millis), ApiError> {
        let key = self.service_key.as_ref().ok_or_else(ApiError::no_service_key)?;
        let token = PlayerToken { player, expires: self.time.now() + lifetime };
        Ok((token.issue(key), token.expires))
    }
}
