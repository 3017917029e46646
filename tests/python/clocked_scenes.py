"""Games with clocks, offers, takebacks, rematches and reissued tokens, scene by scene."""

import asyncio
import contextlib
import random
from collections import Counter

import grpc

from banqi.v1 import game_pb2
from banqi.v1 import game_service_pb2 as messages

from clocked_game import ClockedGame
from clocks import time_control
from hosted_game import Plan
from service import PATIENCE, Fault, new_request_id, refusal, same

MINUTE = 60_000
# Long enough for a few calls in a row on a busy machine, and short enough to be waited for.
SHORT = 3_000
PERMISSION_DENIED = grpc.StatusCode.PERMISSION_DENIED
LENGTHY_CONTROLS = (
    time_control("sudden_death", main_time=10 * MINUTE),
    time_control("increment", main_time=10 * MINUTE, increment=1_250),
    time_control("increment", main_time=MINUTE, increment=100, first_turn_limit=5 * MINUTE),
    time_control("per_turn", limit=2 * MINUTE, first_turn_limit=3 * MINUTE),
    time_control("byo_yomi", main_time=100, periods=100, period=MINUTE),
    time_control("byo_yomi", main_time=0, periods=1, period=10 * MINUTE, first_turn_limit=MINUTE),
    time_control("correspondence", days_per_turn=365),
    time_control("unlimited", inactivity_limit=0),
    time_control("unlimited", inactivity_limit=MINUTE, first_turn_limit=5 * MINUTE),
    None,
)


def new_game(stage, control, preset="TAIWANESE", brisk=False, **more):
    number = len(stage.games)
    plan = Plan(random.Random(f"{stage.seed} clocked {number}"), preset, brisk, control)
    stage.games.append(ClockedGame(stage.service, number, plan, **more))
    return stage.games[-1]


@contextlib.asynccontextmanager
async def played(game):
    """A game that is being played; checked as a whole at its end."""
    try:
        if not game.before:
            await game.start()
        yield game
        await game.check()
    except (Fault, grpc.aio.AioRpcError) as fault:
        raise Fault(f"game {game.number} ({game.plan.preset}): {fault}") from fault
    finally:
        game.stop_watching()


async def together(stage, *scenes):
    async with asyncio.TaskGroup() as group:
        for scene in scenes:
            group.create_task(scene(stage))


# Clocks


async def clocks(stage):
    """Clocks run as the client reckons, and what they put an end to is told to everyone."""
    await together(
        stage,
        increments,
        periods_pass,
        limit_per_turn,
        limit_of_the_first_turn,
        abandoned,
    )


async def increments(stage):
    control = time_control("increment", main_time=MINUTE, increment=2_000)
    async with played(new_game(stage, control, brisk=True)) as game:
        for _ in range(40):
            await asyncio.sleep(game.plan.random.uniform(0, 0.1))
            await game.act()
        await game.play_on()


async def periods_pass(stage):
    control = time_control("byo_yomi", main_time=500, periods=4, period=1_000)
    async with played(new_game(stage, control)) as game:
        slow = game.game.position.to_move
        await asyncio.sleep(1)  # Into the first period, which the turn gives back whole.
        await game.act()
        await game.act()
        same("main time of the slow one", game.clocks.main[slow], 0)
        same("its periods", game.clocks.periods[slow], 4)
        await asyncio.sleep(2.5)  # Two periods pass, and the third is given back whole.
        await game.act()
        await game.act()
        same("its periods", game.game.clocks[slow - 1].periods_left, 2)
        same("its period", game.game.clocks[slow - 1].remaining.ToMilliseconds(), 1_000)
        await game.run_out("TIMEOUT")
        game.ended_by("TIMEOUT", [3 - slow])
        same("its periods", game.game.clocks[slow - 1].periods_left, 0)


async def limit_per_turn(stage):
    async with played(new_game(stage, time_control("per_turn", limit=SHORT))) as game:
        for _ in range(5):
            await game.act()
        seat = game.game.position.to_move
        await game.run_out("TIMEOUT")
        game.ended_by("TIMEOUT", [3 - seat])
        await game.must("OfferDraw", seat, reason="GAME_OVER")


async def limit_of_the_first_turn(stage):
    """Seat 2 never begins. Its own clock has not lost anything then."""
    control = time_control("sudden_death", main_time=MINUTE, first_turn_limit=SHORT)
    async with played(new_game(stage, control)) as game:
        await game.act()
        await game.run_out("TIMEOUT")
        game.ended_by("TIMEOUT", [1])
        left = [clock.remaining.ToMilliseconds() for clock in game.game.clocks]
        same("what is left", left, [MINUTE, MINUTE])


