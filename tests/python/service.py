"""The replicas of one service, and calls that are repeated over any of them until they are answered."""

import asyncio
import sys
import uuid
from collections import Counter

import grpc
from google.rpc import error_details_pb2, status_pb2

from banqi.v1.game_service_pb2_grpc import GameServiceStub

SECONDS_A_CALL = 10
# How long anything may take, outages included, before a test gives up.
PATIENCE = 60
SECONDS_BEFORE_REPEATING = 0.05
OPTIONS = [
    # Otherwise two channels to one address would share a connection.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 50),
    ("grpc.min_reconnect_backoff_ms", 50),
    ("grpc.max_reconnect_backoff_ms", 200),
]


class Fault(Exception):
    """The service did not do what it promises."""


def same(what, found, expected):
    if found != expected:
        raise Fault(f"{what}:\n     found {found}\n  expected {expected}")


def new_request_id():
    return str(uuid.uuid4())


def refusal(error):
    """The reason of an error and its metadata; (None, {}) where the transport failed."""
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return info.reason, dict(info.metadata)
    return None, {}


class Replica:
    """One replica, with a connection for calls and another for watches."""

    def __init__(self, address):
        self.address = address
        self.channels = [grpc.aio.insecure_channel(address, OPTIONS) for _ in range(2)]
        self.games, self.watches = (GameServiceStub(channel) for channel in self.channels)

    async def close(self):
        for channel in self.channels:
            await channel.close()


class Service:
    """All replicas, known by their index. Whoever calls names the one to ask first."""

    def __init__(self, addresses):
        self.replicas = [Replica(address) for address in addresses]
        self.answered = 0
        self.reached = {}
        self.repeated = Counter()
        self.resumed = 0

    def replica(self, home, attempt=0):
        return self.replicas[(home + attempt) % len(self.replicas)]

    async def replace(self, index, address):
        gone, self.replicas[index] = self.replicas[index], Replica(address)
        await gone.close()

    async def close(self):
        for replica in self.replicas:
            await replica.close()

    async def once(self, method, request, replica):
        """One attempt over one replica."""
        return await getattr(replica.games, method)(request, timeout=SECONDS_A_CALL)

    async def call(self, method, request, home):
        """The answer to a request, sent unchanged over one replica after the other as long as they
        are UNAVAILABLE. Every other failure is one of the test."""
        give_up = asyncio.get_running_loop().time() + PATIENCE
        attempt = 0
        while True:
            try:
                answer = await self.once(method, request, self.replica(home, attempt))
                self.count()
                return answer
            except grpc.aio.AioRpcError as error:
                late = asyncio.get_running_loop().time() > give_up
                if error.code() is not grpc.StatusCode.UNAVAILABLE or late:
                    raise
            self.repeated[method] += 1
            attempt += 1
            await asyncio.sleep(SECONDS_BEFORE_REPEATING)

    def count(self):
        self.answered += 1
        for reached in [n for n in self.reached if n <= self.answered]:
            self.reached.pop(reached).set()

    async def have_answered(self, more):
        """Waits until so many more calls have been answered."""
        event = self.reached.setdefault(self.answered + more, asyncio.Event())
        await event.wait()


class Launcher:
    """Whoever runs this client and the service's processes, asked over standard output and input."""

    async def ask(self, wish):
        print(f"launcher: {wish}", flush=True)
        answer = (await asyncio.to_thread(sys.stdin.readline)).strip()
        if not answer:
            raise Fault(f"the launcher did not answer to: {wish}")
        return answer
