"""A client of banqi, the rules and game-state service for Banqi (Chinese dark chess).

`connect` gives the services, each call of which is safe to make, and watches that outlive their streams;
`banqi_client.aio.connect` gives the same for asyncio. `banqi_client.v1` has the messages, `banqi_client.verify`
what checks a deal.
"""

from banqi_client._sync import Client, connect
from banqi_client.errors import BanqiError, FieldViolation
from banqi_client.options import Options
from banqi_client.watched import Event, Followed, Presence, Snapshot, Watched

__all__ = [
    "BanqiError",
    "Client",
    "Event",
    "FieldViolation",
    "Followed",
    "Options",
    "Presence",
    "Snapshot",
    "Watched",
    "connect",
]
