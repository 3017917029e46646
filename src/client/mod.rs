//! A client for Rust: typed calls that are safe to make, and watches that outlive their streams.
//!
//! ```no_run
//! use banqi::api::proto::v1;
//! use banqi::client::{Client, Options, Watched};
//!
//! # async fn play() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::connect("http://127.0.0.1:50051", Options::default()).await?;
//! let seat = v1::NewSeat { claim: v1::SeatClaim::Assigned.into(), ..Default::default() };
//! let seats = vec![seat.clone(), seat];
//! let created = client.create_game(v1::CreateGameRequest { seats, ..Default::default() }).await?;
//! let game_id = created.game.expect("the game").game_id;
//! let played = client.play_action(v1::PlayActionRequest {
//!     game_id: game_id.clone(),
//!     seat_token: created.seat_tokens[0].token.clone(),
//!     action: "b3".to_owned(),
//!     ..Default::default()
//! });
//! println!("{}", played.await?.record.expect("a record").text);
//!
//! let mut watch = client.watch(&game_id, "");
//! while let Some(watched) = watch.next().await? {
//!     if let Watched::Event(event) = watched {
//!         println!("{:?}", event.entry);
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! `examples/quick_start.rs` plays a whole game, and `examples/bot.rs` joins one.

mod backoff;
mod calls;
mod connect;
mod error;
mod watch;

pub use calls::Client;
pub use connect::{ConnectError, Options};
pub use error::{CallError, Violation};
pub use watch::{Watch, Watched};
