//! A service that asks for API keys, and calls with metadata.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use banqi::api::callers::{ApiKey, CallerOptions, Credential, KeyEntry, Role};
use banqi::api::proto::v1;
use banqi::server::Config;
use prost::Message;
use tempfile::TempDir;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;

use crate::support::refusal;
use crate::table::{Table, assigned};
use crate::world::{Backing, Replica, World, trusting};

/// A service with a key of each role, and a way to change them.
pub(crate) struct Guarded {
    pub(crate) world: World,
    directory: TempDir,
}

pub(crate) fn key(number: u8) -> ApiKey {
    ApiKey::new([number; 32])
}

pub(crate) fn line(name: &str, role: Role, number: u8) -> String {
    let name = name.parse().expect("a name");
    KeyEntry { name, role, credential: Credential::Key(key(number).hash()) }.to_string()
}

/// The number of the key that each role has.
pub(crate) fn of(role: Role) -> u8 {
    role as u8 + 1
}

/// A directory with a key of each role and a service key, and what makes a service ask for them.
pub(crate) fn keys() -> (TempDir, CallerOptions) {
    let directory = TempDir::new().expect("a directory");
    let lines = Role::ALL.map(|role| line(role.name(), role, of(role)));
    fs::write(directory.path().join("keys"), lines.join("\n")).expect("written");
    fs::write(directory.path().join("service"), [b'x'; 32]).expect("written");
    let callers = CallerOptions {
        auth: Some(directory.path().join("keys")),
        dev_platform: false,
        service_key: Some(directory.path().join("service")),
        ..CallerOptions::default()
    };
    (directory, callers)
}

impl Guarded {
    pub(crate) async fn start(backing: Backing) -> Self {
        let (directory, callers) = keys();
        let world = World::with(backing, 2, Config { callers, ..trusting() }).await;
        Self { world, directory }
    }

    pub(crate) fn any(&self) -> &Replica {
        self.world.any()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("keys")
    }

    /// A game of the platform's, with every seat assigned.
    pub(crate) async fn table(&self, spectators: v1::SpectatorMode) -> Table {
        let request = v1::CreateGameRequest {
            seats: assigned("TAIWANESE"),
            spectators: Some(v1::Spectators { mode: spectators.into(), delay_turns: 0 }),
            ..Default::default()
        };
        let request = with(request, &by_key(of(Role::Player)));
        let answer = self.any().games().create_game(request).await.expect("created").into_inner();
        Table::of(answer.game, answer.seat_tokens)
    }
}

/// Metadata of a call.
pub(crate) type Metadata = Vec<(&'static str, String)>;

pub(crate) fn by_key(number: u8) -> Metadata {
    vec![("x-api-key", key(number).expose().to_owned())]
}

pub(crate) fn bearer(token: &str) -> Metadata {
    vec![("authorization", format!("Bearer {token}"))]
}

/// A request with metadata.
pub(crate) fn with<T>(message: T, metadata: &Metadata) -> Request<T> {
    let mut request = Request::new(message);
    for (key, value) in metadata {
        request.metadata_mut().append(*key, value.parse().expect("ASCII"));
    }
    request
}

/// Calls any method, and waits for the first message.
pub(crate) async fn call<M: Message + 'static>(
    replica: &Replica,
    path: &str,
    message: M,
    metadata: &Metadata,
) -> Result<(), Status> {
    let mut grpc = tonic::client::Grpc::new(replica.channel.clone());
    grpc.ready().await.expect("connected");
    let path: PathAndQuery = path.parse().expect("a path");
    // What is answered does not matter: `()` reads every message.
    let codec = ProstCodec::<M, ()>::default();
    let answer = grpc.server_streaming(with(message, metadata), path, codec).await?;
    answer.into_inner().message().await.map(|_| ())
}

/// What a caller is told by a method, before the (empty) request itself is looked at: the reason
/// of a refusal for who it is, or nothing.
pub(crate) async fn refused_for_its_caller(
    replica: &Replica,
    path: &str,
    metadata: &Metadata,
) -> Option<(String, BTreeMap<String, String>)> {
    let status = call(replica, path, (), metadata).await.err()?;
    let (code, reason, details) = refusal(&status);
    let metadata = details.error_info().expect("an ErrorInfo").metadata.clone();
    let is_about_the_caller = matches!(code, Code::Unauthenticated | Code::PermissionDenied);
    is_about_the_caller.then(|| (reason, metadata.into_iter().collect()))
}

/// Every read of a game.
pub(crate) async fn reads(
    replica: &Replica,
    id: &str,
    metadata: &Metadata,
) -> Vec<(&'static str, Result<(), Status>)> {
    let game_id = || id.to_owned();
    let get = v1::GetGameRequest { game_id: game_id(), ..Default::default() };
    let batch = v1::BatchGetGamesRequest { game_ids: vec![game_id()], ..Default::default() };
    let list = v1::ListLegalActionsRequest { game_id: game_id() };
    let proof = v1::GetFairnessProofRequest { game_id: game_id() };
    let export = |format: v1::ExportFormat| v1::ExportGameRequest {
        game_id: game_id(),
        format: format.into(),
    };
    let (record, cdc, json) = (
        export(v1::ExportFormat::Record),
        export(v1::ExportFormat::Cdc),
        export(v1::ExportFormat::Json),
    );
    let poll = v1::PollGameRequest { game_id: game_id(), ..Default::default() };
    let watch = v1::WatchGameRequest { game_id: game_id(), ..Default::default() };
    let path = |name| format!("/banqi.v1.GameService/{name}");
    vec![
        ("GetGame", call(replica, &path("GetGame"), get, metadata).await),
        ("BatchGetGames", call(replica, &path("BatchGetGames"), batch, metadata).await),
        ("ListLegalActions", call(replica, &path("ListLegalActions"), list, metadata).await),
        ("GetFairnessProof", call(replica, &path("GetFairnessProof"), proof, metadata).await),
        ("ExportGame as a record", call(replica, &path("ExportGame"), record, metadata).await),
        ("ExportGame as CDC", call(replica, &path("ExportGame"), cdc, metadata).await),
        ("ExportGame as JSON", call(replica, &path("ExportGame"), json, metadata).await),
        ("PollGame", call(replica, &path("PollGame"), poll, metadata).await),
        ("WatchGame", call(replica, &path("WatchGame"), watch, metadata).await),
    ]
}
