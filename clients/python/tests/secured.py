"""Calls a service over TLS, shows an API key: python secured.py ADDRESS AUTHORITIES KEY"""

import asyncio
import sys
from pathlib import Path

from banqi_client import BanqiError, Options, aio, connect, v1

address, authorities, key = sys.argv[1:]
trusting = Path(authorities).read_bytes()
REQUEST = v1.CreateGameRequest()


async def create_with_asyncio(options):
    async with aio.connect(address, options) as banqi:
        return (await banqi.games.create_game(REQUEST)).game.game_id


def create(options):
    with connect(address, options) as banqi:
        return banqi.games.create_game(REQUEST).game.game_id


for call in (create, lambda options: asyncio.run(create_with_asyncio(options))):
    for options, expected in (
        (Options(authorities=trusting, api_key=key), None),
        (Options(authorities=trusting, api_key=lambda: key), None),
        (Options(authorities=trusting), "API_KEY_MISSING"),
        (Options(authorities=trusting, api_key="another"), "API_KEY_WRONG"),
        # Nobody vouches for the service, so it is not called.
        (Options(api_key=key, total=0.5), ""),
    ):
        try:
            found = call(options) and None
        except BanqiError as error:
            found = error.reason
        if found != expected:
            sys.exit(f"{options}: found {found}, expected {expected}")
print("TLS and keys")
