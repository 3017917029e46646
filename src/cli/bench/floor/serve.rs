//! The floor: the least that a service of this shape can cost.
//!
//! A bare tonic service, without layers, that answers recorded messages and writes recorded
//! records by the store's own script, with the same keys and arguments. It knows no rules, checks
//! nothing and hashes nothing but the shard. Like the service, it remembers which version it
//! wrote last and tries the write on that first.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::Future;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::{BufMut as _, Bytes};
use clap::Args;
use prost::Message;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, RedisResult, Script, Value, cmd};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codec::{BufferSettings, Codec, EncodeBuf, Encoder};
use tonic::server::NamedService;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status};
use tonic_prost::ProstDecoder;

use super::tape::{Step, Tape};
use crate::api::proto::v1;
use crate::cli::bench::failure::BenchError;
use crate::server;
use crate::store::ShardCount;

/// Milliseconds for which the service keeps a game that has ended, and one that nobody begins.
const KEPT: u64 = 30 * 24 * 3_600_000;
const UNBEGUN: u64 = 24 * 3_600_000;

/// Serve the floor on a free port until killed
#[derive(Args, Clone, Debug)]
pub(in crate::cli::bench) struct ServeFloor {
    /// The Redis server that it writes to
    #[arg(long, env = "BANQI_STORE", value_name = "ADDRESS", hide_env_values = true)]
    store: String,

    /// How many threads serve calls, as for the service
    #[arg(long, env = "BANQI_THREADS", value_name = "THREADS")]
    threads: Option<NonZeroUsize>,
}

impl ServeFloor {
    pub(in crate::cli::bench) fn run(&self) -> Result<(), BenchError> {
        server::runtime(self.threads).map_err(BenchError::System)?.block_on(self.serve())
    }

    async fn serve(&self) -> Result<(), BenchError> {
        let failed = |source| BenchError::FloorStore { address: self.store.clone(), source };
        let client = Client::open(&*self.store).map_err(failed)?;
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let redis = client.get_multiplexed_async_connection_with_config(&config).await;
        let floor = Floor(Arc::new(State::new(redis.map_err(failed)?)));
        floor.0.load_script().await.map_err(failed)?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(BenchError::System)?;
        let address = listener.local_addr().map_err(BenchError::System)?;
        println!("floor is listening on {address}");
        let incoming = TcpIncoming::from(listener).with_nodelay(Some(true));
        let served = Server::builder().add_service(floor).serve_with_incoming(incoming).await;
        served.map_err(|error| BenchError::System(std::io::Error::other(error)))
    }
}

struct State {
    redis: MultiplexedConnection,
    script: Script,
    shards: ShardCount,
    tape: Tape,
    /// Which step of its recording each game stands at, as far as this replica knows.
    steps: Mutex<HashMap<String, usize>>,
    /// By how many milliseconds each shard's time differs from the system's.
    offsets: Box<[AtomicI64]>,
}

impl State {
    fn new(redis: MultiplexedConnection) -> Self {
        let script = concat!(
            include_str!("../../../store/redis/clock.lua"),
            include_str!("../../../store/redis/commit.lua")
        );
        let shards = ShardCount::default();
        Self {
            redis,
            script: Script::new(script),
            shards,
            tape: Tape::record(),
            steps: Mutex::default(),
            offsets: shards.iter().map(|_| AtomicI64::new(0)).collect(),
        }
    }

    async fn load_script(&self) -> RedisResult<String> {
        self.script.load_async(&mut self.redis.clone()).await
    }

    fn shard(&self, game: &str) -> usize {
        self.shards.shard_of(&game.parse().expect("an id")).number().into()
    }

