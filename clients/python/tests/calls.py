"""Checks what is around calls: python calls.py ADDRESS

A call whose answer is lost is repeated and has one effect; errors tell everything; what is no address is refused.
The service runs with --dev-platform.
"""

import asyncio
import socket
import sys
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import grpc

from banqi_client import BanqiError, FieldViolation, Options, aio, connect, v1

PATIENCE = 20


def same(found, expected):
    if found != expected:
        sys.exit(f"found {found}, expected {expected}")


class Proxy:
    """A way to the service which can keep its answers to itself."""

    def __init__(self, service):
        self.service = service
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self.listener.getsockname())
        self.swallowing = threading.Event()
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        host, port = self.service.rsplit(":", 1)
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection((host, int(port)))
            self.connections += [client, server]
            threading.Thread(target=self.pass_on, args=(client, server, None), daemon=True).start()
            threading.Thread(target=self.pass_on, args=(server, client, self.swallowing), daemon=True).start()

    @staticmethod
    def pass_on(source, target, swallowing):
        try:
            while received := source.recv(65536):
                if swallowing is None or not swallowing.is_set():
                    target.sendall(received)
        except OSError:
            pass

    def cut(self):
        """Loses what it has kept, with the connections; new ones are good."""
        while self.connections:
            try:
                self.connections.pop().shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        # Only now, so that no answer slips through.
        self.swallowing.clear()


def until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > end:
            sys.exit("it does not happen")
        time.sleep(0.01)


def one_effect(address):
    proxy, repeated = Proxy(address), []
    # The service may have games from before.
    labels = {"run": str(uuid.uuid4())}
    options = Options(on_retry=repeated.append)
    with connect(address) as direct, connect(proxy.address, options) as banqi, ThreadPoolExecutor(1) as thread:

        def lose_answer(call, request, has_effect):
            before = len(repeated)
            proxy.swallowing.set()
            answer = thread.submit(call, request)
            until(has_effect)
            proxy.cut()
            told = answer.result(timeout=PATIENCE)
            if len(repeated) == before:
                sys.exit("the call was not repeated")
            same(request.request_id, "")
            return told

        def listed():
            request = v1.ListGamesRequest(labels=labels)
            return [game.game_id for game in direct.games.list_games(request).games]

        # The connection is there.
        banqi.rules.list_presets(v1.ListPresetsRequest())
        seats = [v1.NewSeat(claim=v1.SEAT_CLAIM_ASSIGNED)] * 2
        creation = v1.CreateGameRequest(seats=seats, labels=labels)
        created = lose_answer(banqi.games.create_game, creation, lambda: len(listed()) > 0)
        game_id = created.game.game_id
        same(listed(), [game_id])

        def revision():
            return direct.games.get_game(v1.GetGameRequest(game_id=game_id)).game.revision

        action = v1.PlayActionRequest(
            game_id=game_id, seat_token=created.seat_tokens[0].token, action="c2", etag=created.game.etag
        )
        played = lose_answer(banqi.games.play_action, action, lambda: revision() == 2)
        same((played.game.revision, revision()), (2, 2))
    print(len(repeated), "answers were lost, and the calls had one effect each")


def failure(call, request):
    try:
        call(request)
    except BanqiError as error:
        return error
    sys.exit(f"{request} is answered")


def errors(address):
    with connect(address, Options(total=0.5)) as banqi:
        none = failure(banqi.games.get_game, v1.GetGameRequest(game_id="nobodys"))
        same((none.code, none.reason), (grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND"))
        same((dict(none.info), none.is_transient), ({"game_id": "nobodys"}, False))
        wrong = failure(banqi.games.create_game, v1.CreateGameRequest(game_id="a b", preset="NONE"))
        same(wrong.reason, "INVALID_FIELDS")
        same({violation.field for violation in wrong.violations}, {"game_id", "preset"})
        same(all(isinstance(one, FieldViolation) and one.description for one in wrong.violations), True)
        same(next(iter(failure_of_watch(banqi)), None), "GAME_NOT_FOUND")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = "{}:{}".format(*closed.getsockname())
    repeated = []
    with connect(nobody, Options(total=1.0, on_retry=repeated.append)) as banqi:
        began = time.monotonic()
        gone = failure(banqi.rules.list_presets, v1.ListPresetsRequest())
        same((gone.code, gone.reason, gone.is_transient), (grpc.StatusCode.UNAVAILABLE, "", True))
        same((len(repeated) > 1, time.monotonic() - began < 1.5), (True, True))
    with connect([nobody, address]) as banqi:
        same(len(banqi.rules.list_presets(v1.ListPresetsRequest()).presets), 10)
    for address in ("", "ftp://127.0.0.1:1", "127.0.0.1:port", "http://127.0.0.1:1/path", []):
        try:
            connect(address)
        except ValueError:
            continue
        sys.exit(f"{address!r} is taken for an address")
    print("errors tell everything")


def failure_of_watch(banqi):
    try:
        yield from banqi.watch_game("nobodys")
    except BanqiError as error:
        yield error.reason


async def closing(address):
    """Who closes a client ends its watches, and cancels nobody."""
    told = asyncio.Event()

    async def watch(banqi, game_id):
        async for _ in banqi.watch_game(game_id):
            told.set()
        return "ended"

    async with aio.connect(address) as banqi:
        created = await banqi.games.create_game(v1.CreateGameRequest())
        watching = asyncio.create_task(watch(banqi, created.game.game_id))
        await asyncio.wait_for(told.wait(), PATIENCE)
    same(await asyncio.wait_for(watching, PATIENCE), "ended")


one_effect(sys.argv[1])
errors(sys.argv[1])
asyncio.run(closing(sys.argv[1]))