async def abandoned(stage):
    """Nobody but those who watch is there when the game ends."""
    async with played(new_game(stage, time_control("unlimited", inactivity_limit=SHORT))) as game:
        await game.act()
        await game.act()
        same("clocks", len(game.game.clocks), 0)
        await game.run_out_unseen("ABANDONED")
        game.ended_by("ABANDONED", [2])


# Offers of two seats


async def offers(stage):
    """Draws, takebacks and aborts, as the scenes say what comes of them."""
    await together(stage, draw_agreed, takebacks, aborted)


async def draw_agreed(stage):
    control = time_control("increment", main_time=10 * MINUTE, increment=1_000)
    async with played(new_game(stage, control)) as game:
        await game.must("AnswerDraw", 2, True, reason="NO_DRAW_OFFER")
        await game.must("OfferDraw", 1)
        await game.must("AnswerDraw", 1, True, reason="OWN_OFFER")
        await game.must("OfferDraw", 2, reason="DRAW_OFFER_PENDING")
        await game.must("AnswerDraw", 2, False)
        await game.must("OfferDraw", 1, reason="DRAW_OFFER_SPENT")
        await game.act()
        await game.must("OfferDraw", 1)
        await game.act()  # Seat 2 acts, and the offer stands.
        same("who offers", game.game.draw_offer.seat, 1)
        await game.act()  # The offer is over with the action of seat 1.
        await game.must("AnswerDraw", 2, True, reason="NO_DRAW_OFFER")
        await game.must("OfferDraw", 1)
        await game.must("AnswerDraw", 2, True)
        game.ended_by("AGREEMENT", [])
        same("places", [one.place for one in game.game.result.placements], [1, 1])


async def takebacks(stage):
    control = time_control("sudden_death", main_time=10 * MINUTE)
    async with played(new_game(stage, control)) as game:
        await game.must("RequestTakeback", 1, reason="NOTHING_TO_TAKE_BACK")
        await game.act()
        await game.must("RequestTakeback", 1, reason="TAKEBACK_REVEALED")
        for turns_ago in (1, 2):
            await take_back(game, turns_ago)
        await game.play_until(lambda: can_flip(game))
        seat = game.game.position.to_move
        await game.flip()
        await game.must("RequestTakeback", seat, reason="TAKEBACK_REVEALED")
        await game.resign()


async def take_back(game, turns_ago):
    """The seat whose last turn was so many turns ago asks, is declined, and asks again later."""

    def asking():
        to_move = game.game.position.to_move
        return to_move if turns_ago == 2 else 3 - to_move

    await game.play_until(lambda: game.may_take_back(asking()))
    seat = asking()
    await game.must("RequestTakeback", seat)
    await game.must("AnswerTakeback", seat, True, reason="OWN_OFFER")
    await game.must("RequestTakeback", 3 - seat, reason="TAKEBACK_PENDING")
    await game.must("AnswerTakeback", 3 - seat, False)
    await game.must("RequestTakeback", seat, reason="TAKEBACK_SPENT")
    await game.quiet_turn()
    await game.play_until(lambda: game.may_take_back(asking()))
    seat = asking()
    await game.must("RequestTakeback", seat)
    await game.must("AnswerTakeback", 3 - seat, True)
    undone = game.log[-1].takeback_answered.undone_actions
    same("actions taken back", undone, turns_ago)
    same("who is to move", game.game.position.to_move, seat)


def can_flip(game):
    return game.game.position.face_down and game.game.state == game_pb2.GAME_STATE_ACTIVE


async def aborted(stage):
    control = time_control("correspondence", days_per_turn=3)
    async with played(new_game(stage, control)) as game:
        await game.act()
        await game.must("AbortGame", 1)
        game.ended_by("ABORTED", [])
        same("places", len(game.game.result.placements), 0)
    async with played(new_game(stage, control)) as game:
        await game.act()
        await game.act()
        await game.must("AbortGame", 2, reason="ABORT_TOO_LATE")
        await game.resign(2)
        game.ended_by("RESIGNATION", [1])


# Offers at random

WISHES = ("OfferDraw", "AnswerDraw", "RequestTakeback", "AnswerTakeback")


