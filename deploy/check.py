"""Plays games through a balancer and checks all that clients of it rely on.

    python deploy/check.py [--games N] [--seed N] [--wait SECONDS]
                           [--halfway COMMAND --stops REPLICA [--no-repeats]] HOST:PORT

Each game has two players and a watcher, each with a connection of their own; all games go on at
once. With --halfway, a shell command is run once in the middle, which should stop the replica
REPLICA (a name in deploy/haproxy.cfg) and return when it has ended. Calls that fail because of it
are repeated as any client should: with the same request_id. With --no-repeats none may fail, as
when a replica is told to stop.

Nothing here is shared with the service but proto/. Needs tests/python/requirements.txt.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from grpc_tools import protoc

PROTO = Path(__file__).resolve().parent.parent / "proto"
# The longest that one attempt, and a call with all its repetitions, may take.
SECONDS_AN_ATTEMPT = 10
SECONDS_A_CALL = 60
PAUSE = 0.1
# What a client sees when a replica stops or dies under its call: UNAVAILABLE, or, where the answer
# had begun, whatever the balancer makes of half an answer. The request id makes it safe to repeat.
LOST = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.UNKNOWN,
}
# Ends a game after 40 quiet turns, so games are short.
PRESET = "TCGA"
# In the middle of all games: even one in which nothing is ever captured has more.
ACTIONS_A_GAME_BEFORE_HALFWAY = 20
# Between two actions while the replica is being stopped, so that no game ends meanwhile.
PACE = 0.05


def make_stubs(directory):
    files = [str(file) for file in sorted(PROTO.glob("banqi/v1/*.proto"))]
    # Google's own files come with the compiler.
    included = [f"-I{PROTO}", f"-I{Path(protoc.__file__).parent / '_proto'}"]
    options = [*included, f"--python_out={directory}", f"--grpc_python_out={directory}"]
    if protoc.main(["protoc", *options, *files]) != 0:
        sys.exit(f"{PROTO}: the files cannot be compiled")
    sys.path.insert(0, str(directory))


class Fault(Exception):
    pass


def require(holds, what):
    if not holds:
        raise Fault(what)


class Tally:
    """What happened in all games, and the moment at which a replica is stopped."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.lock = threading.Lock()
        self.counts = Counter()
        self.answered = {"before": Counter(), "after": Counter()}
        self.homes = {}
        self.times = []
        self.halfway = threading.Event()
        self.stopped = threading.Event()

    def count(self, what):
        with self.lock:
            self.counts[what] += 1
            actions = self.counts["actions"]
        if actions == ACTIONS_A_GAME_BEFORE_HALFWAY * self.arguments.games:
            self.halfway.set()

    def answer(self, began, game_id, replica, seconds):
        """A call was answered; `began` says what had happened when it was sent."""
        with self.lock:
            self.answered["after" if began.stopped else "before"][replica] += 1
            self.times.append(seconds)
            if not began.halfway:
                self.homes.setdefault(game_id, set()).add(replica)
        stopped = self.arguments.stops
        require(not (began.stopped and replica == stopped), f"{stopped} answers, but was stopped")

    def stopping(self):
        return self.arguments.halfway and self.halfway.is_set()

    def now(self):
        return Moment(self.halfway.is_set(), self.stopped.is_set())


class Moment:
    def __init__(self, halfway, stopped):
        self.halfway, self.stopped = halfway, stopped


class Client:
    """One connection of its own."""

    def __init__(self, address, tally):
        # Channels share connections otherwise, and repeat calls themselves, which is counted here.
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        self.channel = grpc.insecure_channel(address, options)
        self.service = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.tally = tally

    def call(self, method, request, game_id):
        """Calls, and repeats the very same request while the replica is lost."""
        end = time.monotonic() + SECONDS_A_CALL
        while True:
            moment, began = self.tally.now(), time.monotonic()
            try:
                answer, call = getattr(self.service, method).with_call(
                    request, timeout=SECONDS_AN_ATTEMPT, metadata=[("banqi-game-id", game_id)]
                )
            except grpc.RpcError as error:
                lost = error.code() in LOST and time.monotonic() < end
                if not lost or self.tally.arguments.no_repeats:
                    raise
                self.tally.count("repeated calls")
                time.sleep(PAUSE)
                continue
            self.tally.answer(moment, game_id, replica_of(call), time.monotonic() - began)
            return answer


def replica_of(call):
    return dict(call.initial_metadata()).get("banqi-replica", "(not told)")


