"""The client for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from types import TracebackType
from typing import TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from banqi_client import v1
from banqi_client._aio_services import GameService, PlatformService, RulesService
from banqi_client._requests import SILENCE, Attempts, Limits, Metadata, identified, metadata_of
from banqi_client._sync import serialized
from banqi_client.errors import BanqiError
from banqi_client.options import CHANNEL, Addresses, Options, targets
from banqi_client.watched import Followed, GameProgress, LifecycleProgress, PlayerProgress, Progress, Watched

__all__ = ["Client", "connect"]

Answer = TypeVar("Answer", bound=Message)
Told = TypeVar("Told")


def connect(addresses: Addresses, options: Options | None = None) -> Client:
    """The services at an address like `127.0.0.1:50051` or `https://play.example`, or at those of all replicas.

    To be called while the event loop runs. Connections are made when they are needed, and anew when they are
    lost. Raises ValueError of what is no address.
    """
    return Client(Calls(addresses, options or Options()))


class Client:
    """The services, every call of which is safe to make, and watches. Tasks of one event loop may share it."""

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
    ) -> AsyncGenerator[Watched, None]:
        """Tells every change of a game, over as many streams as it takes, and ends some time after the game.

        With its token a seat is present while it watches. `after_etag` is where to go on, if something was
        watched before. `on_break` is told of every stream that broke. Raises BanqiError of what trying again
        does not change, like GAME_NOT_FOUND.
        """
        return self._calls.watch(GameProgress(game_id, seat_token, after_etag), (), on_break)

    def watch_player(
        self, player_id: str, *, after_cursor: str = "", metadata: Metadata = ()
    ) -> AsyncGenerator[Followed[v1.PlayerEvent], None]:
        """Tells of a player's games, over as many streams as it takes, without end.

        Raises BanqiError of what trying again does not change, like CURSOR_EXPIRED.
        """
        return self._calls.watch(PlayerProgress(player_id, after_cursor), metadata, None)

    def follow_lifecycle(
        self, *, kinds: Sequence[v1.LifecycleKind] = (), shard: int | None = None, after_cursor: str = ""
    ) -> AsyncGenerator[Followed[v1.LifecycleEvent], None]:
        """Tells of games created, started and ended, over as many streams as it takes, without end.

        Raises BanqiError of what trying again does not change, like CURSOR_EXPIRED.
        """
        return self._calls.watch(LifecycleProgress(kinds, shard, after_cursor), (), None)

    async def close(self) -> None:
        """Ends all calls and watches."""
        await self._calls.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class Calls:
    """How calls are made, whichever they are."""

    def __init__(self, addresses: Addresses, options: Options) -> None:
        self._options = options
        self._channels = [
            grpc.aio.insecure_channel(target, CHANNEL)
            if credentials is None
            else grpc.aio.secure_channel(target, credentials, CHANNEL)
            for target, credentials in targets(addresses, options)
        ]
        self._closed = False

    async def unary(
        self, method: str, request: Message, answer: type[Answer], metadata: Metadata
    ) -> Answer:
        """Makes a call, again and unchanged while it fails for want of an answer."""
        request = identified(request)
        attempts = Attempts(request, len(self._channels))
        limits = Limits(request, self._options, time.monotonic())
        while True:
            call: grpc.aio.UnaryUnaryMultiCallable[Message, Answer] = self._channels[attempts.address].unary_unary(
                method, request_serializer=serialized, response_deserializer=answer.FromString
            )
            try:
                return await call(
                    request,
                    timeout=limits.timeout(time.monotonic()),
                    metadata=grpc.aio.Metadata(*metadata_of(request, self._options, metadata)),
                )
            except asyncio.CancelledError as thrown:
                if self._is_closing():
                    raise BanqiError(grpc.StatusCode.CANCELLED, "the client was closed") from thrown
                raise
            except grpc.aio.AioRpcError as thrown:
                error = BanqiError.from_rpc(thrown)
                delay = attempts.delay_after(error)
                may = error.is_transient and limits.allow(delay, time.monotonic())
                if not may or self._closed:
                    raise error from thrown
            if self._options.on_retry is not None:
                self._options.on_retry(error)
            await asyncio.sleep(delay)

    async def stream(
        self, method: str, request: Message, answer: type[Answer], metadata: Metadata
    ) -> AsyncGenerator[Answer, None]:
        """One stream, as it comes: it ends with the connection. `watch` resumes."""
        stream = self._open(Attempts(request, len(self._channels)), method, request, answer, metadata)
        try:
            async for message in stream:
                yield message
        except grpc.aio.AioRpcError as thrown:
            raise BanqiError.from_rpc(thrown) from thrown
        finally:
            stream.cancel()

    async def watch(
        self,
        progress: Progress[Answer, Told],
        metadata: Metadata,
        on_break: Callable[[BanqiError], None] | None,
    ) -> AsyncGenerator[Told, None]:
        """Streams one after the other, each from where the last one got."""
        attempts = Attempts(progress.request(), len(self._channels))
        while not self._closed:
            stream = self._open(attempts, progress.method, progress.request(), progress.answer, metadata)
            try:
                # What follows the last message is none.
                while isinstance(message := await asyncio.wait_for(stream.read(), SILENCE), progress.answer):
                    attempts.succeeded()
                    told = progress.take(message)
                    if told is not None:
                        yield told
                # A stream that goes on elsewhere ends with an error.
                return
            except asyncio.CancelledError:
                if self._is_closing():
                    return
                raise
            except asyncio.TimeoutError:
                error = BanqiError(grpc.StatusCode.UNAVAILABLE, f"the stream has said nothing for {SILENCE} s")
            except grpc.aio.AioRpcError as thrown:
                error = BanqiError.from_rpc(thrown)
                if self._closed:
                    return
                if not error.is_transient:
                    raise error from thrown
            finally:
                stream.cancel()
            if on_break is not None and error.reason != "STREAM_EXPIRED":
                on_break(error)
            await asyncio.sleep(attempts.delay_after(error))

    def _open(
        self, attempts: Attempts, method: str, request: Message, answer: type[Answer], metadata: Metadata
    ) -> grpc.aio.UnaryStreamCall[Message, Answer]:
        call: grpc.aio.UnaryStreamMultiCallable[Message, Answer] = self._channels[attempts.address].unary_stream(
            method, request_serializer=serialized, response_deserializer=answer.FromString
        )
        return call(request, metadata=grpc.aio.Metadata(*metadata_of(request, self._options, metadata)))

    def _is_closing(self) -> bool:
        """Whether a cancellation is the channel's, which gRPC tells in the same way as the task's own."""
        task = asyncio.current_task()
        # Before Python 3.11 a task does not tell.
        cancelled = task is not None and hasattr(task, "cancelling") and task.cancelling() > 0
        return self._closed and not cancelled

    async def close(self) -> None:
        """Ends all calls."""
        self._closed = True
        for channel in self._channels:
            await channel.close()
