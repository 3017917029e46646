"""A watcher that goes on over another replica, from the etag it got to, whenever its stream breaks."""

import asyncio

import grpc

from banqi.v1 import game_service_pb2 as messages

from service import PATIENCE, SECONDS_BEFORE_REPEATING, Fault, same


class Watcher:
    """Watches a game until `is_last` says so of its state. `games` are what it was told, by revision,
    each once and in order; `entries` what led from each to the next."""

    def __init__(self, service, game_id, home, is_last, after=None):
        self.service, self.game_id, self.home = service, game_id, home
        self.is_last = is_last
        self.games, self.entries = [], []
        self.revision, self.etag = after or (0, "")

    async def follow(self):
        attempt, failing_since = 0, None
        loop = asyncio.get_running_loop()
        while True:
            try:
                replica = self.service.replica(self.home, attempt)
                request = messages.WatchGameRequest(game_id=self.game_id, after_etag=self.etag)
                stream = replica.watches.WatchGame(request)
                async for message in stream:
                    failing_since = None
                    if self.take(message):
                        stream.cancel()
                        return
                raise Fault(f"the watch of {self.game_id} ended at {self.etag}, before its game")
            except grpc.aio.AioRpcError as error:
                failing_since = failing_since or loop.time()
                late = loop.time() > failing_since + PATIENCE
                if error.code() is not grpc.StatusCode.UNAVAILABLE or late:
                    raise
            self.service.resumed += 1
            attempt += 1
            await asyncio.sleep(SECONDS_BEFORE_REPEATING)

    def take(self, message):
        """Takes a message; says whether it is the last one of the game."""
        kind = message.WhichOneof("message")
        if kind in ("keep_alive", "presence"):
            return False
        game = getattr(message, kind).game
        if kind == "snapshot":
            if self.etag:
                raise Fault(f"a snapshot instead of what came after {self.etag}: {message}")
            game.ClearField("server_time")
        else:
            entry = message.event.entry
            same("watched revision", game.revision, self.revision + 1)
            same("its entry", (entry.revision, entry.etag), (game.revision, game.etag))
            same("its time", entry.time, game.update_time)
            self.entries.append(entry)
        self.games.append(game)
        self.revision, self.etag = game.revision, game.etag
        return self.is_last(game)
