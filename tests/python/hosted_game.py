"""One hosted game: created, joined, played by all its seats over different replicas, watched, and
checked at its end against everything that was answered on the way."""

import asyncio
from collections import Counter

import verify_deal
from banqi.v1 import action_pb2, game_pb2, rules_pb2
from banqi.v1 import game_service_pb2 as messages

from service import Fault, new_request_id, same
from vectors import Board
from watcher import Watcher

SEATS = Counter(DOUBLE_FOUR=4)
PROGRESS = (
    action_pb2.ACTION_KIND_FLIP,
    action_pb2.ACTION_KIND_CAPTURE,
    action_pb2.ACTION_KIND_AIM,
)


class Plan:
    """What is to happen in a game, drawn from a seed."""

    def __init__(self, random, preset, brisk, time_control=None):
        self.random, self.preset = random, preset
        self.time_control = time_control
        self.seats = SEATS[preset] or 2
        # Brisk games end early: by few quiet turns, and by players who like to make progress.
        self.brisk = brisk
        self.join = random.random() < 0.5
        self.entropy_required = random.random() < 0.3
        self.chosen_id = random.random() < 0.3
        self.resign_at = random.randrange(2, 60) if brisk and random.random() < 0.15 else None

    def rules(self):
        return rules_pb2.RuleSet(quiet_limit=20) if self.brisk else rules_pb2.RuleSet()

    def entropy(self):
        if self.entropy_required or self.random.random() < 0.7:
            return self.random.randbytes(self.random.randint(1, 64))
        return b""

    def choose(self, actions):
        forward = [action for action in actions if action.kind in PROGRESS]
        if self.brisk and forward and self.random.random() < 0.7:
            actions = forward
        return self.random.choice(actions).text


