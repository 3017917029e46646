#!/usr/bin/env python3
"""Takes the highest piece that it can, or else turns one up, or else moves; without asyncio.

    greedy_bot.py ADDRESS [--game ID] [--player NAME]

Joins the game, or without one creates it and prints its id for somebody else to join.
"""

import argparse
import os
import random

from banqi_client import BanqiError, Client, Options, Presence, connect, v1


def choose(game: v1.Game, drawn: random.Random) -> str:
    """The action to play in a game in which it is to move."""
    actions = list(game.legal_actions)
    # Of equal ones it takes any.
    drawn.shuffle(actions)
    return max(actions, key=lambda action: worth(game, action)).text


def worth(game: v1.Game, action: v1.LegalAction) -> int:
    if action.kind == v1.ACTION_KIND_CAPTURE:
        # Seven kinds of each colour follow each other, the general first; squares are counted from 1.
        return 10 - (game.position.cells[action.to - 1] - v1.CELL_RED_GENERAL) % 7
    return {v1.ACTION_KIND_AIM: 2, v1.ACTION_KIND_FLIP: 1}.get(action.kind, 0)


def take_seat(banqi: Client, game_id: str, player: str) -> v1.JoinGameResponse:
    if not game_id:
        game_id = banqi.games.create_game(v1.CreateGameRequest()).game.game_id
        print(game_id, flush=True)
    return banqi.games.join_game(v1.JoinGameRequest(game_id=game_id, player_id=player))


def play(banqi: Client, joined: v1.JoinGameResponse) -> v1.Result:
    drawn = random.Random()
    game_id = joined.game.game_id
    for watched in banqi.watch_game(game_id, seat_token=joined.seat_token):
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
            banqi.games.play_action(action)
        except BanqiError as error:
            # Something else happened meanwhile, which the watch is about to tell.
            if error.reason not in ("ETAG_MISMATCH", "GAME_OVER"):
                raise
    raise RuntimeError(f"the watch of {game_id} ended before the game")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("address")
    arguments.add_argument("--game", default="")
    arguments.add_argument("--player", default="greedy-bot")
    given = arguments.parse_args()
    with connect(given.address, Options(api_key=os.environ.get("BANQI_API_KEY"))) as banqi:
        joined = take_seat(banqi, given.game, given.player)
        result = play(banqi, joined)
        print("seat", joined.seat, "winners", list(result.winners), v1.EndReason.Name(result.reason))


if __name__ == "__main__":
    main()
