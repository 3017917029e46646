"""The client for threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from banqi_client import v1
from banqi_client._requests import SILENCE, Attempts, Limits, Metadata, identified, metadata_of
from banqi_client._services import GameService, PlatformService, RulesService
from banqi_client.errors import BanqiError
from banqi_client.options import CHANNEL, Addresses, Options, targets
from banqi_client.watched import Followed, GameProgress, LifecycleProgress, PlayerProgress, Progress, Watched

Answer = TypeVar("Answer", bound=Message)
Told = TypeVar("Told")


def connect(addresses: Addresses, options: Options | None = None) -> Client:
    """The services at an address like `127.0.0.1:50051` or `https://play.example`, or at those of all replicas.

    Connections are made when they are needed, and anew when they are lost. Raises ValueError of what is no
    address.
    """
    return Client(Calls(addresses, options or Options()))


class Client:
    """The services, every call of which is safe to make, and watches. Threads may share it."""

    games: GameService
    """Hosted games."""
    rules: RulesService
    """The rules alone."""
    platform: PlatformService
    """What only a platform may."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.games = GameService(calls)
        self.rules = RulesService(calls)
        self.platform = PlatformService(calls)

    def watch_game(
        self,
        game_id: str,
        *,
        seat_token: str = "",
        after_etag: str = "",
        on_break: Callable[[BanqiError], None] | None = None,
    ) -> Iterator[Watched]:
        """Tells every change of a game, over as many streams as it takes, and ends some time after the game.

        With its token a seat is present while it watches. `after_etag` is where to go on, if something was
        watched before. `on_break` is told of every stream that broke. Raises BanqiError of what trying again
        does not change, like GAME_NOT_FOUND.
        """
        return self._calls.watch(GameProgress(game_id, seat_token, after_etag), (), on_break)

    def watch_player(
        self, player_id: str, *, after_cursor: str = "", metadata: Metadata = ()
    ) -> Iterator[Followed[v1.PlayerEvent]]:
        """Tells of a player's games, over as many streams as it takes, without end.

        Raises BanqiError of what trying again does not change, like CURSOR_EXPIRED.
        """
        return self._calls.watch(PlayerProgress(player_id, after_cursor), metadata, None)

    def follow_lifecycle(
        self, *, kinds: Sequence[v1.LifecycleKind] = (), shard: int | None = None, after_cursor: str = ""
    ) -> Iterator[Followed[v1.LifecycleEvent]]:
        """Tells of games created, started and ended, over as many streams as it takes, without end.

        Raises BanqiError of what trying again does not change, like CURSOR_EXPIRED.
        """
        return self._calls.watch(LifecycleProgress(kinds, shard, after_cursor), (), None)

    def close(self) -> None:
        """Ends all calls and watches."""
        self._calls.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Calls:
    """How calls are made, whichever they are."""

    def __init__(self, addresses: Addresses, options: Options) -> None:
        self._options = options
        self._channels = [
            grpc.insecure_channel(target, CHANNEL)
            if credentials is None
            else grpc.secure_channel(target, credentials, CHANNEL)
            for target, credentials in targets(addresses, options)
        ]
        self._closed = threading.Event()

    def unary(self, method: str, request: Message, answer: type[Answer], metadata: Metadata) -> Answer:
        """Makes a call, again and unchanged while it fails for want of an answer."""
        request = identified(request)
        attempts = Attempts(request, len(self._channels))
        limits = Limits(request, self._options, time.monotonic())
        while True:
            call: grpc.UnaryUnaryMultiCallable[Message, Answer] = self._channels[attempts.address].unary_unary(
                method, request_serializer=serialized, response_deserializer=answer.FromString
            )
            try:
                return call(
                    request,
                    timeout=limits.timeout(time.monotonic()),
                    metadata=metadata_of(request, self._options, metadata),
                )
            except grpc.RpcError as thrown:
                error = BanqiError.from_rpc(thrown)
                delay = attempts.delay_after(error)
                may = error.is_transient and limits.allow(delay, time.monotonic())
                if not may or self._closed.is_set():
                    raise error from thrown
            if self._options.on_retry is not None:
                self._options.on_retry(error)
            self._closed.wait(delay)

    def stream(
        self, method: str, request: Message, answer: type[Answer], metadata: Metadata
    ) -> Iterator[Answer]:
        """One stream, as it comes: it ends with the connection. `watch` resumes."""
        stream = self._open(Attempts(request, len(self._channels)), method, request, answer, metadata)
        try:
            yield from stream
        except grpc.RpcError as thrown:
            raise BanqiError.from_rpc(thrown) from thrown
        finally:
            stream.cancel()

    def watch(
        self,
        progress: Progress[Answer, Told],
        metadata: Metadata,
        on_break: Callable[[BanqiError], None] | None,
    ) -> Iterator[Told]:
        """Streams one after the other, each from where the last one got."""
        attempts = Attempts(progress.request(), len(self._channels))
        while not self._closed.is_set():
            stream = self._open(attempts, progress.method, progress.request(), progress.answer, metadata)
            silence = Silence(stream)
            try:
                for message in stream:
                    silence.pause()
                    attempts.succeeded()
                    told = progress.take(message)
                    if told is not None:
                        yield told
                    silence.listen()
                # A stream that goes on elsewhere ends with an error.
                return
            except grpc.RpcError as thrown:
                error = BanqiError.from_rpc(thrown)
                if self._closed.is_set():
                    return
                if not error.is_transient:
                    raise error from thrown
            finally:
                silence.end()
                stream.cancel()
            if on_break is not None and error.reason != "STREAM_EXPIRED":
                on_break(error)
            self._closed.wait(attempts.delay_after(error))

    def _open(
        self, attempts: Attempts, method: str, request: Message, answer: type[Answer], metadata: Metadata
    ) -> grpc._CallIterator[Answer]:
        call: grpc.UnaryStreamMultiCallable[Message, Answer] = self._channels[attempts.address].unary_stream(
            method, request_serializer=serialized, response_deserializer=answer.FromString
        )
        return call(request, metadata=metadata_of(request, self._options, metadata))

    def close(self) -> None:
        """Ends all calls."""
        self._closed.set()
        for channel in self._channels:
            channel.close()


def serialized(message: Message) -> bytes:
    """The bytes of a message."""
    return message.SerializeToString()


class Silence:
    """Cancels a stream that says nothing for too long."""

    def __init__(self, stream: grpc.Call) -> None:
        self._stream = stream
        self._since: float | None = time.monotonic()
        self._ended = threading.Event()
        threading.Thread(target=self._listen, name="banqi-silence", daemon=True).start()

    def listen(self) -> None:
        """Something is expected from now on."""
        self._since = time.monotonic()

    def pause(self) -> None:
        """Something was heard; how long it takes to be dealt with does not count."""
        self._since = None

    def end(self) -> None:
        """Nothing more is expected."""
        self._ended.set()

    def _listen(self) -> None:
        left: float = SILENCE
        while not self._ended.wait(left):
            since = self._since
            left = SILENCE if since is None else since + SILENCE - time.monotonic()
            if left <= 0:
                self._stream.cancel()
                return
