"""A hosted game with clocks, offers and rematches. Everything that is answered is compared with what
the client reckons itself: the clocks, the offers that stand, and what each seat may ask."""

import asyncio
from collections import Counter

import grpc

from banqi.v1 import action_pb2, game_pb2, result_pb2
from banqi.v1 import game_service_pb2 as messages

from clocks import Clocks
from hosted_game import HostedGame
from offers import Offers
from service import PATIENCE, Fault, new_request_id, refusal, same

FIRST = messages.RematchFirst.Value
FAILED_PRECONDITION = grpc.StatusCode.FAILED_PRECONDITION


class ClockedGame(HostedGame):
    def __init__(self, service, number, plan, expects_rematch=False, before=None):
        super().__init__(service, number, plan)
        self.expects_rematch, self.before = expects_rematch, before
        self.clocks, self.offers = None, Offers()
        self.refused = Counter()
        # The score of each player in the series, and how many games have ended, this one apart.
        self.scores, self.games_ended = before.standing() if before else (Counter(), 0)

    # Comparing

    def acknowledge(self, game, event):
        before = self.game
        if game.HasField("server_time"):
            told_after = game.server_time.ToMilliseconds() - game.update_time.ToMilliseconds()
            if told_after < 0:
                raise Fault(f"{game.game_id} was told {-told_after} ms before it changed")
        super().acknowledge(game, event)
        game = self.game
        self.clocks = self.clocks or Clocks(game.time_control, self.plan.seats)
        ((name, fields),) = event.items()
        restored = self.offers.follow(name, fields, game)
        self.clocks.follow(before, game, restored is not None)
        if restored:
            self.compare_restored(game, restored)
        self.compare_clocks(game)
        for told, reckoned in (("draw_offer", "draw"), ("takeback_request", "takeback")):
            offer = getattr(self.offers, reckoned)
            found = getattr(game, told) if game.HasField(told) else None
            same(f"{told} of {self.at()}", found, offer and offer.told())
        if self.before:
            self.compare_series()

    def at(self):
        return f"{self.game.game_id} at revision {self.game.revision}"

    def compare_clocks(self, game):
        now = game.update_time.ToMilliseconds()
        same(f"clocks of {self.at()}", list(game.clocks), self.clocks.told(now))
        deadline = game.deadline.ToMilliseconds() if game.HasField("deadline") else None
        same(f"deadline of {self.at()}", deadline, self.clocks.deadline())

    def compare_restored(self, game, before):
        """Everything about the board is as it was before the turns that were taken back."""
        for field in ("position", "legal_actions", "seats", "departures", "result"):
            same(f"{field} of {self.at()}", getattr(game, field), getattr(before, field))
        last = [one.last_action if one.HasField("last_action") else None for one in (game, before)]
        same(f"last action of {self.at()}", *last)

    # Seats that ask

    async def ask(self, method, seat, accept=None):
        """What a seat asks for, done or refused as the client reckons; answers the reason."""
        expected = self.offers.refusal(method, seat)
        fields = {} if accept is None else {"accept": accept}
        request = getattr(messages, f"{method}Request")(
            game_id=self.id, seat_token=self.tokens[seat], request_id=new_request_id(), **fields
        )
        if expected:
            await self.is_refused(method, request, self.home(seat), expected)
        else:
            event = self.event_of(method, seat, accept)
            await self.write(method, request, self.home(seat), lambda _: event)
        return expected

    def event_of(self, method, seat, accept):
        names = {
            "AbortGame": "aborted",
            "OfferDraw": "draw_offered",
            "AnswerDraw": "draw_answered",
            "RequestTakeback": "takeback_requested",
            "AnswerTakeback": "takeback_answered",
        }
        fields = {"seat": seat} | ({} if accept is None else {"accepted": accept})
        if method == "AnswerTakeback" and accept:
            request = self.offers.takeback
            if self.offers.others(request) <= request.accepted | {seat}:
                fields["undone_actions"] = self.offers.undone_by(request.seat)
        return {names[method]: fields}

    async def is_refused(self, method, request, home, reason, code=FAILED_PRECONDITION):
        try:
            answer = await self.service.call(method, request, home)
        except grpc.aio.AioRpcError as error:
            told = error.code(), refusal(error)[0]
            same(f"{method} of {self.at()}: {error.details()}", told, (code, reason))
            self.refused[reason] += 1
        else:
            raise Fault(f"{method} of {self.at()} had to be {reason}, but was answered {answer}")

    async def must(self, method, seat, accept=None, reason=None):
        """As `ask`, where the scene itself says what comes of it."""
        same(f"what {method} by seat {seat} comes to", await self.ask(method, seat, accept), reason)

    # Playing

    async def quiet_turn(self):
        """Plays a turn that turns up nothing, if there is one."""
        moves = [action for action in self.game.legal_actions if is_move(action)]
        await self.act(self.plan.random.choice(moves or self.game.legal_actions).text)

    async def flip(self):
        flips = [a for a in self.game.legal_actions if a.kind == action_pb2.ACTION_KIND_FLIP]
        await self.act(self.plan.random.choice(flips).text)

    async def play_until(self, holds):
        for _ in range(200):
            if holds():
                return
            await self.quiet_turn()
        raise Fault(f"what was waited for did not come about in {self.at()}")

    def may_take_back(self, seat):
        return self.offers.refusal("RequestTakeback", seat) is None

    async def current(self, home):
        answer = await self.service.call("GetGame", messages.GetGameRequest(game_id=self.id), home)
        return answer.game

    async def run_out(self, reason):
        """The seat to move thinks for too long, and whoever reads the game then finds it told."""
        seat, revision = self.game.position.to_move, self.game.revision
        game = await self.current(self.home(seat))
        give_up = asyncio.get_running_loop().time() + PATIENCE
        while game.revision == revision:
            if asyncio.get_running_loop().time() > give_up:
                raise Fault(f"the time of {self.at()} does not run out")
            # Otherwise the read itself would have written that the time is up.
            left = game.deadline.ToMilliseconds() - game.server_time.ToMilliseconds()
            if left <= 0:
                raise Fault(f"{self.at()} was read at {game.server_time}, after its deadline")
            await asyncio.sleep(left / 1000)
            game = await self.current(self.home(seat) + 1)
        self.timed_out(game, seat, reason)

    async def run_out_unseen(self, reason):
        """As `run_out`, but only those who watch are there."""
        seat = self.game.position.to_move
        await asyncio.wait_for(asyncio.gather(*self.watching), PATIENCE)
        self.timed_out(self.watchers[0].games[-1], seat, reason)

    def timed_out(self, game, seat, reason):
        deadline, at = (self.game.deadline, game.update_time)
        if at.ToMilliseconds() < deadline.ToMilliseconds():
            raise Fault(f"{self.at()} timed out at {at}, before its deadline {deadline}")
        fields = {"seat": seat, "reason": result_pb2.EndReason.Value(f"END_REASON_{reason}")}
        self.acknowledge(game, {"timed_out": fields})

    def ended_by(self, reason, winners):
        result = self.game.result
        told = result_pb2.EndReason.Name(result.reason), list(result.winners)
        same(f"end of {self.at()}", told, (f"END_REASON_{reason}", winners))

    # Watching

    def is_last(self, game):
        return super().is_last(game) and (bool(game.rematch_game_id) or not self.expects_rematch)

    def watch(self, home):
        super().watch(home)
        super().watch(home + 1)

    # Rematches

    async def rematch(self, seat, first="UNSPECIFIED", expects_rematch=False):
        """Asks for a rematch, the first to do so; answers the new game."""
        new = ClockedGame(self.service, self.number, self.plan, expects_rematch, before=self)
        new.first = first
        await new.ask_for_rematch(seat, {"created": {}})
        made = {"rematch_made": {"game_id": new.id}}
        self.acknowledge(await self.current(self.home(seat) + 1), made)
        new.watch(new.number)
        return new

    async def ask_for_rematch(self, old_seat, event):
        old = self.before
        request = messages.RematchRequest(
            game_id=old.id,
            seat_token=old.tokens[old_seat],
            first=FIRST(f"REMATCH_FIRST_{self.first}"),
        )
        answer = await self.write("Rematch", request, old.home(old_seat), lambda _: event)
        self.credentials.append(("Rematch", request, answer))
        self.id, self.commitment = answer.game.game_id, answer.game.commitment
        seat = self.seats_before().index(old_seat) + 1
        same("tokens of a rematch", [token.seat for token in answer.seat_tokens], [seat])
        self.tokens[seat] = answer.seat_tokens[0].token

    async def all_ask(self, old_seats):
        """The others ask as well, and add to the deal where they want to."""
        for old_seat in old_seats:
            seat = self.seats_before().index(old_seat) + 1
            same("claim before", self.game.seats[seat - 1].claim, game_pb2.SEAT_CLAIM_REMATCH)
            player = self.game.seats[seat - 1].player_id
            await self.ask_for_rematch(old_seat, {"joined": {"seat": seat, "player_id": player}})
        for seat in self.tokens:
            self.entropies[seat - 1] = self.plan.entropy()
            if self.entropies[seat - 1]:
                await self.add_entropy(seat, self.entropies[seat - 1])
        same("state once all are there", self.game.state, game_pb2.GAME_STATE_ACTIVE)

    def seats_before(self):
        """For each seat the one that it was in the game before."""
        ended, seats = self.before, list(range(1, self.plan.seats + 1))
        moved_up = seats[1:] + seats[:1]
        result = ended.game.result
        if self.first == "SAME":
            return seats
        if self.first == "SWAP":
            return moved_up
        if result.reason == result_pb2.END_REASON_ABORTED:
            return seats
        # The loser of two is the first to move; a draw swaps, and four seats rotate.
        return seats if self.plan.seats == 2 and list(result.winners) == [2] else moved_up

    def compare_series(self):
        seats_before, (scores, games_ended) = self.seats_before(), self.standing()
        players = [self.before.game.seats[seat - 1].player_id for seat in seats_before]
        same(f"players of {self.at()}", [seat.player_id for seat in self.game.seats], players)
        series = game_pb2.Series(previous_game_id=self.before.id, games_ended=games_ended)
        for seat, (before, player) in enumerate(zip(seats_before, players), 1):
            wins, draws = scores[player, "wins"], scores[player, "draws"]
            series.scores.add(seat=seat, previous_seat=before, wins=wins, draws=draws)
        same(f"series of {self.at()}", self.game.series, series)

    def standing(self):
        """The score of the series by player, this game included once it has ended."""
        scores, games_ended = Counter(self.scores), self.games_ended
        places = self.game.result.placements if self.game else []
        first = [placement.seat for placement in places if placement.place == 1]
        for seat in first:
            player = self.game.seats[seat - 1].player_id
            scores[player, "wins" if len(first) == 1 else "draws"] += 1
        return scores, games_ended + bool(places)


def is_move(action):
    return action.kind in (action_pb2.ACTION_KIND_MOVE, action_pb2.ACTION_KIND_CAPTURE)
