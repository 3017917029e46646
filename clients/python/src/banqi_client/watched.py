"""What watches tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar, Union

from google.protobuf.message import Message

from banqi_client import v1


@dataclass(frozen=True)
class Snapshot:
    """How the game stands: the first thing that is told, and again where the store lost what was told before."""

    game: v1.Game
    history_lost: bool
    """Whether what was told before does not hold."""


@dataclass(frozen=True)
class Event:
    """One revision, each once and in order."""

    entry: v1.LogEntry
    """What happened."""
    game: v1.Game
    """The game after it."""


@dataclass(frozen=True)
class Presence:
    """Which seats are present, now."""

    seats: Sequence[v1.SeatPresence]


Watched = Union[Snapshot, Event, Presence]

News = TypeVar("News")


@dataclass(frozen=True)
class Followed(Generic[News]):
    """What a feed tells, at least once."""

    event: News
    cursor: str
    """Where to go on another time: at this event, or a little before it."""


Answer = TypeVar("Answer", bound=Message)
Told = TypeVar("Told", covariant=True)


class Progress(Protocol[Answer, Told]):
    """How far a watch has come: what to ask for next, and what there is in an answer."""

    method: str
    answer: type[Answer]

    def request(self) -> Message:
        """What opens a stream that goes on."""
        ...

    def take(self, message: Answer, /) -> Told | None:
        """What a message tells, if anything."""
        ...


class GameProgress:
    """A watch of one game, by etags."""

    method = "/banqi.v1.GameService/WatchGame"
    answer = v1.WatchGameResponse

    def __init__(self, game_id: str, seat_token: str, after_etag: str) -> None:
        self._request = v1.WatchGameRequest(game_id=game_id, seat_token=seat_token, after_etag=after_etag)

    def request(self) -> v1.WatchGameRequest:
        return self._request

    def take(self, message: v1.WatchGameResponse, /) -> Watched | None:
        kind = message.WhichOneof("message")
        if kind == "snapshot":
            self._go_on(message.snapshot.game.etag)
            return Snapshot(message.snapshot.game, message.snapshot.history_lost)
        if kind == "event":
            self._go_on(message.event.entry.etag)
            return Event(message.event.entry, message.event.game)
        if kind == "presence":
            return Presence(message.presence.seats)
        return None

    def _go_on(self, etag: str) -> None:
        # The request that is under way keeps what it was.
        request = v1.WatchGameRequest()
        request.CopyFrom(self._request)
        request.after_etag = etag
        self._request = request


class PlayerProgress:
    """A player's games, by cursors."""

    method = "/banqi.v1.GameService/WatchPlayer"
    answer = v1.WatchPlayerResponse

    def __init__(self, player_id: str, after_cursor: str) -> None:
        self._player_id, self._cursor = player_id, after_cursor

    def request(self) -> v1.WatchPlayerRequest:
        return v1.WatchPlayerRequest(player_id=self._player_id, after_cursor=self._cursor)

    def take(self, message: v1.WatchPlayerResponse, /) -> Followed[v1.PlayerEvent] | None:
        self._cursor = message.cursor or self._cursor
        return Followed(message.event, self._cursor) if message.HasField("event") else None


class LifecycleProgress:
    """The lives of games, by cursors."""

    method = "/banqi.v1.PlatformService/StreamLifecycle"
    answer = v1.StreamLifecycleResponse

    def __init__(self, kinds: Sequence[v1.LifecycleKind], shard: int | None, after_cursor: str) -> None:
        self._kinds, self._shard, self._cursor = kinds, shard, after_cursor

    def request(self) -> v1.StreamLifecycleRequest:
        return v1.StreamLifecycleRequest(kinds=self._kinds, shard=self._shard, after_cursor=self._cursor)

    def take(self, message: v1.StreamLifecycleResponse, /) -> Followed[v1.LifecycleEvent] | None:
        self._cursor = message.cursor or self._cursor
        return Followed(message.event, self._cursor) if message.HasField("event") else None
