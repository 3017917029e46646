//! Which server serves which slot.

use redis::{FromRedisValue, Value};

use super::access::HostPort;
use super::answer::unintelligible;
use super::slot::{SLOTS, Slot};
use crate::store::StoreError;

/// The server of each slot, as far as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct SlotMap {
    servers: Vec<HostPort>,
    /// For each slot, or for none, the place of its server.
    slots: Vec<Option<u16>>,
}

impl SlotMap {
    /// One server serves everything.
    pub(super) fn whole(server: HostPort) -> Self {
        Self { servers: vec![server], slots: vec![Some(0); usize::from(SLOTS)] }
    }

    /// Reads what `CLUSTER SLOTS` answers. A node that does not know its own address stands for
    /// the one that was asked.
    pub(super) fn parse(answer: Value, asked: &HostPort) -> Result<Self, StoreError> {
        let ranges: Vec<Vec<Value>> =
            FromRedisValue::from_redis_value(answer).map_err(unintelligible)?;
        let bad = || unintelligible("CLUSTER SLOTS answers something else than ranges of slots");
        let mut map = Self { servers: Vec::new(), slots: vec![None; usize::from(SLOTS)] };
        for range in ranges {
            let [Value::Int(first), Value::Int(last), Value::Array(primary), ..] = &range[..]
            else {
                return Err(bad());
            };
            let [host, Value::Int(port), ..] = &primary[..] else { return Err(bad()) };
            let host = match host {
                Value::BulkString(host) => String::from_utf8(host.clone()).map_err(|_| bad())?,
                _ => String::new(),
            };
            let host =
                if host.is_empty() || host == "?" { asked.host.clone() } else { host.into() };
            let server = HostPort { host, port: u16::try_from(*port).map_err(|_| bad())? };
            let place = map.place(server);
            let range = usize::try_from(*first).map_err(|_| bad())?
                ..=usize::try_from(*last).map_err(|_| bad())?;
            map.slots.get_mut(range).ok_or_else(bad)?.fill(Some(place));
        }
        Ok(map)
    }

    fn place(&mut self, server: HostPort) -> u16 {
        let place = self.servers.iter().position(|known| *known == server).unwrap_or_else(|| {
            self.servers.push(server);
            self.servers.len() - 1
        });
        u16::try_from(place).expect("no more servers than ranges of slots")
    }

    /// The server of a slot, if it is known.
    pub(super) fn server(&self, slot: Slot) -> Option<&HostPort> {
        self.servers.get(usize::from(self.place_of(slot)?))
    }

    /// Where the server of a slot stands in the map, if it is known.
    pub(super) fn place_of(&self, slot: Slot) -> Option<u16> {
        self.slots.get(slot.index()).copied().flatten()
    }

    /// How many slots no server is known to serve.
    pub(super) fn missing(&self) -> usize {
        self.slots.iter().filter(|server| server.is_none()).count()
    }

    /// All servers that serve slots.
    pub(super) fn servers(&self) -> &[HostPort] {
        &self.servers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(host: &str, port: i64) -> Value {
        let host = Value::BulkString(host.into());
        Value::Array(vec![host, Value::Int(port), Value::BulkString(b"id".into())])
    }

    #[test]
    fn slots_are_served_by_the_primaries_of_their_ranges() {
        let range = |first, last, primary| {
            Value::Array(vec![Value::Int(first), Value::Int(last), primary, node("replica", 1)])
        };
        let answer = Value::Array(vec![
            range(0, 13_835, node("a", 1)),
            range(13_836, 13_836, node("", 2)),
            range(13_837, 15_000, node("a", 1)),
        ]);
        let asked = HostPort { host: "asked".into(), port: 9 };
        let map = SlotMap::parse(answer, &asked).expect("a map");
        let server = |key| map.server(Slot::of(key)).map(ToString::to_string);
        assert_eq!(server("banqi:{0042}:clock").as_deref(), Some("asked:2"));
        assert_eq!(server("banqi:player:{}:games").as_deref(), Some("a:1"));
        assert_eq!(map.server(Slot::of("banqi:player:{a}:games")), None);
        assert_eq!(map.servers().len(), 2);
        for bad in [Value::Okay, Value::Array(vec![range(0, 16_384, node("a", 1))])] {
            assert!(SlotMap::parse(bad, &asked).is_err());
        }
    }
}