async def wishes(stage):
    """Seats ask for whatever comes to their minds; each time the client knows what comes of it."""

    async def play(number):
        control = LENGTHY_CONTROLS[number % len(LENGTHY_CONTROLS)]
        preset = ("TAIWANESE", "TAIWANESE_DARK_CHAIN", "DOUBLE_FOUR", "MAINLAND")[number % 4]
        async with played(new_game(stage, control, preset, brisk=True)) as game:
            while game.game.state != game_pb2.GAME_STATE_FINISHED:
                await game.plan.random.choice((wish, wish, wish, act, quiet_turn))(game)

    act, quiet_turn = ClockedGame.act, ClockedGame.quiet_turn
    async with asyncio.TaskGroup() as group:
        for number in range(stage.count):
            group.create_task(play(number))
    refused = sum((game.refused for game in stage.games), Counter())
    undone = [entry.takeback_answered.undone_actions for game in stage.games for entry in game.log]
    print(f"wishes refused: {dict(refused)}; actions taken back: {sum(undone)}")
    # The scenes of `offers` and `four_seats` see to the other reasons.
    expected = {
        "ABORT_TOO_LATE",
        "DRAW_OFFER_PENDING",
        "DRAW_OFFER_SPENT",
        "NO_DRAW_OFFER",
        "OWN_OFFER",
        "TAKEBACK_PENDING",
        "NO_TAKEBACK_REQUEST",
        "TAKEBACK_REVEALED",
        "SEAT_OUT",
    }
    same("reasons that no wish was refused with", expected - set(refused), set())
    # One's own turn, and one's own before that of another seat.
    same("how many actions are taken back at once", {1, 2} - set(undone), set())


async def wish(game):
    drawn, seats = game.plan.random, range(1, game.plan.seats + 1)
    chance = drawn.random()
    if chance < 0.05:
        # Not yet refused, it would end the game at once.
        if game.offers.refusal("AbortGame", seats[0]):
            await game.ask("AbortGame", seats[0])
    elif chance < 0.06 and game.plan.seats == 4:
        await game.resign()
    else:
        asked = [(method, seat) for method in WISHES for seat in seats]
        if drawn.random() < 0.6:  # Something that will not be refused, if there is anything.
            asked = [one for one in asked if game.offers.refusal(*one) is None] or asked
        method, seat = drawn.choice(asked)
        # Draws are rarely agreed to, or there would be no game.
        accept = drawn.random() < (0.1 if method == "AnswerDraw" else 0.7)
        await game.ask(method, seat, accept if method.startswith("Answer") else None)


# Series


async def series(stage):
    """Rematches of two seats: who moves first, and the score that goes along."""
    control = time_control("increment", main_time=MINUTE, increment=500)
    first = new_game(stage, control, expects_rematch=True)
    async with played(first):
        request = messages.RematchRequest(game_id=first.id, seat_token=first.tokens[1])
        await first.is_refused("Rematch", request, 0, "GAME_NOT_OVER")
        for _ in range(6):
            await first.act()
        await first.resign(2)
        second = await first.rematch(2, expects_rematch=True)
    same("who moves first", second.seats_before(), [2, 1])
    stage.games.append(second)
    async with played(second):
        await asks_again(second, old_seat=2)
        await second.all_ask([1])
        await asks_again(second, old_seat=1)
        await second.act()
        await second.must("OfferDraw", 2)
        await second.must("AnswerDraw", 1, True)
        same("games ended", second.game.series.games_ended, 2)
        # Who asks first says who moves first; a draw swaps.
        third = await second.rematch(1, "LOSER", expects_rematch=True)
    same("who moves first", third.seats_before(), [2, 1])
    stage.games.append(third)
    async with played(third):
        await third.all_ask([2])
        await third.must("AbortGame", 2)
        same("games ended", third.game.series.games_ended, 2)
        fourth = await third.rematch(2, "LOSER")
    same("who moves first", fourth.seats_before(), [1, 2])
    stage.games.append(fourth)
    async with played(fourth):
        await fourth.all_ask([1])
        await fourth.act()
        await fourth.act()
        await fourth.resign(1)
        await fourth.repeat_credentials(1)
        score = [(one.seat, one.wins, one.draws) for one in fourth.game.series.scores]
        # The winner of the first game is the one who has resigned now.
        same("score", score, [(1, 1, 1), (2, 1, 1)])


async def asks_again(game, old_seat):
    """Who has asked is answered again, over any replica and with another request id."""
    old = game.before
    for home in range(2):
        request = messages.RematchRequest(
            game_id=old.id,
            seat_token=old.tokens[old_seat],
            first=messages.REMATCH_FIRST_SAME,  # Too late to say so.
            request_id=new_request_id(),
        )
        answer = await game.service.call("Rematch", request, home)
        answer.game.ClearField("server_time")
        same("game of a rematch asked for again", answer.game, game.game)
        seat = game.seats_before().index(old_seat) + 1
        tokens = [(one.seat, one.token) for one in answer.seat_tokens]
        same("tokens of a rematch asked for again", tokens, [(seat, game.tokens[seat])])


# Four seats


