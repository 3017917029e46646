"""Calls a service over TLS, shows the certificate that it is given, and tells what came of it.

    python secured_client.py HOST:PORT CA [CERTIFICATE KEY]

Prints a line for each call: its name, and `OK`, the reason of its error, or `UNAVAILABLE` where there
was no connection, with what the transport says of it on standard error.
"""

import sys

import grpc

from banqi.v1 import game_service_pb2, platform_service_pb2, rules_service_pb2
from banqi.v1.game_service_pb2_grpc import GameServiceStub
from banqi.v1.platform_service_pb2_grpc import PlatformServiceStub
from banqi.v1.rules_service_pb2_grpc import RulesServiceStub

from service import SECONDS_A_CALL, refusal


def read(path):
    with open(path, "rb") as file:
        return file.read()


def outcome(call, request):
    try:
        call(request, timeout=SECONDS_A_CALL)
        return "OK"
    except grpc.RpcError as error:
        reason, _ = refusal(error)
        print(error.details(), file=sys.stderr)
        return reason or error.code().name


def main(address, ca, *own):
    certificate, key = map(read, own) if own else (None, None)
    credentials = grpc.ssl_channel_credentials(read(ca), key, certificate)
    with grpc.secure_channel(address, credentials) as channel:
        rules, games, platform = (
            stub(channel) for stub in (RulesServiceStub, GameServiceStub, PlatformServiceStub)
        )
        for name, call, request in [
            ("rules", rules.ListPresets, rules_service_pb2.ListPresetsRequest()),
            ("create", games.CreateGame, game_service_pb2.CreateGameRequest(preset="TAIWANESE")),
            ("erase", platform.ErasePlayer, platform_service_pb2.ErasePlayerRequest(player_id="p")),
        ]:
            print(name, outcome(call, request))


main(*sys.argv[1:])