class Game:
    """One game, played at random."""

    def __init__(self, number, address, tally):
        self.id = f"check-{tally.arguments.seed}-{number}"
        self.random = random.Random(self.id)
        self.tally = tally
        self.players = [Client(address, tally), Client(address, tally)]
        self.watcher = Client(address, tally)
        self.tokens = []
        self.watched = []

    def request_id(self):
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def create(self):
        seats = [
            messages.NewSeat(player_id="one", claim=game_pb2.SEAT_CLAIM_ASSIGNED),
            messages.NewSeat(claim=game_pb2.SEAT_CLAIM_OPEN),
        ]
        request = messages.CreateGameRequest(
            game_id=self.id, preset=PRESET, seats=seats, request_id=self.request_id()
        )
        created = self.players[0].call("CreateGame", request, self.id)
        self.tokens.append(created.seat_tokens[0].token)
        return created.game

    def join(self):
        entropy = self.random.randbytes(16)
        request = messages.JoinGameRequest(
            game_id=self.id, player_id="two", entropy=entropy, request_id=self.request_id()
        )
        self.tokens.append(self.players[1].call("JoinGame", request, self.id).seat_token)

    def play(self):
        revision = self.create().revision
        with ThreadPoolExecutor(1) as pool:
            watching = pool.submit(self.watch, revision)
            self.join()
            while (game := self.turn()).state != game_pb2.GAME_STATE_FINISHED:
                pass
            watching.result()
        self.compare()
        return game

    def turn(self):
        """The player to move reads the game, over whichever replica, and acts."""
        request = messages.GetGameRequest(game_id=self.id)
        game = self.players[0].call("GetGame", request, self.id).game
        seat = game.position.to_move
        action = self.random.choice(game.legal_actions).text
        request = messages.PlayActionRequest(
            game_id=self.id,
            seat_token=self.tokens[seat - 1],
            action=action,
            etag=game.etag,
            request_id=self.request_id(),
        )
        answer = self.players[seat - 1].call("PlayAction", request, self.id)
        require(answer.record.seat == seat, f"{self.id}: seat {seat} acted, told {answer.record}")
        require(
            answer.game.revision == game.revision + 1,
            f"{self.id}: revision {game.revision}, after one action {answer.game.revision}",
        )
        self.tally.count("actions")
        if self.tally.stopping():
            self.tally.stopped.wait(PACE)
        return answer.game

    def watch(self, revision):
        """Notes every event from after `revision` to the end of the game, over any replicas."""
        etag, over = "", False
        while not over:
            request = messages.WatchGameRequest(game_id=self.id, after_etag=etag)
            metadata = [("banqi-game-id", self.id)]
            try:
                stream = self.watcher.service.WatchGame(
                    request, timeout=SECONDS_A_CALL, metadata=metadata
                )
                for message in stream:
                    if message.HasField("snapshot"):
                        require(etag == "", f"{self.id}: a second snapshot: {message.snapshot}")
                        game = message.snapshot.game
                        # What the joining player was quicker with is in the snapshot.
                        self.watched = [None] * game.revision
                        etag = game.etag
                    elif message.HasField("event"):
                        entry, game = message.event.entry, message.event.game
                        require(
                            entry.revision == len(self.watched) + 1,
                            f"{self.id}: event {entry.revision} after {len(self.watched)}",
                        )
                        self.watched.append(entry.etag)
                        etag = entry.etag
                        over = game.state == game_pb2.GAME_STATE_FINISHED
                        if over:
                            stream.cancel()
                            break
            except grpc.RpcError as error:
                if error.code() not in LOST:
                    raise
                self.tally.count("resumed watches")
                time.sleep(PAUSE)
        require(len(self.watched) > revision, f"{self.id}: the watcher saw nothing")

    def compare(self):
        """What was watched is what the game's log says."""
        request = messages.GetGameRequest(game_id=self.id, view=messages.GAME_VIEW_FULL)
        game = self.players[1].call("GetGame", request, self.id).game
        log = [entry.etag for entry in game.log]
        require(len(log) == len(self.watched), f"{self.id}: {len(log)} entries, not all watched")
        for entry, watched in zip(log, self.watched):
            require(watched in (None, entry), f"{self.id}: watched {watched}, the log has {entry}")


