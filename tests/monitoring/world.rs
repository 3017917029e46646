//! Two replicas on a real Redis, on which games are played and watched without end.

use std::time::Duration;

use banqi::api::proto::v1;
use banqi::api::proto::v1::game_service_client::GameServiceClient;
use banqi::api::proto::v1::time_control::{Clock, PerTurn};
use tokio::time::sleep;
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::{Channel, Endpoint};
use tonic::{Status, Streaming};

use crate::support::redis_server::RedisServer;
use crate::support::replica::Replica;

/// How many streams a replica takes; the players' watchers leave most of them free.
pub(crate) const STREAMS: usize = 4;

/// How long a call may take before its player gives up and begins anew.
const CALL_LIMIT: Duration = Duration::from_secs(5);

/// How long a player thinks.
const THOUGHT: Duration = Duration::from_millis(50);

/// How many actions of a game are played before a player resigns it.
const ACTIONS: usize = 15;

pub(crate) type Client = GameServiceClient<Channel>;

/// Replicas and store, and players who never stop. The players are first, and so the first to end.
pub(crate) struct World {
    _players: Vec<AbortOnDropHandle<()>>,
    pub(crate) replicas: [Replica; 2],
    pub(crate) redis: RedisServer,
}

impl World {
    pub(crate) fn start() -> Self {
        let redis = RedisServer::start();
        let streams = format!("--max-streams={STREAMS}");
        let options = ["--store", &redis.url(), &streams, "--dev-platform", "--log=off"];
        let replicas = [(); 2].map(|()| Replica::start(&options));
        let [one, other] = replicas.each_ref().map(client);
        let lanes = [(one.clone(), other.clone()), (other, one)];
        let players = lanes.map(|(plays, watches)| {
            AbortOnDropHandle::new(tokio::spawn(async move {
                loop {
                    // Faults are what these tests are about: a game that meets one is left alone.
                    if play_a_game(plays.clone(), watches.clone()).await.is_err() {
                        sleep(THOUGHT).await;
                    }
                }
            }))
        });
        Self { _players: players.into(), replicas, redis }
    }

    /// Clients of both replicas.
    pub(crate) fn clients(&self) -> [Client; 2] {
        self.replicas.each_ref().map(client)
    }
}

fn client(replica: &Replica) -> Client {
    let endpoint = Endpoint::from_shared(format!("http://{}", replica.address())).expect("a URI");
    GameServiceClient::new(endpoint.timeout(CALL_LIMIT).connect_lazy())
}

/// Creates a game of two seats with a clock, or without one.
pub(crate) async fn create(client: &mut Client, clock: Option<Clock>) -> Result<String, Status> {
    let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
    let request = v1::CreateGameRequest {
        preset: "TAIWANESE".to_owned(),
        seats: vec![seat.clone(), seat],
        time_control: clock
            .map(|clock| v1::TimeControl { clock: Some(clock), ..Default::default() }),
        ..Default::default()
    };
    let created = client.create_game(request).await?.into_inner();
    Ok(created.game.expect("a game").game_id)
}

/// So much for each turn; nobody comes to play.
pub(crate) fn per_turn(limit: Duration) -> Option<Clock> {
    Some(Clock::PerTurn(PerTurn { limit: Some(limit.try_into().expect("short")) }))
}

pub(crate) async fn get(client: &mut Client, id: &str) -> Result<v1::Game, Status> {
    let request = v1::GetGameRequest { game_id: id.to_owned(), ..Default::default() };
    Ok(client.get_game(request).await?.into_inner().game.expect("a game"))
}

/// Lets the seat to move play its first legal action, or one that is not to move try.
pub(crate) async fn act(
    client: &mut Client,
    game: &v1::Game,
    turn: bool,
) -> Result<v1::Game, Status> {
    let to_move = game.position.as_ref().expect("a position").to_move;
    let request = v1::PlayActionRequest {
        game_id: game.game_id.clone(),
        seat: if turn { to_move } else { 3 - to_move },
        action: game.legal_actions.first().expect("a legal action").text.clone(),
        ..Default::default()
    };
    Ok(client.play_action(request).await?.into_inner().game.expect("a game"))
}

pub(crate) async fn watch(
    client: &mut Client,
    id: &str,
) -> Result<Streaming<v1::WatchGameResponse>, Status> {
    let request = v1::WatchGameRequest { game_id: id.to_owned(), ..Default::default() };
    Ok(client.watch_game(request).await?.into_inner())
}

/// Plays some of a game on one replica, watched on the other; and has another end by its clock.
async fn play_a_game(mut plays: Client, mut watches: Client) -> Result<(), Status> {
    create(&mut plays, per_turn(Duration::from_millis(200))).await?;
    let id = create(&mut plays, None).await?;
    let mut events = watch(&mut watches, &id).await?;
    let watcher = tokio::spawn(async move { while let Ok(Some(_)) = events.message().await {} });
    let _watcher = AbortOnDropHandle::new(watcher);
    let mut game = get(&mut plays, &id).await?;
    for _ in 0..ACTIONS {
        game = act(&mut plays, &game, true).await?;
        if game.state() != v1::GameState::Active {
            return Ok(());
        }
        sleep(THOUGHT).await;
    }
    // Something that is refused, as it happens in games.
    act(&mut plays, &game, false).await.expect_err("another seat is to move");
    let resign = v1::ResignGameRequest { game_id: id, seat: 1, ..Default::default() };
    plays.resign_game(resign).await?;
    Ok(())
}
