#!/usr/bin/env python3
"""Plays whatever it may, over asyncio.

    random_bot.py ADDRESS [--game ID] [--player NAME]

Joins the game, or without one creates it and prints its id for somebody else to join.
"""

import argparse
import asyncio
import os
import random

from banqi_client import BanqiError, Options, Presence, v1
from banqi_client.aio import Client, connect


def choose(game: v1.Game, drawn: random.Random) -> str:
    """The action to play in a game in which it is to move."""
    return drawn.choice(game.legal_actions).text


async def take_seat(banqi: Client, game_id: str, player: str) -> v1.JoinGameResponse:
    if not game_id:
        created = await banqi.games.create_game(v1.CreateGameRequest())
        game_id = created.game.game_id
        print(game_id, flush=True)
    return await banqi.games.join_game(v1.JoinGameRequest(game_id=game_id, player_id=player))


async def play(banqi: Client, joined: v1.JoinGameResponse) -> v1.Result:
    drawn = random.Random()
    game_id = joined.game.game_id
    async for watched in banqi.watch_game(game_id, seat_token=joined.seat_token):
        if isinstance(watched, Presence):
            continue
        game = watched.game
        if game.HasField("result"):
            return game.result
        if game.state != v1.GAME_STATE_ACTIVE or game.position.to_move != joined.seat:
            continue
        action = v1.PlayActionRequest(
            game_id=game_id, seat_token=joined.seat_token, action=choose(game, drawn), etag=game.etag
        )
        try:
            await banqi.games.play_action(action)
        except BanqiError as error:
            # Something else happened meanwhile, which the watch is about to tell.
            if error.reason not in ("ETAG_MISMATCH", "GAME_OVER"):
                raise
    raise RuntimeError(f"the watch of {game_id} ended before the game")


async def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("address")
    arguments.add_argument("--game", default="")
    arguments.add_argument("--player", default="random-bot")
    given = arguments.parse_args()
    async with connect(given.address, Options(api_key=os.environ.get("BANQI_API_KEY"))) as banqi:
        joined = await take_seat(banqi, given.game, given.player)
        result = await play(banqi, joined)
        print("seat", joined.seat, "winners", list(result.winners), v1.EndReason.Name(result.reason))


if __name__ == "__main__":
    asyncio.run(main())
