//! Who plays which seat from here.

use std::collections::BTreeMap;

use rand::RngExt as _;

use super::{First, Opponent, PlayError};
use crate::api::proto::v1;
use crate::client::Client;
use crate::game::SeatToken;

/// How many random bytes are added to a deal.
const ENTROPY: usize = 32;

/// A game, with the seats that are played from here.
#[derive(Debug)]
pub(super) struct Seating {
    pub(super) game_id: String,
    /// The tokens of the seats that are played by hand.
    pub(super) own: BTreeMap<u32, String>,
    /// Those of the seats that a bot plays.
    pub(super) bots: BTreeMap<u32, String>,
}

/// A game to be made.
pub(super) struct NewGame<'a> {
    pub(super) preset: &'a str,
    pub(super) name: &'a str,
    pub(super) against: Opponent,
    pub(super) first: First,
}

impl Seating {
    /// A game, with no seat yet.
    pub(super) fn at(game_id: String) -> Self {
        Self { game_id, own: BTreeMap::new(), bots: BTreeMap::new() }
    }

    /// A new game.
    pub(super) async fn create(client: &Client, new: NewGame<'_>) -> Result<Self, PlayError> {
        let presets = client.list_presets(v1::ListPresetsRequest {}).await?.presets;
        // A name that is none is the service's to refuse, since it knows them all.
        let preset = presets.iter().find(|preset| preset.name == new.preset);
        let seats = preset.and_then(|preset| preset.rules.as_ref()?.seats).unwrap_or(2);
        let number = match new.first {
            First::Me => 1,
            First::Other => 2,
            First::Random => rand::rng().random_range(1..=seats),
        };
        let seat = |index: u32| {
            let mine = index == number || new.against == Opponent::Here;
            let claim = match new.against {
                Opponent::Friend if !mine => v1::SeatClaim::Open,
                _ => v1::SeatClaim::Assigned,
            };
            let name = match new.against {
                _ if index == number => new.name,
                Opponent::Bot => "bot",
                Opponent::Friend | Opponent::Here => "",
            };
            // Two seats of one name could not be told apart.
            let name =
                if seats > 2 && name == "bot" { format!("bot {index}") } else { name.to_owned() };
            v1::NewSeat { player_id: name, claim: claim.into() }
        };
        let created = client
            .create_game(v1::CreateGameRequest {
                preset: new.preset.to_owned(),
                seats: (1..=seats).map(seat).collect(),
                ..Default::default()
            })
            .await?;
        let game_id = created.game.ok_or(PlayError::NoGame)?.game_id;
        let tokens = created.seat_tokens.into_iter().map(|token| (token.seat, token.token));
        let (own, bots) =
            tokens.partition(|(seat, _)| new.against != Opponent::Bot || *seat == number);
        let seating = Self { game_id, own, bots };
        for (seat, token) in seating.own.iter().chain(&seating.bots) {
            seating.add_entropy(client, *seat, token).await?;
        }
        Ok(seating)
    }

    /// A seat that is open in a game of somebody else's.
    pub(super) async fn join(
        client: &Client,
        game_id: &str,
        name: &str,
    ) -> Result<Self, PlayError> {
        let joined = client
            .join_game(v1::JoinGameRequest {
                game_id: game_id.to_owned(),
                player_id: name.to_owned(),
                entropy: entropy(),
                ..Default::default()
            })
            .await?;
        let own = BTreeMap::from([(joined.seat, joined.seat_token)]);
        Ok(Self { game_id: game_id.to_owned(), own, bots: BTreeMap::new() })
    }

    /// Seats that were played before.
    pub(super) fn resume(game_id: &str, tokens: &[SeatToken]) -> Self {
        let seats = tokens.iter().map(|token| (token.seat().number().into(), token.expose()));
        Self { own: seats.collect(), ..Self::at(game_id.to_owned()) }
    }

    async fn add_entropy(&self, client: &Client, seat: u32, token: &str) -> Result<(), PlayError> {
        let added = client.add_entropy(v1::AddEntropyRequest {
            game_id: self.game_id.clone(),
            seat,
            seat_token: token.to_owned(),
            entropy: entropy(),
            ..Default::default()
        });
        Ok(added.await.map(drop)?)
    }
}

fn entropy() -> Vec<u8> {
    rand::rng().random::<[u8; ENTROPY]>().to_vec()
}
