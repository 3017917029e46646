"""Plays hosted games over several replicas of a running service, through whatever befalls them.

    python play_hosted.py SCENARIO SEED GAMES HOST:PORT HOST:PORT

Run by tests/hosted_games.rs, which owns the processes: a line `launcher: kill replica 0` asks it to
kill one, and it answers on standard input when that is done. The modules that protoc made of proto/
must be importable. Nothing here is shared with the service but those files.
"""

import asyncio
import random
import sys
import time

import grpc

from banqi.v1 import game_pb2
from banqi.v1 import game_service_pb2 as messages

from clocked_scenes import clocks, four_seats, offers, reissued_tokens, series, wishes
from hosted_game import HostedGame, Plan
from service import Fault, Launcher, Service, new_request_id, refusal, same

PRESETS = (
    "TAIWANESE",
    "TCGA",
    "HONG_KONG",
    "MAINLAND",
    "MAINLAND_EXCHANGE",
    "TAIWANESE_CHAIN",
    "TAIWANESE_DARK_CHAIN",
    "XIANGQI_CHASE",
    "DOUBLE",
    "DOUBLE_FOUR",
)
GAMES_AT_ONCE = 40
RACERS = 200
RACES = 5
UNAVAILABLE = grpc.StatusCode.UNAVAILABLE


class Stage:
    """What every scenario has: the service, the launcher, and games drawn from a seed."""

    def __init__(self, seed, games, addresses):
        self.seed, self.count = seed, games
        self.service, self.launcher = Service(addresses), Launcher()
        self.games = []

    def new_game(self, number, brisk=True):
        drawn = random.Random(f"{self.seed} {number}")
        plan = Plan(drawn, PRESETS[number % len(PRESETS)], brisk)
        self.games.append(HostedGame(self.service, number, plan))
        return self.games[-1]

    async def play_all(self, brisk=True):
        """Plays the games, some at once, to their ends."""
        room = asyncio.Semaphore(GAMES_AT_ONCE)

        async def play(number):
            async with room:
                game = self.new_game(number, brisk)
                try:
                    await game.play()
                except (Fault, grpc.aio.AioRpcError) as fault:
                    raise Fault(f"game {number} ({game.plan.preset}): {fault}") from fault

        async with asyncio.TaskGroup() as group:
            for number in range(self.count):
                group.create_task(play(number))

    def actions(self):
        return sum(len(game.log) for game in self.games)


async def random_games(stage):
    """Two replicas, none of which fails."""
    await stage.play_all()
    same("calls repeated", sum(stage.service.repeated.values()), 0)
    same("watches resumed", stage.service.resumed, 0)
    happened = {entry.WhichOneof("event") for game in stage.games for entry in game.log}
    same("what happened", happened, {"created", "joined", "entropy_added", "played", "resigned"})


async def presets(stage):
    """A game of each preset as it is, to an end on the board."""
    stage.count = len(PRESETS)
    await stage.play_all(brisk=False)


async def replica_killed(stage):
    """The first replica is killed half-way; nothing that was acknowledged is lost."""
    stage.count = min(stage.count, GAMES_AT_ONCE)  # So that all of them are under way.
    service = stage.service
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(stage.play_all())
        await service.have_answered(30 * stage.count)
        under_way = [game for game in stage.games if game.game.state == game_pb2.GAME_STATE_ACTIVE]
        await stage.launcher.ask("kill replica 0")
        # While the games go on over the other one.
        for game in under_way:
            await game.repeat_credentials(1)
        await playing
    if len(under_way) < stage.count // 2:
        raise Fault(f"only {len(under_way)} games were under way")
    if not service.repeated["PlayAction"] or not service.resumed:
        raise Fault(f"nobody noticed: {service.repeated}, {service.resumed} watches resumed")


async def store_restarted(stage):
    """The store is killed half-way and comes back a while later; everything goes on by itself."""
    stage.count = min(stage.count, GAMES_AT_ONCE)
    service = stage.service
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(stage.play_all())
        await service.have_answered(30 * stage.count)
        under_way = [game for game in stage.games if game.game.state == game_pb2.GAME_STATE_ACTIVE]
        await stage.launcher.ask("kill store")
        await everything_is_unavailable(service, under_way[0].id)
        await stage.launcher.ask("start store")
        await playing
    if not service.repeated["PlayAction"]:
        raise Fault("no player noticed that the store was away")


