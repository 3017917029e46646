//! A service of one's own, for games that need nobody else.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::api::callers::{CallerOptions, Callers, CallersError};
use crate::server::{self, Config, Listeners, ServeError, Stopped};
use crate::store::{self, Options, StoreError, SystemTimeSource};

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(in crate::cli) enum OwnServiceError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Callers(#[from] CallersError),
    #[error("no port on loopback can be listened on: {0}")]
    Listen(#[from] io::Error),
}

/// A running service, whose games end with it.
#[derive(Debug)]
pub(super) struct OwnService {
    pub(super) address: SocketAddr,
    stop: oneshot::Sender<()>,
    running: JoinHandle<Result<Stopped, ServeError>>,
}

impl OwnService {
    pub(super) async fn start() -> Result<Self, OwnServiceError> {
        let store = store::open("memory:", Options::default()).await?;
        let callers = Callers::open(&CallerOptions::default(), Arc::new(SystemTimeSource))?;
        let grpc = TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        let address = grpc.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            let config = Config { stop_grace: std::time::Duration::ZERO, ..Config::default() };
            let shutdown = async { stopped.await.unwrap_or(()) };
            let listeners = Listeners { grpc, tls: None, http: None };
            server::run(listeners, &config, &callers, store, shutdown).await
        });
        Ok(Self { address, stop, running })
    }

    pub(super) async fn stop(self) {
        // It has ended already where nobody waits for this, and how it ended tells a player nothing.
        let _ = self.stop.send(());
        let _ = self.running.await;
    }
}