    fn known_step(&self, game: &str) -> Option<usize> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).get(game).copied()
    }

    fn know_step(&self, game: &str, step: usize) {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner).insert(game.to_owned(), step);
    }

    /// The stored record of a game, and the step that it stands at.
    async fn load(&self, game: &str, shard: usize) -> Result<usize, Status> {
        let mut command = cmd("GET");
        command.arg(format!("banqi:{{{shard:04}}}:game:{game}"));
        let record: Bytes = command.query_async(&mut self.redis.clone()).await.map_err(failed)?;
        Ok(step_of(&record))
    }

    /// Writes the step after the one that stands; answers it.
    async fn play(&self, game: &str) -> Result<Bytes, Status> {
        let shard = self.shard(game);
        let steps = self.tape.steps(shard);
        let mut standing = match self.known_step(game) {
            Some(step) => step,
            None => self.load(game, shard).await?,
        };
        loop {
            let (before, after) = (&steps[standing], &steps[standing + 1]);
            let last = standing + 2 == steps.len();
            match self.commit(game, shard, &before.record[1..17], after, None, last).await? {
                Committed::Done => {
                    self.know_step(game, standing + 1);
                    return Ok(after.answer.clone());
                }
                Committed::Stands(step) => standing = step,
                Committed::ClockOff => {}
            }
        }
    }

    async fn create(&self, game: &str) -> Result<Bytes, Status> {
        let shard = self.shard(game);
        let first = &self.tape.steps(shard)[0];
        loop {
            let deadline = Some(self.now(shard) + UNBEGUN);
            if let Committed::Done = self.commit(game, shard, b"", first, deadline, false).await? {
                self.know_step(game, 0);
                return Ok(first.answer.clone());
            }
        }
    }

    async fn get(&self, game: &str) -> Result<Bytes, Status> {
        let shard = self.shard(game);
        let step = self.load(game, shard).await?;
        Ok(self.tape.steps(shard)[step].read.clone())
    }

    async fn commit(
        &self,
        game: &str,
        shard: usize,
        expected: &[u8],
        step: &Step,
        deadline: Option<u64>,
        last: bool,
    ) -> Result<Committed, Status> {
        let mut command = Cmd::with_capacity(15, 600 + step.record.len());
        command.arg("EVALSHA").arg(self.script.get_hash()).arg(5);
        for key in ["clock", "deadlines", "feed", "outbox"] {
            command.arg(format!("banqi:{{{shard:04}}}:{key}"));
        }
        command.arg(format!("banqi:{{{shard:04}}}:game:{game}"));
        command.arg(self.now(shard)).arg(0).arg(0).arg(expected).arg(&step.record[..]);
        command.arg(deadline.map(|at| at.to_string()).unwrap_or_default());
        command.arg(if last { KEPT.to_string() } else { String::new() });
        let mut redis = self.redis.clone();
        let answer: (u8, u64, Option<Bytes>) =
            match command.query_async::<Value>(&mut redis).await.map_err(failed)? {
                Value::Array(mut parts) => {
                    parts.resize(3, Value::Nil);
                    redis::from_redis_value(Value::Array(parts))
                        .map_err(|error| failed(error.into()))?
                }
                other => return Err(Status::internal(format!("{other:?}"))),
            };
        match answer {
            (1, _, _) => Ok(Committed::Done),
            (0, _, Some(record)) => Ok(Committed::Stands(step_of(&record))),
            (_, now, _) => {
                let offset = now.cast_signed() - system_time().cast_signed();
                self.offsets[shard].store(offset, Ordering::Relaxed);
                Ok(Committed::ClockOff)
            }
        }
    }

    fn now(&self, shard: usize) -> u64 {
        system_time().wrapping_add_signed(self.offsets[shard].load(Ordering::Relaxed))
    }
}

enum Committed {
    Done,
    Stands(usize),
    ClockOff,
}

/// Which step of its recording a record is: revisions count from 1.
fn step_of(record: &[u8]) -> usize {
    let revision = record[1..9].try_into().expect("eight bytes");
    usize::try_from(u64::from_be_bytes(revision) - 1).expect("a step")
}

fn system_time() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    elapsed.as_millis() as u64
}

fn failed(error: redis::RedisError) -> Status {
    Status::unavailable(error.to_string())
}

/// The service, as tonic wants it.
#[derive(Clone)]
struct Floor(Arc<State>);

impl NamedService for Floor {
    const NAME: &'static str = "banqi.v1.GameService";
}

impl tower::Service<http::Request<Body>> for Floor {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let state = Arc::clone(&self.0);
        Box::pin(async move {
            let (play, get) = ("/banqi.v1.GameService/PlayAction", "/banqi.v1.GameService/GetGame");
            let path = request.uri().path();
            Ok(if path == play {
                unary(request, |asked: v1::PlayActionRequest| {
                    let state = Arc::clone(&state);
                    async move { state.play(&asked.game_id).await }
                })
                .await
            } else if path == get {
                unary(request, |asked: v1::GetGameRequest| {
                    let state = Arc::clone(&state);
                    async move { state.get(&asked.game_id).await }
                })
                .await
            } else {
                unary(request, |asked: v1::CreateGameRequest| {
                    let state = Arc::clone(&state);
                    async move { state.create(&asked.game_id).await }
                })
                .await
            })
        })
    }
}

/// Answers one call: the request is decoded, the answer is bytes already.
async fn unary<R, F>(request: http::Request<Body>, answer: impl Fn(R) -> F) -> http::Response<Body>
where
    R: Message + Default + Send + 'static,
    F: Future<Output = Result<Bytes, Status>>,
{
    let service = tower::service_fn(|request: Request<R>| {
        let answer = answer(request.into_inner());
        async move { Ok::<_, Status>(Response::new(answer.await?)) }
    });
    tonic::server::Grpc::new(Recorded(PhantomData)).unary(service, request).await
}

/// Decodes messages and encodes bytes that are messages already.
struct Recorded<R>(PhantomData<R>);

impl<R: Message + Default + Send + 'static> Codec for Recorded<R> {
    type Encode = Bytes;
    type Decode = R;
    type Encoder = AsTheyAre;
    type Decoder = ProstDecoder<R>;

    fn encoder(&mut self) -> AsTheyAre {
        AsTheyAre
    }

    fn decoder(&mut self) -> ProstDecoder<R> {
        ProstDecoder::new(BufferSettings::default())
    }
}

struct AsTheyAre;

impl Encoder for AsTheyAre {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, message: Bytes, into: &mut EncodeBuf<'_>) -> Result<(), Status> {
        into.put(message);
        Ok(())
    }
}
