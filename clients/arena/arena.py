#!/usr/bin/env python3
"""Plays a match between two bots on a running service, and prints the score.

    arena.py ADDRESS BOT BOT [--games N] [--at-once N] [--preset PRESET] [--seed N]

A BOT is a Python file with a function `choose(game, drawn)`, or a command in quotes, to which the address,
`--game ID` and `--player NAME` are added. Results come from PlatformService.StreamLifecycle, so the service runs
with --dev-platform, or BANQI_API_KEY is a platform's.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import os
import random
import shlex
import sys
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from banqi_client import BanqiError, Options, Presence, v1
from banqi_client.aio import Client, connect

# How long a result may take that both bots have seen, in seconds.
PATIENCE = 60

Choose = Callable[[v1.Game, random.Random], str]
Play = Callable[[str, str, random.Random], Awaitable[None]]
"""Plays a game, given its id, to its end as a player; so does a bot."""


@dataclass
class Score:
    """What one bot has done."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    first: int = 0
    """Wins in the first seat."""

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2


@dataclass
class Match:
    """A match, and how it stands."""

    games: int
    preset: str
    seed: int
    results: dict[str, asyncio.Future[v1.Game]] = field(default_factory=dict)
    """The results of games that are played, by their ids."""
    scores: tuple[Score, Score] = field(default_factory=lambda: (Score(), Score()))
    reasons: Counter[str] = field(default_factory=Counter)
    turns: int = 0

    def take(self, number: int, game: v1.Game) -> None:
        """Counts a game that has ended."""
        self.reasons[v1.EndReason.Name(game.result.reason).removeprefix("END_REASON_")] += 1
        self.turns += game.position.turn_number
        for bot, score in enumerate(self.scores):
            seat = seat_of(bot, number)
            if len(game.result.winners) != 1:
                score.draws += 1
            elif game.result.winners[0] == seat:
                score.wins += 1
                score.first += seat == 1
            else:
                score.losses += 1


def seat_of(bot: int, number: int) -> int:
    """The seat of a bot (0 or 1) in a game of the match."""
    return 1 + (bot + number) % 2


def load(path: Path) -> Choose:
    """The function of a bot that is a Python file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path}: this is no Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    choose: Choose | None = getattr(module, "choose", None)
    if choose is None:
        raise SystemExit(f"{path}: there is no function `choose(game, drawn)` in it")
    return choose


def play_here(banqi: Client, choose: Choose) -> Play:
    """A bot that is a function."""

    async def play(game_id: str, player: str, drawn: random.Random) -> None:
        joined = await banqi.games.join_game(v1.JoinGameRequest(game_id=game_id, player_id=player))
        async for watched in banqi.watch_game(game_id, seat_token=joined.seat_token):
            if isinstance(watched, Presence):
                continue
            game = watched.game
            if game.HasField("result"):
                return
            if game.state != v1.GAME_STATE_ACTIVE or game.position.to_move != joined.seat:
                continue
            action = choose(game, drawn)
            request = v1.PlayActionRequest(game_id=game_id, seat_token=joined.seat_token, action=action, etag=game.etag)
            try:
                await banqi.games.play_action(request)
            except BanqiError as error:
                if error.reason not in ("ETAG_MISMATCH", "GAME_OVER"):
                    raise

    return play


def play_there(command: str, address: str) -> Play:
    """A bot that is a command."""

    async def play(game_id: str, player: str, _: random.Random) -> None:
        words = [*shlex.split(command), address, "--game", game_id, "--player", player]
        process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.DEVNULL)
        try:
            status = await process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if status != 0:
            raise SystemExit(f"`{command}` ended with {status} in game {game_id}")

    return play


def bot_of(text: str, banqi: Client, address: str) -> Play:
    return play_here(banqi, load(Path(text))) if Path(text).is_file() else play_there(text, address)


async def together(*coroutines: Awaitable[None]) -> None:
    """Waits for all; the first that fails ends the others."""
    tasks = [asyncio.ensure_future(coroutine) for coroutine in coroutines]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def play_game(banqi: Client, match: Match, bots: tuple[Play, Play], number: int) -> None:
    names = [f"bot-{bot + 1}" for bot in range(2)]
    seats = [""] * 2
    for bot, name in enumerate(names):
        seats[seat_of(bot, number) - 1] = name
    game_id = str(uuid.uuid4())
    result = match.results[game_id] = asyncio.get_running_loop().create_future()
    request = v1.CreateGameRequest(
        game_id=game_id,
        preset=match.preset,
        seats=[v1.NewSeat(player_id=name, claim=v1.SEAT_CLAIM_RESERVED) for name in seats],
    )
    await banqi.games.create_game(request)
    drawn = [random.Random(f"{match.seed} {number} {name}") for name in names]
    await together(*(bot(game_id, *of) for bot, of in zip(bots, zip(names, drawn))))
    try:
        match.take(number, await asyncio.wait_for(result, PATIENCE))
    except asyncio.TimeoutError:
        raise SystemExit(f"game {game_id} of {' and '.join(names)} did not end with its bots") from None
    del match.results[game_id]


async def take_results(banqi: Client, match: Match) -> None:
    """Hands on the ends of the match's games; others may be played on the service."""
    async for followed in banqi.follow_lifecycle(kinds=[v1.LIFECYCLE_KIND_ENDED]):
        waiting = match.results.get(followed.event.game_id)
        # After a break an end may be told again.
        if waiting is not None and not waiting.done():
            waiting.set_result(followed.event.game)


