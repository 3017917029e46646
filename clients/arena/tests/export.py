"""Prints the tournament record of a game: python export.py ADDRESS GAME"""

import sys

from banqi_client import connect, v1

with connect(sys.argv[1]) as banqi:
    request = v1.ExportGameRequest(game_id=sys.argv[2], format=v1.EXPORT_FORMAT_CDC)
    print(banqi.games.export_game(request).text)
