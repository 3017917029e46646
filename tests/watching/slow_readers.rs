//! Readers that do not read: they cost the service no memory, however much there is to tell them.

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::watch_game_response::Message;
use futures_util::future::join_all;
use prost::Message as _;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

use crate::replicas::in_time;
use crate::support::memory;
use crate::support::replica::Replica;

const READERS: usize = 200;

/// How much happens that they do not read.
const EVENTS: u64 = 2_000;

/// How much a reader that reads nothing takes from the network, in bytes.
const WINDOW: u32 = 16 * 1024;

/// How much the service may grow: a small part of what there is to tell, and much more than it takes
/// to know of the streams and of one game.
const MOST: u64 = 32 * 1024 * 1024;

/// A connection whose streams take no more than a window before somebody reads.
async fn connection(replica: &Replica) -> Channel {
    let uri = format!("http://{}", replica.address());
    let endpoint = Endpoint::from_shared(uri).expect("a URI").initial_stream_window_size(WINDOW);
    // The readers share a connection, and none of them closes it for the others.
    let endpoint = endpoint.initial_connection_window_size(2 * WINDOW * READERS as u32);
    endpoint.connect().await.expect("a connection")
}

async fn watch(games: &GameServiceClient<Channel>, id: &str) -> Streaming<v1::WatchGameResponse> {
    let request = v1::WatchGameRequest { game_id: id.to_owned(), ..Default::default() };
    in_time(games.clone().watch_game(request)).await.expect("a watch").into_inner()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_read_is_not_buffered_for_and_is_told_everything_once_he_reads() {
    let options = ["--store=memory:", "--dev-platform", "--log=error", "--stream-max-age=0"];
    let start = move || Replica::start(&options);
    let replica = tokio::task::spawn_blocking(start).await.expect("it starts");
    let channel = connection(&replica).await;
    let mut games = GameServiceClient::new(connection(&replica).await);
    let assigned = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
    let request = v1::CreateGameRequest { seats: vec![assigned; 2], ..Default::default() };
    let game = in_time(games.create_game(request)).await.expect("created").into_inner().game;
    let id = game.expect("a game").game_id;

    let readers = GameServiceClient::new(channel);
    let mut idle = join_all((0..READERS).map(|_| watch(&readers, &id))).await;
    // One who reads shows that all was told.
    let mut reading = watch(&games, &id).await;
    let before = memory(replica.id());
    let happen = async {
        for event in 0..EVENTS {
            let seat = 1 + (event % 2) as u32;
            let request =
                v1::ReissueSeatTokenRequest { game_id: id.clone(), seat, ..Default::default() };
            in_time(games.reissue_seat_token(request)).await.expect("replaced");
        }
    };
    let ((), told) = tokio::join!(happen, read(&mut reading));
    let unread = told * READERS as u64;
    let grown = memory(replica.id()).saturating_sub(before);
    println!("{unread} bytes were not read by {READERS} readers; {grown} bytes were taken");
    assert!(unread > 8 * MOST, "there was much to tell");
    assert!(grown < MOST, "{grown} bytes were taken, {before} before");

    // Those who read at last miss nothing.
    for stream in &mut idle[..2] {
        read(stream).await;
    }
}

/// Reads every event, each once and in order; answers how many bytes they were.
async fn read(stream: &mut Streaming<v1::WatchGameResponse>) -> u64 {
    let (mut revision, mut bytes) = (1, 0);
    while revision < 1 + EVENTS {
        let response = in_time(stream.message()).await.expect("no error").expect("no end");
        bytes += response.encoded_len() as u64;
        match response.message.expect("a message says something") {
            Message::Snapshot(snapshot) => {
                assert_eq!((revision, snapshot.game.expect("a game").revision), (1, 1));
            }
            Message::Event(event) => {
                revision += 1;
                assert_eq!(event.entry.expect("an entry").revision, revision);
            }
            Message::KeepAlive(_) | Message::Presence(_) => {}
        }
    }
    bytes
}
