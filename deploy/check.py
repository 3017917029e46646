"""Plays games through a balancer and checks all that clients of it rely on.

    python deploy/check.py [--games N] [--seed N] [--wait SECONDS] [--replicas N] [--pace SECONDS]
                           [--happening NAME CALLS REPLICAS COMMAND]... HOST:PORT

Each game has two players and a watcher, each with a connection of their own; all games go on at
once. A happening is a command for bash that is run while they do, such as one that kills a replica,
after which as many as REPLICAS answer calls; the variable BUSIEST has the address of the replica
that has answered most lately. Happenings come one after the other: for the next one
every game must have gone on, and for every game that ends meanwhile another one begins. CALLS says
what they may do to calls: `repeated` ones fail, and are repeated as any client should, with the
same request_id; of `seamless` ones none may fail. Watches may end by either, and are resumed.

Nothing here is shared with the service but proto/. Needs tests/python/requirements.txt.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter, deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from grpc_tools import protoc

PROTO = Path(__file__).resolve().parent.parent / "proto"
# The longest that one attempt, a call with all its repetitions, and a game may take.
SECONDS_AN_ATTEMPT = 10
SECONDS_A_CALL = 60
SECONDS_A_GAME = 600
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
# In every game, before the first happening and after each of them.
ACTIONS_BEFORE_THE_NEXT = 4
# Answers from which it is told how many replicas there are: many enough to be from each of them,
# however calls are spread.
ANSWERS_A_REPLICA = 12


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


class Happening:
    """What is done to the replicas while games go on."""

    def __init__(self, name, calls, replicas, command):
        if calls not in ("repeated", "seamless"):
            sys.exit(f"{name}: calls are `repeated` or `seamless`, not `{calls}`")
        self.name, self.seamless, self.command = name, calls == "seamless", command
        self.replicas = int(replicas)


# The time before all happenings.
BEGINNING = Happening("beginning", "seamless", 0, None)


class Tally:
    """What happened in all games, and which happening was the last to begin."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.changed = threading.Condition()
        self.happening = BEGINNING
        # No game need begin any more.
        self.over = threading.Event()
        self.failed = False
        self.counts = {}
        self.actions_of_tables = Counter()
        self.homes = {}
        self.times = []

    def fail(self):
        """Somebody has found a fault, so nobody need wait for anything."""
        self.over.set()
        with self.changed:
            self.failed = True
            self.changed.notify_all()

    def count(self, what, happening=None):
        with self.changed:
            self.of(happening or self.happening)[what] += 1

    def of(self, happening):
        return self.counts.setdefault(happening.name, Counter())

    def acted(self, table):
        with self.changed:
            self.of(self.happening)["actions"] += 1
            self.actions_of_tables[table] += 1
            self.changed.notify_all()

    def answer(self, happening, game_id, replica, seconds):
        """A call was answered that was sent after the beginning of `happening`."""
        with self.changed:
            self.of(happening)[f"by {replica}"] += 1
            self.times.append(seconds)
            if happening is BEGINNING and self.happening is BEGINNING:
                self.homes.setdefault(game_id, set()).add(replica)

    def busiest(self):
        """The replica that has answered most since the last happening."""
        with self.changed:
            counts = Counter(
                {what: n for what, n in self.of(self.happening).items() if what.startswith("by ")}
            )
        return counts.most_common(1)[0][0].removeprefix("by ")

    def wait_until_all_have_acted(self):
        """Waits until every game, or its successor, has gone on for some actions."""
        with self.changed:
            tables = range(self.arguments.games)
            wanted = {
                table: self.actions_of_tables[table] + ACTIONS_BEFORE_THE_NEXT for table in tables
            }

            def behind():
                return [table for table in tables if self.actions_of_tables[table] < wanted[table]]

            done = self.changed.wait_for(
                lambda: self.failed or not behind(), timeout=SECONDS_A_CALL
            )
            require(done, f"after {self.happening.name}: games {behind()} do not go on")

    def pause(self):
        """Between two actions of a game, so that many games leave the machine some room."""
        self.over.wait(self.arguments.pace)


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
            happening, began = self.tally.happening, time.monotonic()
            try:
                answer, call = getattr(self.service, method).with_call(
                    request, timeout=SECONDS_AN_ATTEMPT, metadata=[("banqi-game-id", game_id)]
                )
            except grpc.RpcError as error:
                lost = error.code() in LOST and time.monotonic() < end
                # What has begun while the call was under way counts as well.
                if not lost or (happening.seamless and self.tally.happening.seamless):
                    raise Fault(
                        f"{method} of {game_id}, since {happening.name}: {described(error)}"
                    ) from error
                self.tally.count("repeated calls", happening)
                time.sleep(PAUSE)
                continue
            self.tally.answer(happening, game_id, replica_of(call), time.monotonic() - began)
            return answer


