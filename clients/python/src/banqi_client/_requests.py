"""What is around every call: its id, its metadata, its repetitions."""

from __future__ import annotations

import random
import uuid
import zlib
from collections.abc import Sequence
from typing import TypeVar

from google.protobuf.message import Message

from banqi_client.errors import BanqiError
from banqi_client.options import Options

Metadata = Sequence[tuple[str, str]]
"""What goes with a call besides, such as `authorization`."""

Request = TypeVar("Request", bound=Message)

SILENCE = 40.0
"""For so many seconds a stream may say nothing; the service does every 15."""


def identified(request: Request) -> Request:
    """The request, with a `request_id` if it is one that has it and has none yet."""
    if getattr(request, "request_id", None) != "":
        return request
    copy = type(request)()
    copy.CopyFrom(request)
    copy.request_id = str(uuid.uuid4())  # type: ignore[attr-defined]
    return copy


def game_of(request: Message) -> str:
    """The game that a request is about; empty for none."""
    return str(getattr(request, "game_id", ""))


def metadata_of(request: Message, options: Options, more: Metadata) -> tuple[tuple[str, str], ...]:
    """Tells balancers which game a call is about, and the service who calls."""
    metadata = list(more)
    if game_id := game_of(request):
        metadata.append(("banqi-game-id", game_id))
    if key := options.present_key():
        metadata.append(("x-api-key", key))
    return tuple(metadata)


class Attempts:
    """Which replica to ask next, and when. Those of one game ask the same one first."""

    def __init__(self, request: Message, addresses: int) -> None:
        game_id = game_of(request)
        # A hash that is the same in every process.
        self._home = zlib.crc32(game_id.encode()) if game_id else random.randrange(addresses)
        self._addresses = addresses
        self._failures = 0

    @property
    def address(self) -> int:
        """The number of the address to ask."""
        return (self._home + self._failures) % self._addresses

    def succeeded(self) -> None:
        """Begins to count anew; the address stays."""
        self._home, self._failures = self.address, 0

    def delay_after(self, error: BanqiError) -> float:
        """Takes note of a failure; says how many seconds to wait before the next attempt."""
        self._failures += 1
        if error.retry_delay is not None:
            return error.retry_delay
        rounds, asked = divmod(self._failures, self._addresses)
        # The next address has not been asked yet.
        return 0.0 if asked else backoff(rounds - 1)


class Limits:
    """How long a call and its attempts may take. Times are those of `time.monotonic`."""

    def __init__(self, request: Message, options: Options, now: float) -> None:
        wait = getattr(request, "wait", None)
        # PollGame says itself how long it waits.
        self._wait = 0.0 if wait is None else wait.seconds + wait.nanos / 1e9
        self._attempt, self._end = options.attempt, now + options.total

    def timeout(self, now: float) -> float:
        """How many seconds an attempt that begins now may take."""
        return max(0.001, min(self._attempt, self._end - now)) + self._wait

    def allow(self, delay: float, now: float) -> bool:
        """Whether an attempt may begin after so many seconds."""
        return now + delay < self._end


def backoff(failures: int) -> float:
    """How many seconds to wait: never the same, so that clients do not come all at once."""
    return min(5.0, 0.1 * 2.0 ** min(failures, 10)) * random.uniform(0.5, 1.0)
