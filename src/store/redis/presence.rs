//! Who is present, on the server: many games of a shard in one call of a script.

use redis::Cmd;

use super::answer::unintelligible;
use super::scripts::Script;
use super::{BATCH, RedisStore};
use crate::game::{GameId, Span};
use crate::store::presence::present_slots;
use crate::store::{Presence, PresentSlot, Shard, Slot, StoreError};

/// How many games one call of a script is about at most, so that none holds up the server for long.
const GAMES_A_CALL: usize = 64;

impl RedisStore {
    /// Marks slots as present; with no lifetime, takes that back.
    pub(super) async fn set_presence(
        &self,
        presences: &[Presence],
        lifetime: Span,
    ) -> Result<(), StoreError> {
        let script = &self.scripts.presence;
        let calls = self.by_shard(presences, |presence| &presence.game);
        for calls in calls.chunks(BATCH) {
            self.call(script, calls, |command, shard, places| {
                for &place in places {
                    command.arg(self.keys.presence(shard, &presences[place].game));
                }
                command.arg(lifetime.0);
                for &place in places {
                    command.arg(member(&presences[place]));
                }
            })
            .await
            .map(|_: Vec<()>| ())?;
        }
        Ok(())
    }

    /// The slots that are present at each of these games.
    pub(super) async fn read_presence(
        &self,
        games: &[GameId],
    ) -> Result<Vec<Vec<PresentSlot>>, StoreError> {
        let mut present = vec![Vec::new(); games.len()];
        let calls = self.by_shard(games, |game| game);
        for calls in calls.chunks(BATCH) {
            let answers: Vec<Vec<Vec<u64>>> = self
                .call(&self.scripts.present, calls, |command, shard, places| {
                    for &place in places {
                        command.arg(self.keys.presence(shard, &games[place]));
                    }
                })
                .await?;
            for ((_, places), answer) in calls.iter().zip(answers) {
                for (&place, streams) in places.iter().zip(answer) {
                    present[place] = parse_slots(&streams)?;
                }
            }
        }
        Ok(present)
    }

    /// The places of what is asked for, by the calls that ask for it: each of one shard.
    fn by_shard<T>(&self, asked: &[T], game: impl Fn(&T) -> &GameId) -> Vec<(Shard, Vec<usize>)> {
        let mut places: Vec<(Shard, usize)> = asked
            .iter()
            .enumerate()
            .map(|(place, one)| (self.shards.shard_of(game(one)), place))
            .collect();
        places.sort_unstable();
        places
            .chunk_by(|one, next| one.0 == next.0)
            .flat_map(|of_shard| of_shard.chunks(GAMES_A_CALL))
            .map(|call| (call[0].0, call.iter().map(|&(_, place)| place).collect()))
            .collect()
    }

    /// Calls a script as often as there are `calls`; `arguments` adds keys and arguments to each.
    async fn call<T: redis::FromRedisValue>(
        &self,
        script: &Script,
        calls: &[(Shard, Vec<usize>)],
        arguments: impl Fn(&mut Cmd, Shard, &[usize]),
    ) -> Result<Vec<T>, StoreError> {
        let commands = calls.iter().map(|(shard, places)| {
            let mut command = script.call(places.len());
            arguments(&mut command, *shard, places);
            (self.keys.slot(*shard), command)
        });
        self.servers.run_all(script, commands.collect()).await
    }
}

/// How a stream stands in the sorted set of its game.
fn member(presence: &Presence) -> String {
    format!("{}:{:016x}", presence.slot.0, presence.stream.0)
}

fn parse_slots(streams: &[u64]) -> Result<Vec<PresentSlot>, StoreError> {
    let bad = || unintelligible("what the script of presence answered is not what it answers");
    let slots: Vec<PresentSlot> = streams
        .chunks(2)
        .map(|stream| match stream {
            [slot, remaining] => Ok(PresentSlot {
                slot: Slot(u8::try_from(*slot).map_err(|_| bad())?),
                remaining: Span(*remaining),
            }),
            _ => Err(bad()),
        })
        .collect::<Result<_, _>>()?;
    Ok(present_slots(slots.into_iter()))
}