class HostedGame:
    def __init__(self, service, number, plan):
        self.service, self.number, self.plan = service, number, plan
        # What was acknowledged, by revision from 1: the log as it must be, and the game after it.
        self.log, self.games = [], []
        self.tokens, self.entropies = {}, [b""] * plan.seats
        self.credentials = []
        self.game = None
        self.watchers, self.watching = [], []

    def home(self, seat):
        """The replica of a seat: seats next to each other have different ones."""
        return self.number + seat

    # Writing

    async def write(self, method, request, home, event):
        """Calls until acknowledged; `event` tells the log entry's event of the answer."""
        request.request_id = request.request_id or new_request_id()
        answer = await self.service.call(method, request, home)
        self.acknowledge(answer.game, event(answer))
        if self.plan.random.random() < 0.05:
            await self.repeat(method, request, answer, home + 1)
        return answer

    def acknowledge(self, game, event):
        game = copy_of(game)
        same(f"revision of {game.game_id}", game.revision, len(self.log) + 1)
        self.log.append(game_pb2.LogEntry(revision=game.revision, etag=game.etag, **event))
        self.games.append(game)
        self.game = game

    async def repeat(self, method, request, answer, home):
        """A call that was answered, once more over another replica: nothing happens again."""
        again = await self.service.call(method, request, home)
        for one in (answer, again):
            one.game.ClearField("server_time")
        same(f"repeated {method}", again, answer)

    async def create(self):
        plan, claim = self.plan, game_pb2.SEAT_CLAIM_ASSIGNED
        if plan.join:
            claim = game_pb2.SEAT_CLAIM_RESERVED
        seats = [messages.NewSeat(player_id=f"p{n}", claim=claim) for n in range(1, plan.seats + 1)]
        if plan.join:
            seats[0] = messages.NewSeat(claim=game_pb2.SEAT_CLAIM_OPEN)
        request = messages.CreateGameRequest(
            game_id=f"game-{new_request_id()}" if plan.chosen_id else "",
            preset=plan.preset,
            rules=plan.rules(),
            seats=seats,
            entropy_required=plan.entropy_required,
            time_control=plan.time_control,
        )
        created = await self.write("CreateGame", request, self.home(0), lambda _: {"created": {}})
        self.credentials.append(("CreateGame", request, created))
        # Players keep the commitment before they add anything to the deal.
        self.id, self.commitment = created.game.game_id, created.game.commitment
        self.tokens = {token.seat: token.token for token in created.seat_tokens}
        same("tokens at creation", len(self.tokens), 0 if plan.join else plan.seats)

    async def gather_players(self):
        """Every seat joins, where it must, and adds to the deal, where it wants to."""
        for seat in range(1, self.plan.seats + 1):
            entropy = self.plan.entropy()
            if self.plan.join:
                await self.join(seat, entropy)
            elif entropy:
                await self.add_entropy(seat, entropy)
            self.entropies[seat - 1] = entropy
        same("state once all are there", self.game.state, game_pb2.GAME_STATE_ACTIVE)

    async def join(self, seat, entropy):
        request = messages.JoinGameRequest(
            game_id=self.id, seat=seat, player_id=f"p{seat}", entropy=entropy
        )
        event = {"joined": {"seat": seat, "player_id": f"p{seat}"}}
        joined = await self.write("JoinGame", request, self.home(seat), lambda _: event)
        same("seat joined", joined.seat, seat)
        self.credentials.append(("JoinGame", request, joined))
        self.tokens[seat] = joined.seat_token

    async def add_entropy(self, seat, entropy):
        request = messages.AddEntropyRequest(
            game_id=self.id, seat_token=self.tokens[seat], entropy=entropy
        )
        event = {"entropy_added": {"seat": seat}}
        await self.write("AddEntropy", request, self.home(seat), lambda _: event)

    async def play_on(self):
        actions = 0
        while self.game.state != game_pb2.GAME_STATE_FINISHED:
            if self.plan.resign_at == actions:
                await self.resign()
            else:
                await self.act()
            actions += 1

    async def act(self, action=None):
        seat = self.game.position.to_move
        request = messages.PlayActionRequest(
            game_id=self.id,
            seat_token=self.tokens[seat],
            action=action or self.plan.choose(self.game.legal_actions),
            etag=self.game.etag,
        )
        await self.write(
            "PlayAction", request, self.home(seat), lambda answer: {"played": answer.record}
        )

    def still_in(self):
        return [seat.number for seat in self.game.seats if not seat.out]

    async def resign(self, seat=None):
        seat = seat or self.plan.random.choice(self.still_in())
        request = messages.ResignGameRequest(game_id=self.id, seat_token=self.tokens[seat])
        event = {"resigned": {"seat": seat}}
        await self.write("ResignGame", request, self.home(seat), lambda _: event)

    # The whole game

    async def start(self):
        await self.create()
        self.watch(self.number)
        await self.gather_players()
        secret = await self.proof(self.number)
        same("seed during the game", (secret.server_seed, secret.deal), (b"", ""))

    def watch(self, home):
        watcher = Watcher(self.service, self.id, home, is_last=self.is_last)
        self.watchers.append(watcher)
        self.watching.append(asyncio.create_task(watcher.follow()))

    def stop_watching(self):
        for watching in self.watching:
            watching.cancel()

    def is_last(self, game):
        """Whether nothing is told after this state of the game."""
        return game.state == game_pb2.GAME_STATE_FINISHED

    async def play(self):
        try:
            await self.start()
            await self.play_on()
            await self.check()
        finally:
            self.stop_watching()

    # Checking

    async def check(self):
        await asyncio.gather(*self.watching)
        for watcher in self.watchers:
            self.check_watched(watcher)
        if self.number % 10 == 0:
            # Whoever comes late and knows only the beginning is told everything since.
            since = (1, self.games[0].etag)
            late = Watcher(self.service, self.id, self.number + 1, self.is_last, since)
            await late.follow()
            same("what a late watcher is told", late.games, self.games[1:])
            self.check_watched(late)
        finals = [await self.final(home) for home in range(len(self.service.replicas))]
        for final in finals:
            same("log", [without_time(entry) for entry in final.log], self.log)
            times = [entry.time.ToMilliseconds() for entry in final.log]
            same("times of the log", times, sorted(times))
            told = [game.update_time.ToMilliseconds() for game in self.games]
            same("times that were answered", told, times)
            del final.log[:]
            same("final state", final, self.game)
        await self.check_deal()

    def check_watched(self, watcher):
        """Nothing missed, nothing twice, and told as the players were answered."""
        told = watcher.games
        same("watched games", told, self.games[len(self.games) - len(told) :])
        entries = [without_time(entry) for entry in watcher.entries]
        same("watched entries", entries, self.log[len(self.log) - len(entries) :])
        if not entries:
            raise Fault(f"the watcher of {self.id} saw no event")

    async def final(self, home):
        request = messages.GetGameRequest(game_id=self.id, view=messages.GAME_VIEW_FULL)
        return copy_of((await self.service.call("GetGame", request, home)).game)

    async def proof(self, home):
        request = messages.GetFairnessProofRequest(game_id=self.id)
        return await self.service.call("GetFairnessProof", request, home)

    async def check_deal(self):
        """The revealed seed is the one committed to, and gives the deal that was played."""
        proof = await self.proof(self.number + 1)
        board = "DOUBLE" if self.plan.preset.startswith("DOUBLE") else "SINGLE"
        same("entropies", list(proof.entropies), self.entropies)
        for told in (proof.commitment, bytes.fromhex(verify_deal.commitment(proof.server_seed))):
            same("commitment", told, self.commitment)
        deal = verify_deal.deal(proof.server_seed, self.id, self.entropies, board)
        same("deal", proof.deal, deal)
        self.check_turned_up(Board({"deal": deal}))

    def check_turned_up(self, board):
        line = []
        for entry in self.log:
            for _ in range(entry.takeback_answered.undone_actions):
                board.cells = line.pop()
            if entry.WhichOneof("event") != "played":
                continue
            record = entry.played
            hidden = list(board.cells)
            line.append(hidden)
            fields = board.follow(record.text)
            if fields.get("turned_up"):
                square = (record.to or getattr(record, "from")) - 1
                same(f"turned up by {record.text}", hidden[square], "?" + fields["turned_up"])
            if fields.get("captured"):
                same(f"captured by {record.text}", hidden[record.to - 1].lstrip("?"), fields["captured"])

    async def repeat_credentials(self, home):
        """The creation and the joins once more over another replica: the same tokens."""
        for method, request, answer in self.credentials:
            await self.repeat(method, request, answer, home)


def copy_of(game):
    """The game apart from when it was told."""
    copy = game_pb2.Game()
    copy.CopyFrom(game)
    copy.ClearField("server_time")
    return copy


def without_time(entry):
    copy = game_pb2.LogEntry()
    copy.CopyFrom(entry)
    copy.ClearField("time")
    return copy
