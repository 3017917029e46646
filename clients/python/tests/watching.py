"""Plays and watches games over two replicas, one of which is killed half-way:

    python watching.py threads|asyncio ADDRESS ADDRESS

Prints `kill` when the first one is to be killed, and waits for a line when that is done. Every watch tells every
revision once and in order, and raises nothing.
"""

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from banqi_client import Event, Presence, Snapshot, aio, connect, v1

# So many that both replicas have some: each game is at home at one of them.
GAMES = 12
ACTIONS = 30
CREATION = v1.CreateGameRequest(
    seats=[v1.NewSeat(player_id=name, claim=v1.SEAT_CLAIM_ASSIGNED) for name in ("ann", "bob")]
)


class Told:
    """What a watch has told."""

    def __init__(self, game_id):
        self.game_id, self.revision, self.breaks, self.over = game_id, 0, 0, False

    def take(self, watched):
        """Says whether it was the last."""
        if isinstance(watched, Presence):
            return False
        revision = watched.game.revision
        if isinstance(watched, Snapshot) != (self.revision == 0):
            raise AssertionError(f"{self.game_id}: a snapshot after revision {self.revision}")
        if isinstance(watched, Event) and (revision != self.revision + 1 or watched.entry.revision != revision):
            raise AssertionError(f"{self.game_id}: {revision} after {self.revision}")
        self.revision, self.over = revision, watched.game.HasField("result")
        return self.over

    def broke(self, _):
        self.breaks += 1


def next_action(game, token_of):
    return v1.PlayActionRequest(
        game_id=game.game_id,
        seat_token=token_of[game.position.to_move],
        action=game.legal_actions[game.revision % len(game.legal_actions)].text,
        etag=game.etag,
    )


def tokens(created):
    return {token.seat: token.token for token in created.seat_tokens}


def report(told, played):
    for one in told:
        if not one.over or one.revision != played[one.game_id]:
            sys.exit(f"{one.game_id}: told up to {one.revision}, over {one.over}; played up to {played[one.game_id]}")
    broken = sum(one.breaks > 0 for one in told)
    print(f"{len(told)} watches, {broken} of which broke")
    if not 0 < broken < len(told):
        sys.exit("some break, and some do not")


def with_threads(addresses):
    halfway = threading.Barrier(GAMES + 1, timeout=60)
    with connect(addresses) as banqi, ThreadPoolExecutor(2 * GAMES) as threads:

        def play(created):
            game, token_of = created.game, tokens(created)
            for number in range(ACTIONS):
                if number == ACTIONS // 2:
                    halfway.wait()
                    halfway.wait()
                game = banqi.games.play_action(next_action(game, token_of)).game
            resignation = v1.ResignGameRequest(game_id=game.game_id, seat_token=token_of[1])
            return banqi.games.resign_game(resignation).game

        def watch(told):
            for watched in banqi.watch_game(told.game_id, on_break=told.broke):
                if told.take(watched):
                    return

        games = [banqi.games.create_game(CREATION) for _ in range(GAMES)]
        told = [Told(created.game.game_id) for created in games]
        watching = [threads.submit(watch, one) for one in told]
        playing = [threads.submit(play, created) for created in games]
        halfway.wait()
        kill()
        halfway.wait()
        played = {game.result().game_id: game.result().revision for game in playing}
        try:
            for one in watching:
                one.result(timeout=60)
        finally:
            # The pool waits for its threads, and one that hangs would not end otherwise.
            banqi.close()
    report(told, played)


async def with_asyncio(addresses):
    reached = [asyncio.Event() for _ in range(GAMES)]
    killed = asyncio.Event()
    async with aio.connect(addresses) as banqi:

        async def play(created, halfway):
            game, token_of = created.game, tokens(created)
            for number in range(ACTIONS):
                if number == ACTIONS // 2:
                    halfway.set()
                    await killed.wait()
                game = (await banqi.games.play_action(next_action(game, token_of))).game
            resignation = v1.ResignGameRequest(game_id=game.game_id, seat_token=token_of[1])
            return (await banqi.games.resign_game(resignation)).game

        async def watch(told):
            async for watched in banqi.watch_game(told.game_id, on_break=told.broke):
                if told.take(watched):
                    return

        games = [await banqi.games.create_game(CREATION) for _ in range(GAMES)]
        told = [Told(created.game.game_id) for created in games]
        watching = [asyncio.create_task(watch(one)) for one in told]
        playing = [asyncio.create_task(play(*of)) for of in zip(games, reached)]
        await asyncio.wait_for(asyncio.gather(*(halfway.wait() for halfway in reached)), 60)
        await asyncio.to_thread(kill)
        killed.set()
        played = {game.game_id: game.revision for game in await asyncio.gather(*playing)}
        await asyncio.wait_for(asyncio.gather(*watching), 60)
    report(told, played)


def kill():
    print("kill", flush=True)
    sys.stdin.readline()


kind, *replicas = sys.argv[1:]
if kind == "threads":
    with_threads(replicas)
else:
    asyncio.run(with_asyncio(replicas))