async def play_match(banqi: Client, match: Match, bots: tuple[Play, Play], at_once: int) -> None:
    places = asyncio.Semaphore(at_once)

    async def play(number: int) -> None:
        async with places:
            await play_game(banqi, match, bots, number)

    following = asyncio.create_task(take_results(banqi, match))
    games = asyncio.create_task(together(*map(play, range(match.games))))
    try:
        # Following ends by a failure alone.
        done, _ = await asyncio.wait((following, games), return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        following.cancel()
        games.cancel()
        await asyncio.gather(following, games, return_exceptions=True)


def table(match: Match, names: list[str], seconds: float) -> str:
    width = max(map(len, names))
    lines = [f"{'bot':{width}}  points  wins  draws  losses  wins as first"]
    for name, score in zip(names, match.scores):
        lines.append(
            f"{name:{width}}  {score.points:6g}  {score.wins:4}  {score.draws:5}  {score.losses:6}  {score.first:13}"
        )
    ends = ", ".join(f"{count} {reason}" for reason, count in match.reasons.most_common())
    return "\n".join([*lines, f"{match.games} games, {match.turns} turns in {seconds:.1f} s: {ends}"])


def names_of(bots: list[str]) -> list[str]:
    names = [Path(shlex.split(bot)[-1]).stem for bot in bots]
    return names if names[0] != names[1] else [f"{name} {number}" for number, name in enumerate(names, 1)]


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("address")
    arguments.add_argument("bots", nargs=2, metavar="BOT")
    arguments.add_argument("--games", type=int, default=100)
    arguments.add_argument("--at-once", type=int, default=8)
    arguments.add_argument("--preset", default="TAIWANESE")
    arguments.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = arguments.parse_args()
    if given.games < 1 or given.at_once < 1:
        arguments.error("--games and --at-once: at least 1")
    print(f"seed {given.seed}")
    match = Match(given.games, given.preset, given.seed)
    began = time.monotonic()
    async with connect(given.address, Options(api_key=os.environ.get("BANQI_API_KEY"))) as banqi:
        first, second = (bot_of(bot, banqi, given.address) for bot in given.bots)
        await play_match(banqi, match, (first, second), given.at_once)
    print(table(match, names_of(given.bots), time.monotonic() - began))


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except (BanqiError, ValueError) as error:
        sys.exit(f"{Path(__file__).name}: {error}")