async def four_seats(stage):
    """Seats that are out count for nothing; the others go on, agree, and have their rematch."""
    control = time_control("increment", main_time=SHORT, increment=MINUTE)
    first = new_game(stage, control, "DOUBLE_FOUR", expects_rematch=True)
    async with played(first):
        for _ in range(3):
            await first.act()
        await first.run_out("TIMEOUT")  # Seat 4 never acts.
        same("state", first.game.state, game_pb2.GAME_STATE_ACTIVE)
        same("seats still in", first.still_in(), [1, 2, 3])
        same("who is to move", first.game.position.to_move, 1)
        same("what seat 4 has left", first.game.clocks[3].remaining.ToMilliseconds(), 0)
        await first.must("OfferDraw", 4, reason="SEAT_OUT")
        await four_take_back(first)
        await first.must("OfferDraw", 2)
        await first.must("AnswerDraw", 1, True)
        await first.must("AnswerDraw", 1, True, reason="OFFER_ANSWERED")
        await first.must("AnswerDraw", 4, True, reason="SEAT_OUT")
        same("who has accepted", list(first.game.draw_offer.accepted_by), [1])
        await first.must("AnswerDraw", 3, True)
        first.ended_by("AGREEMENT", [])
        same("places", [one.place for one in first.game.result.placements], [1, 1, 1, 4])
        second = await first.rematch(4)
    same("who moves when", second.seats_before(), [2, 3, 4, 1])
    stage.games.append(second)
    async with played(second):
        await second.all_ask([1, 3, 2])
        await second.act()
        await second.must("OfferDraw", 2)
        await second.resign(2)  # Which ends its offer.
        await second.must("AnswerDraw", 1, True, reason="NO_DRAW_OFFER")
        await second.must("RequestTakeback", 1, reason="TAKEBACK_SEAT_OUT")
        await second.run_out("TIMEOUT")
        same("seats still in", second.still_in(), [1, 4])
        await second.must("AbortGame", 1)  # Seat 4 has not acted yet.
        second.ended_by("ABORTED", [])
        same("games ended", second.game.series.games_ended, 1)


async def four_take_back(game):
    """One of three declines, and nothing is taken back; all accept, and it is."""
    for accepted in (False, True):
        await game.play_until(lambda: game.may_take_back(2))
        await game.must("RequestTakeback", 2)
        await game.must("AnswerTakeback", 3, True)
        same("who has accepted", list(game.game.takeback_request.accepted_by), [3])
        await game.must("AnswerTakeback", 1, accepted)
        undone = game.log[-1].takeback_answered.undone_actions
        same("whether anything was taken back", undone > 0, accepted)
        await game.quiet_turn()


# Tokens


async def reissued_tokens(stage):
    """A seat's token is replaced: the old one is dead everywhere, the seat's watch with it."""
    async with played(new_game(stage, None)) as game:
        await game.act()
        old = game.tokens[2]
        watch = seat_watch(stage.service.replica(0), game.id, old)
        await watch_is_seated(watch, 2)
        request = messages.ReissueSeatTokenRequest(
            game_id=game.id, seat=2, etag=game.game.etag, request_id=new_request_id()
        )
        answers = [await stage.service.call("ReissueSeatToken", request, home) for home in (1, 0)]
        same("the token of a repeated call", answers[1], answers[0])
        game.tokens[2] = answers[0].seat_token
        game.acknowledge(await game.current(0), {"seat_token_reissued": {"seat": 2}})
        for home in range(2):
            dead = messages.OfferDrawRequest(game_id=game.id, seat_token=old)
            await game.is_refused("OfferDraw", dead, home, "SEAT_TOKEN_WRONG", PERMISSION_DENIED)
        await watch_is_ended(watch)
        await watch_is_ended(seat_watch(stage.service.replica(1), game.id, old))
        await game.act()
        await game.must("OfferDraw", 2)
        await game.repeat_credentials(1)
        await game.resign(2)


def seat_watch(replica, game_id, token):
    request = messages.WatchGameRequest(game_id=game_id, seat_token=token)
    return replica.watches.WatchGame(request, timeout=PATIENCE)


async def watch_is_seated(watch, seat):
    """Reads the watch until it tells that the seat itself is present."""
    async for message in watch:
        if message.WhichOneof("message") == "presence" and message.presence.seats[seat - 1].present:
            return
    raise Fault(f"the watch of seat {seat} ended before it told that the seat is present")


async def watch_is_ended(watch):
    try:
        async for _ in watch:
            pass
    except grpc.aio.AioRpcError as error:
        told = error.code(), refusal(error)[0]
        same("end of a watch with a dead token", told, (PERMISSION_DENIED, "SEAT_TOKEN_WRONG"))
    else:
        raise Fault("a watch with a dead token ended as if nothing were wrong")