async def everything_is_unavailable(service, game_id):
    """Without its store, every call is told so within its deadline, and that repeating helps."""
    calls = (
        ("CreateGame", messages.CreateGameRequest(request_id=new_request_id())),
        ("GetGame", messages.GetGameRequest(game_id=game_id)),
        ("ListLegalActions", messages.ListLegalActionsRequest(game_id=game_id)),
        ("GetFairnessProof", messages.GetFairnessProofRequest(game_id=game_id)),
        ("JoinGame", messages.JoinGameRequest(game_id=game_id)),
        ("PlayAction", messages.PlayActionRequest(game_id=game_id, action="a1")),
        ("ResignGame", messages.ResignGameRequest(game_id=game_id)),
    )

    async def call(method, request, replica):
        try:
            await service.once(method, request, replica)
        except grpc.aio.AioRpcError as error:
            told = (error.code(), refusal(error)[0])
            same(f"{method} without a store", told, (UNAVAILABLE, "STORE_UNAVAILABLE"))
        else:
            raise Fault(f"{method} was answered without a store")

    async def watch(replica):
        """A watch that begins now is told as much, rather than nothing."""
        request = messages.WatchGameRequest(game_id=new_request_id())
        try:
            async for message in replica.watches.WatchGame(request, timeout=10):
                raise Fault(f"a watch began without a store: {message}")
        except grpc.aio.AioRpcError as error:
            told = (error.code(), refusal(error)[0])
            same("WatchGame without a store", told, (UNAVAILABLE, "STORE_UNAVAILABLE"))

    async with asyncio.TaskGroup() as group:
        for replica in service.replicas:
            group.create_task(watch(replica))
            for method, request in calls:
                group.create_task(call(method, request, replica))


async def races(stage):
    """Many calls at one etag over both replicas: one of them has an effect."""
    stage.count = 0
    game = stage.new_game(0)
    try:
        await game.start()
        for race in range(RACES):
            await one_race(stage, game, race)
        await game.resign()
        await game.check()
    finally:
        game.stop_watching()


async def one_race(stage, game, race):
    service, before = stage.service, game.game
    seat = before.position.to_move
    requests = [
        messages.PlayActionRequest(
            game_id=game.id,
            seat_token=game.tokens[seat],
            action=game.plan.choose(before.legal_actions),
            etag=before.etag,
            request_id=new_request_id(),
        )
        for _ in range(RACERS)
    ]

    async def run(number, request):
        try:
            return request, await service.once("PlayAction", request, service.replica(number))
        except grpc.aio.AioRpcError as error:
            same(f"code of {error.details()}", error.code(), grpc.StatusCode.ABORTED)
            return refusal(error)

    ends = await asyncio.gather(*(run(number, request) for number, request in enumerate(requests)))
    won = [end for end in ends if isinstance(end[0], messages.PlayActionRequest)]
    same(f"how many won race {race}", len(won), 1)
    request, answer = won[0]
    current = {
        "game_id": answer.game.game_id,
        "etag": answer.game.etag,
        "revision": str(before.revision + 1),
    }
    for lost in ends:
        if lost is not won[0]:
            same("what a loser is told", lost, ("ETAG_MISMATCH", current))
    game.acknowledge(answer.game, {"played": answer.record})
    # The winner's own call, resent many times at once, is answered and has no effect.
    await asyncio.gather(
        *(game.repeat("PlayAction", request, answer, number) for number in range(RACERS // 4))
    )


async def soak(stage):
    """Replicas and the store fail in turns for as long as games are played."""
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(stage.play_all())
        failing = group.create_task(fail_in_turns(stage))
        await playing
        failing.cancel()


async def fail_in_turns(stage):
    service, launcher = stage.service, stage.launcher
    while True:
        for index in range(len(service.replicas)):
            await service.have_answered(3_000)
            await launcher.ask(f"kill replica {index}")
            await service.have_answered(1_000)
            await service.replace(index, await launcher.ask(f"start replica {index}"))
        await service.have_answered(3_000)
        await launcher.ask("kill store")
        await asyncio.sleep(random.Random(service.answered).uniform(0.1, 4))
        await launcher.ask("start store")


PLAIN = (random_games, presets, replica_killed, store_restarted, races, soak)
SCENARIOS = PLAIN + (clocks, offers, wishes, series, four_seats, reissued_tokens)


async def main(scenario, seed, games, *addresses):
    began = time.monotonic()
    stage = Stage(seed, int(games), addresses)
    try:
        await {run.__name__: run for run in SCENARIOS}[scenario](stage)
    finally:
        await stage.service.close()
    print(
        f"{scenario}, seed {seed}: {len(stage.games)} games, {stage.actions()} revisions, "
        f"{sum(stage.service.repeated.values())} calls repeated, "
        f"{stage.service.resumed} watches resumed, {time.monotonic() - began:.1f} s"
    )


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