def described(error):
    return f"{error.code().name}: {error.details()}"


def replica_of(call):
    return dict(call.initial_metadata()).get("banqi-replica", "(not told)")


class Table:
    """Three connections over which games are played, one after the other."""

    def __init__(self, number, address, tally):
        self.number, self.tally = number, tally
        self.players = [Client(address, tally), Client(address, tally)]
        self.watcher = Client(address, tally)

    def play(self):
        """Plays one game, and more until all happenings are over."""
        over = []
        try:
            while not over or not self.tally.over.is_set():
                over.append(Game(self, len(over)).play())
        except BaseException:
            self.tally.fail()
            raise
        return over


class Game:
    """One game, played at random."""

    def __init__(self, table, number):
        self.tally, self.table = table.tally, table.number
        self.id = f"check-{self.tally.arguments.seed}-{table.number}-{number}"
        self.random = random.Random(self.id)
        self.players, self.watcher = table.players, table.watcher
        self.tokens = []
        self.acknowledged = {}
        self.watched = []
        self.stream = None
        self.given_up = False

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
            try:
                self.join()
                while (game := self.turn()).state != game_pb2.GAME_STATE_FINISHED:
                    pass
            except BaseException:
                # It would wait for the end of a game that does not go on.
                self.given_up = True
                if self.stream:
                    self.stream.cancel()
                raise
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
        self.acknowledged[answer.game.revision] = answer.game.etag
        self.tally.acted(self.table)
        self.tally.pause()
        return answer.game

    def watch(self, revision):
        """Notes every event from after `revision` to the end of the game, over any replicas."""
        etag, over = "", False
        while not over and not self.given_up:
            request = messages.WatchGameRequest(game_id=self.id, after_etag=etag)
            metadata = [("banqi-game-id", self.id)]
            try:
                self.stream = self.watcher.service.WatchGame(
                    request, timeout=SECONDS_A_GAME, metadata=metadata
                )
                for message in self.stream:
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
                            self.stream.cancel()
                            break
            except grpc.RpcError as error:
                if error.code() not in LOST:
                    raise
                self.tally.count("resumed watches")
                time.sleep(PAUSE)
        require(len(self.watched) > revision, f"{self.id}: the watcher saw nothing")

    def compare(self):
        """What was acknowledged and what was watched is what the game's log says."""
        request = messages.GetGameRequest(game_id=self.id, view=messages.GAME_VIEW_FULL)
        game = self.players[1].call("GetGame", request, self.id).game
        log = {entry.revision: entry.etag for entry in game.log}
        require(len(log) == len(self.watched), f"{self.id}: {len(log)} entries, not all watched")
        for revision, watched in enumerate(self.watched, 1):
            require(
                watched in (None, log[revision]),
                f"{self.id}: watched {watched} as {revision}, the log has {log[revision]}",
            )
        for revision, etag in self.acknowledged.items():
            require(
                log.get(revision) == etag,
                f"{self.id}: {etag} was acknowledged as {revision}, the log has {log.get(revision)}",
            )