def wait_for_replicas(address, arguments, tally):
    """Waits until the balancer sends calls to the replica that is to be stopped, or to any."""
    rules = rules_service_pb2_grpc.RulesServiceStub(Client(address, tally).channel)
    end = time.monotonic() + arguments.wait
    while True:
        try:
            request = rules_service_pb2.ListPresetsRequest()
            _, call = rules.ListPresets.with_call(request, timeout=SECONDS_AN_ATTEMPT)
            if arguments.stops in (None, replica_of(call)):
                return
            told = f"{arguments.stops} answers no call"
        except grpc.RpcError as error:
            told = f"{error.code().name}: {error.details()}"
        require(time.monotonic() < end, f"{address}, after {arguments.wait} s: {told}")
        time.sleep(PAUSE)


def check_deadline(address, tally, game_id):
    """A deadline holds for a stream on which nothing happens, and the connection outlives it."""
    client = Client(address, tally)
    request, began = messages.WatchGameRequest(game_id=game_id), time.monotonic()
    try:
        for message in client.service.WatchGame(request, timeout=0.5):
            quiet = message.WhichOneof("message") in ("snapshot", "presence")
            require(quiet, f"{game_id} is over, yet: {message}")
        raise Fault("a watch outlived its deadline")
    except grpc.RpcError as error:
        require(error.code() == grpc.StatusCode.DEADLINE_EXCEEDED, f"a deadline passed: {error}")
    took = time.monotonic() - began
    require(0.4 < took < 5, f"a deadline of 0.5 s passed after {took} s")
    client.call("GetGame", messages.GetGameRequest(game_id=game_id), game_id)


def run_halfway(arguments, tally):
    tally.halfway.wait()
    subprocess.run(arguments.halfway, shell=True, check=True, stdout=sys.stderr)
    tally.stopped.set()


def check_replicas(arguments, tally):
    moved = {game: homes for game, homes in tally.homes.items() if len(homes) > 1}
    require(not moved, f"calls of one game went to several replicas: {moved}")
    if arguments.halfway:
        require(arguments.stops in tally.answered["before"], f"{arguments.stops} was never used")
        require(sum(tally.answered["after"].values()) > 0, "no game went on afterwards")
        require(tally.counts["resumed watches"] > 0, "no watch had to be resumed")


def report(tally, games):
    ends = Counter(
        result_pb2.EndReason.Name(game.result.reason).removeprefix("END_REASON_") for game in games
    )
    times = sorted(tally.times)
    print(f"{len(games)} games over: {dict(ends)}")
    for what in ("actions", "repeated calls", "resumed watches"):
        print(f"{what}: {tally.counts[what]}")
    for when, replicas in tally.answered.items():
        print(f"calls answered {when} the stop: {dict(sorted(replicas.items()))}")
    median, high = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    print(f"milliseconds a call: median {median:.1f}, 99th percentile {high:.1f}")


def check(arguments):
    tally = Tally(arguments)
    address = arguments.address
    wait_for_replicas(address, arguments, tally)
    with ThreadPoolExecutor(arguments.games + 1) as pool:
        stopping = pool.submit(run_halfway, arguments, tally) if arguments.halfway else None
        games = [Game(number, address, tally) for number in range(arguments.games)]
        playing = [pool.submit(game.play) for game in games]
        try:
            over = [game.result() for game in playing]
        finally:
            # Also where no game got that far, so that nothing waits for ever.
            tally.halfway.set()
        if stopping:
            stopping.result()
    check_deadline(address, tally, games[0].id)
    report(tally, over)
    check_replicas(arguments, tally)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--wait", type=float, default=10, metavar="SECONDS")
    parser.add_argument("--halfway", metavar="COMMAND")
    parser.add_argument("--stops", metavar="REPLICA")
    parser.add_argument("--no-repeats", action="store_true")
    arguments = parser.parse_args()
    if (arguments.halfway is None) != (arguments.stops is None):
        parser.error("--halfway and --stops go together")
    return arguments


if __name__ == "__main__":
    arguments = read_arguments()
    with tempfile.TemporaryDirectory() as stubs:
        make_stubs(stubs)
        from banqi.v1 import (
            game_pb2,
            game_service_pb2_grpc,
            result_pb2,
            rules_service_pb2,
            rules_service_pb2_grpc,
        )
        from banqi.v1 import game_service_pb2 as messages

        print(f"seed {arguments.seed}")
        try:
            check(arguments)
        except (Fault, grpc.RpcError, subprocess.CalledProcessError) as fault:
            sys.exit(f"{type(fault).__name__}: {fault}")
