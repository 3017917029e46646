#!/usr/bin/env python3
"""Lets an engine play that speaks the text protocol of Chinese dark chess tournaments (CDC, version 1.1.0).

    cdc_adapter.py ADDRESS --engine COMMAND [--game ID] [--player NAME] [--seconds N]

Joins the game, or without one creates it and prints its id for somebody else to join. An engine that breaks down,
takes longer than N seconds for an answer, or plays what the rules forbid, resigns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import shlex
import sys
from types import TracebackType

from banqi_client import BanqiError, Event, Options, Presence, Snapshot, v1
from banqi_client.aio import Client, connect

COMMANDS = (
    "protocol_version name version known_command list_commands quit boardsize reset_board num_repetition "
    "num_moves_to_draw move flip genmove game_over ready time_settings time_left showboard init_board"
).split()
"""Each by its number, which is the first word of its line."""
VERSION = "1.1."
# Theirs for K A E R H C P.
LETTERS = str.maketrans("KAERHCPkaerhcp", "KGMRNCPkgmrncp")
RECORD = re.compile(r"(?P<from>[a-h][1-8])(?:\((?P<flipped>[A-Za-z])\)|[-x](?P<to>[a-h][1-8]))")
SECONDS_TO_END = 2
COLOURS = {v1.COLOUR_RED: "red", v1.COLOUR_BLACK: "black"}


class EngineFault(Exception):
    """The engine did not do what the protocol or the rules ask for."""


def mirrored(square: str) -> str:
    """A square of ours as theirs, and the other way round: files are ranks, and ranks files."""
    file, rank = square[0], square[1]
    return "abcdefgh"[int(rank) - 1] + str("abcdefgh".index(file) + 1)


def told(record: str) -> tuple[str, str, str] | None:
    """What a record tells an engine, with our squares and letters: the command and what goes with it."""
    found = RECORD.fullmatch(record)
    if found is None:
        return None
    if found["flipped"]:
        return "flip", mirrored(found["from"]), found["flipped"].translate(LETTERS)
    return "move", mirrored(found["from"]), mirrored(found["to"])


class Engine:
    """An engine that runs."""

    def __init__(self, process: asyncio.subprocess.Process, seconds: float) -> None:
        assert process.stdin is not None and process.stdout is not None, "both are pipes"
        self._process, self._seconds = process, seconds
        self._input, self._output = process.stdin, process.stdout

    @classmethod
    async def start(cls, command: str, seconds: float) -> Engine:
        pipe = asyncio.subprocess.PIPE
        return cls(await asyncio.create_subprocess_exec(*shlex.split(command), stdin=pipe, stdout=pipe), seconds)

    async def __aenter__(self) -> Engine:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # The end of its input is the end of an engine; one that goes on all the same is killed.
        self._input.close()
        try:
            await asyncio.wait_for(self._process.wait(), SECONDS_TO_END)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()

    async def ask(self, command: str, *arguments: str) -> str:
        """Gives a command; answers what the engine does."""
        number = COMMANDS.index(command)
        line = " ".join([str(number), command, *arguments])
        try:
            self._input.write(f"{line}\n".encode())
            await self._input.drain()
            return await asyncio.wait_for(self._answer(number, line), self._seconds)
        except asyncio.TimeoutError:
            raise EngineFault(f"`{line}` is not answered within {self._seconds:g} s") from None
        except (ConnectionError, ValueError) as error:
            raise EngineFault(f"`{line}` cannot be told or answered: {error}") from error

    async def _answer(self, number: int, line: str) -> str:
        while True:
            read = await self._output.readline()
            if not read:
                raise EngineFault(f"the engine ended instead of answering `{line}`")
            answer = read.decode(errors="replace").strip()
            sign, words = answer[:1], answer[1:].split(maxsplit=1)
            # Engines print what they think besides.
            if sign not in ("=", "?") or words[:1] != [str(number)]:
                continue
            if sign == "?":
                raise EngineFault(f"the engine refuses `{line}`: {answer}")
            return words[1] if len(words) > 1 else ""


class Table:
    """A game, a seat of it, and the engine that plays there."""

    def __init__(self, banqi: Client, engine: Engine, joined: v1.JoinGameResponse) -> None:
        self._banqi, self._engine = banqi, engine
        self._game_id, self._seat, self._token = joined.game.game_id, joined.seat, joined.seat_token

    async def play(self) -> v1.Game:
        """Plays to the end."""
        version = await self._engine.ask("protocol_version")
        if not version.startswith(VERSION):
            raise EngineFault(f"it speaks version {version or '(none)'} of the protocol, and not {VERSION}x")
        # What is told until the engine has caught up is in what it catches up with.
        known = 0
        async for watched in self._banqi.watch_game(self._game_id, seat_token=self._token):
            if isinstance(watched, Presence):
                continue
            game = watched.game
            if game.revision > known:
                if isinstance(watched, Snapshot) or watched.entry.takeback_answered.undone_actions:
                    known = await self._catch_up()
                else:
                    await self._tell(watched)
            if game.HasField("result"):
                await self._engine.ask("game_over", *outcome(game))
                return game
            if game.revision >= known and game.state == v1.GAME_STATE_ACTIVE and game.position.to_move == self._seat:
                await self._move(game)
        raise RuntimeError(f"the watch of {self._game_id} ended before the game")

    async def _catch_up(self) -> int:
        """Sets up the game anew, as far as it has come; answers its revision."""
        authorized = (("authorization", f"Bearer {self._token}"),)
        before = await self._banqi.games.get_game(v1.GetGameRequest(game_id=self._game_id), metadata=authorized)
        request = v1.ExportGameRequest(game_id=self._game_id, format=v1.EXPORT_FORMAT_CDC)
        text = (await self._banqi.games.export_game(request, metadata=authorized)).text
        after = await self._banqi.games.get_game(v1.GetGameRequest(game_id=self._game_id), metadata=authorized)
        if before.game.etag != after.game.etag:
            return await self._catch_up()
        headers, _, actions = text.partition("\n\n")
        if "[Position " in headers:
            raise EngineFault("the game begins from a board, which has no form in the protocol")
        rules = after.game.rules
        if rules.equals == v1.EQUALS_RULE_BOTH_REMOVED:
            raise EngineFault("where equal pieces remove each other, the protocol has no word for it")
        await self._engine.ask("reset_board")
        await self._engine.ask("boardsize", "4", "8")
        await self._engine.ask("num_repetition", str(rules.repetition_count))
        await self._engine.ask("num_moves_to_draw", str(rules.quiet_limit))
        for word in actions.split():
            # They have their squares and letters already.
            if flipped := re.fullmatch(r"([a-d][1-8])\(([A-Za-z])\)", word):
                await self._engine.ask("flip", flipped[1], flipped[2])
            elif moved := re.fullmatch(r"([a-d][1-8])[-x]([a-d][1-8])", word):
                await self._engine.ask("move", moved[1], moved[2])
        await self._engine.ask("ready")
        return after.game.revision

    async def _tell(self, event: Event) -> None:
        if event.entry.WhichOneof("event") == "played":
            command = told(event.entry.played.text)
            if command is None:
                raise EngineFault(f"`{event.entry.played.text}` has no form in the protocol")
            await self._engine.ask(*command)

    async def _move(self, game: v1.Game) -> None:
        if game.clocks:
            await self._tell_clocks(game)
        colours = game.seats[self._seat - 1].colours
        answer = await self._engine.ask("genmove", COLOURS[colours[0]] if colours else "unknown")
        found = re.fullmatch(r"([a-d][1-8])[ -]([a-d][1-8])", answer)
        if found is None:
            raise EngineFault(f"`{answer}` is no action; wanted is one like `a1 b1`, or `a1 a1` for a flip")
        squares = [mirrored(square) for square in found.groups()]
        action = squares[0] if squares[0] == squares[1] else "-".join(squares)
        request = v1.PlayActionRequest(
            game_id=self._game_id, seat_token=self._token, action=action, etag=game.etag
        )
        try:
            await self._banqi.games.play_action(request)
        except BanqiError as error:
            # Something else happened meanwhile, which the watch is about to tell.
            if error.reason in ("ETAG_MISMATCH", "GAME_OVER"):
                return
            # What cannot be right is the engine's; all else would happen to any engine.
            if error.code.name in ("FAILED_PRECONDITION", "INVALID_ARGUMENT"):
                raise EngineFault(f"its action `{answer}` is not allowed: {error}") from error
            raise

    async def _tell_clocks(self, game: v1.Game) -> None:
        for clock in game.clocks:
            colours = game.seats[clock.seat - 1].colours
            if colours and clock.HasField("remaining"):
                left = clock.remaining.ToMilliseconds()
                await self._engine.ask("time_left", COLOURS[colours[0]], str(left))

    async def resign(self) -> None:
        """Ends the game for an engine that cannot go on."""
        with contextlib.suppress(BanqiError):
            await self._banqi.games.resign_game(v1.ResignGameRequest(game_id=self._game_id, seat_token=self._token))


def outcome(game: v1.Game) -> list[str]:
    """Who has won, as the protocol says it."""
    if len(game.result.winners) != 1:
        return ["draw"]
    colours = game.seats[game.result.winners[0] - 1].colours
    return [COLOURS[colours[0]] if colours else "unknown"]


async def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("address")
    arguments.add_argument("--engine", required=True, metavar="COMMAND")
    arguments.add_argument("--game", default="")
    arguments.add_argument("--player", default="engine")
    arguments.add_argument("--seconds", type=float, default=60.0)
    given = arguments.parse_args()
    options = Options(api_key=os.environ.get("BANQI_API_KEY"))
    async with connect(given.address, options) as banqi, await Engine.start(given.engine, given.seconds) as engine:
        if not given.game:
            given.game = (await banqi.games.create_game(v1.CreateGameRequest())).game.game_id
            print(given.game, flush=True)
        joined = await banqi.games.join_game(v1.JoinGameRequest(game_id=given.game, player_id=given.player))
        table = Table(banqi, engine, joined)
        try:
            game = await table.play()
        except EngineFault as fault:
            await table.resign()
            print(f"{given.engine}: {fault}", file=sys.stderr)
            return 1
        print("seat", joined.seat, "winners", list(game.result.winners), v1.EndReason.Name(game.result.reason))
        with contextlib.suppress(EngineFault):
            await engine.ask("quit")
        return 0


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main()))
    except (BanqiError, ValueError, OSError) as error:
        sys.exit(f"cdc_adapter.py: {error}")