def wait_for_replicas(address, tally, wanted):
    """Waits until calls are answered by as many replicas as `wanted`; by any number, if 0."""
    rules = rules_service_pb2_grpc.RulesServiceStub(Client(address, tally).channel)
    end = time.monotonic() + tally.arguments.wait
    answered = deque(maxlen=max(1, ANSWERS_A_REPLICA * wanted))
    while True:
        try:
            request = rules_service_pb2.ListPresetsRequest()
            _, call = rules.ListPresets.with_call(request, timeout=SECONDS_AN_ATTEMPT)
            answered.append(replica_of(call))
            if len(answered) == answered.maxlen and wanted in (0, len(set(answered))):
                return
            told = f"{sorted(set(answered))} answer, not {wanted}"
        except grpc.RpcError as error:
            answered.clear()
            told = described(error)
        require(time.monotonic() < end, f"{address}, after {tally.arguments.wait} s: {told}")
        # Soon enough to see a change at once, and little beside what the games call.
        time.sleep(PAUSE / 10)


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


def let_happen(address, arguments, tally):
    """Runs the happenings, each when every game has gone on after the one before."""
    try:
        for happening in arguments.happenings:
            tally.wait_until_all_have_acted()
            if tally.failed:
                return
            began, busiest = time.monotonic(), tally.busiest()
            tally.happening = happening
            environment = {**os.environ, "BUSIEST": busiest}
            subprocess.run(["bash", "-c", happening.command], check=True, env=environment)
            ran = time.monotonic()
            wait_for_replicas(address, tally, happening.replicas)
            seen = time.monotonic()
            told = f"took {ran - began:.1f} s, seen by the balancer {seen - ran:.1f} s later"
            print(f"{happening.name}: {told}", flush=True)
        if arguments.happenings:
            tally.wait_until_all_have_acted()
    except BaseException:
        tally.fail()
        raise
    tally.over.set()


def check_replicas(arguments, tally):
    moved = {game: homes for game, homes in tally.homes.items() if len(homes) > 1}
    require(not moved, f"calls of one game went to several replicas: {moved}")
    if arguments.happenings:
        resumed = sum(counts["resumed watches"] for counts in tally.counts.values())
        require(resumed > 0, "no watch had to be resumed, so nothing was lost")


def report(tally, games):
    ends = Counter(
        result_pb2.EndReason.Name(game.result.reason).removeprefix("END_REASON_") for game in games
    )
    print(f"{len(games)} games over: {dict(ends)}")
    for name, counts in tally.counts.items():
        print(f"since {name}:")
        for what in ("actions", "repeated calls", "resumed watches"):
            print(f"    {what}: {counts[what]}")
        answers = {
            what.removeprefix("by "): number
            for what, number in sorted(counts.items())
            if what.startswith("by ")
        }
        print(f"    calls answered: {answers}")
    times = sorted(tally.times)
    median, high = (1000 * times[int(share * (len(times) - 1))] for share in (0.5, 0.99))
    print(f"milliseconds a call: median {median:.1f}, 99th percentile {high:.1f}")


def check(arguments):
    tally = Tally(arguments)
    address = arguments.address
    wait_for_replicas(address, tally, arguments.replicas)
    with ThreadPoolExecutor(arguments.games + 1) as pool:
        happening = pool.submit(let_happen, address, arguments, tally)
        tables = [Table(number, address, tally) for number in range(arguments.games)]
        playing = [pool.submit(table.play) for table in tables]
        over = [game for table in playing for game in table.result()]
        happening.result()
    check_deadline(address, tally, over[0].game_id)
    report(tally, over)
    check_replicas(arguments, tally)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("address", metavar="HOST:PORT")
    parser.add_argument("--games", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--wait", type=float, default=20, metavar="SECONDS")
    parser.add_argument("--replicas", type=int, default=0)
    parser.add_argument("--pace", type=float, default=0.05, metavar="SECONDS")
    parser.add_argument(
        "--happening",
        action="append",
        default=[],
        dest="happenings",
        nargs=4,
        metavar=("NAME", "CALLS", "REPLICAS", "COMMAND"),
    )
    arguments = parser.parse_args()
    arguments.happenings = [Happening(*happening) for happening in arguments.happenings]
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

        print(f"seed {arguments.seed}", flush=True)
        try:
            check(arguments)
        except (Fault, grpc.RpcError, subprocess.CalledProcessError) as fault:
            sys.exit(f"{type(fault).__name__}: {fault}")
