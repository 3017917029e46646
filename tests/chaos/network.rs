//! Stands between a replica and its store, and is what goes wrong between them.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;

/// What the network does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weather {
    /// It carries.
    Fair,
    /// Whatever passes takes so much longer, each way.
    Slow(Duration),
    /// Connections are cut, and new ones as soon as they are made.
    Cut,
    /// Requests arrive, and instead of answers comes the end of the connection's one half.
    HalfClosed,
    /// Requests arrive, and nothing comes back; no connection ends before the weather changes.
    Silent,
}

/// A proxy; its connections end with the runtime.
pub(crate) struct Network {
    address: SocketAddr,
    weather: watch::Sender<Weather>,
    _relaying: AbortOnDropHandle<()>,
}

impl Network {
    pub(crate) async fn to(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (weather, forecast) = watch::channel(Weather::Fair);
        let relaying = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                // Either side sees a connection end; which error that is to it is its own affair.
                let forecast = forecast.clone();
                tokio::spawn(async move { relay(client, port, forecast).await.ok() });
            }
        });
        Self { address, weather, _relaying: AbortOnDropHandle::new(relaying) }
    }

    /// The address for `--store`.
    pub(crate) fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Changes what the network does, with the connections that there are as well.
    pub(crate) fn turn(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }
}

async fn relay(
    client: TcpStream,
    port: u16,
    weather: watch::Receiver<Weather>,
) -> std::io::Result<()> {
    if *weather.borrow() == Weather::Cut {
        return Ok(());
    }
    let server = TcpStream::connect(("127.0.0.1", port)).await?;
    for socket in [&client, &server] {
        socket.set_nodelay(true)?;
    }
    let (asked, answers) = client.into_split();
    let (answered, asks) = server.into_split();
    let mut until_cut = weather.clone();
    // Whichever side ends first, the other one is closed with it.
    tokio::select! {
        done = carry_requests(asked, asks, weather.clone()) => done,
        done = carry_answers(answered, answers, weather) => done,
        _ = until_cut.wait_for(|weather| *weather == Weather::Cut) => Ok(()),
    }
}

async fn delay(weather: &watch::Receiver<Weather>) {
    let weather = *weather.borrow();
    if let Weather::Slow(longer) = weather {
        sleep(longer).await;
    }
}

async fn carry_requests(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    weather: watch::Receiver<Weather>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = from.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        delay(&weather).await;
        to.write_all(&buffer[..read]).await?;
    }
}

async fn carry_answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut weather: watch::Receiver<Weather>,
) -> std::io::Result<()> {
    let mut buffer = vec![0; 16 * 1024];
    let withheld = |weather: &Weather| matches!(weather, Weather::HalfClosed | Weather::Silent);
    loop {
        let read = tokio::select! {
            read = from.read(&mut buffer) => read?,
            _ = weather.wait_for(withheld) => 0,
        };
        let now = *weather.borrow_and_update();
        if withheld(&now) {
            if now == Weather::HalfClosed {
                to.shutdown().await?;
            }
            // What was withheld is lost, and the connection with it; until then requests go through.
            let changed = weather.wait_for(|later| *later != now).await;
            return changed.map(drop).map_err(std::io::Error::other);
        }
        if read == 0 {
            return Ok(());
        }
        delay(&weather).await;
        to.write_all(&buffer[..read]).await?;
    }
}
