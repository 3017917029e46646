"""What the clocks of a game show, reckoned from its log alone by proto/banqi/v1/time_control.proto.

All times are whole milliseconds; points in time are those of the log.
"""

from google.protobuf import duration_pb2

from banqi.v1 import game_pb2, time_control_pb2

DAY = 24 * 60 * 60 * 1000
# The time controls that count every turn apart: nothing is left over from one to the next.
TURN_BY_TURN = ("per_turn", "correspondence", "unlimited")


def span(milliseconds):
    seconds, rest = divmod(milliseconds, 1000)
    return duration_pb2.Duration(seconds=seconds, nanos=rest * 1_000_000)


def time_control(kind, first_turn_limit=None, **spans):
    """A time control, its spans given in milliseconds and its counts as they are."""
    counts = ("periods", "days_per_turn")
    fields = {name: value if name in counts else span(value) for name, value in spans.items()}
    limit = None if first_turn_limit is None else span(first_turn_limit)
    return time_control_pb2.TimeControl(**{kind: fields}, first_turn_limit=limit)


class Clocks:
    def __init__(self, control, seats):
        self.kind = control.WhichOneof("clock")
        self.control = getattr(control, self.kind)
        self.first_turn_limit = None
        if control.HasField("first_turn_limit"):
            self.first_turn_limit = control.first_turn_limit.ToMilliseconds()
        main = 0 if self.kind in TURN_BY_TURN else self.control.main_time.ToMilliseconds()
        self.main = dict.fromkeys(range(1, seats + 1), main)
        periods = self.control.periods if self.kind == "byo_yomi" else 0
        self.periods = dict.fromkeys(self.main, periods)
        self.under_way = set()
        # The seat whose turn lasts, and since when; None before and after the game.
        self.running = None

    def follow(self, before, game, taken_back):
        """What an entry did: the game before it and after it, both as they were told."""
        at = game.update_time.ToMilliseconds()
        if before is None or before.state == game_pb2.GAME_STATE_WAITING:
            if game.state == game_pb2.GAME_STATE_ACTIVE:
                self.running = game.position.to_move, at
        elif before.state == game_pb2.GAME_STATE_ACTIVE:
            turn_is_over = game.position.turn_number > before.position.turn_number
            if game.state == game_pb2.GAME_STATE_FINISHED:
                self.stop(at)
            elif turn_is_over or taken_back:
                seat = before.position.to_move
                went_out = game.seats[seat - 1].out
                self.stop(at, completed=not went_out and not taken_back)
                self.running = game.position.to_move, at

    def stop(self, at, completed=False):
        """Ends the turn that lasts. What it took is spent, also where it is taken back."""
        if self.running is None:
            return
        seat = self.running[0]
        on_first_turn = self.is_on_first_turn(seat)
        self.main[seat], self.periods[seat], _ = self.left(seat, at)
        self.running = None
        if completed:
            self.under_way.add(seat)
            if self.kind == "increment" and not on_first_turn:
                self.main[seat] += self.control.increment.ToMilliseconds()

    def is_on_first_turn(self, seat):
        """Whether the limit of the first turn counts for a seat, instead of its clock."""
        return self.first_turn_limit is not None and seat not in self.under_way

    def spent(self, seat, at):
        """How much of its turn a seat has spent: 0 unless it is to move."""
        return at - self.running[1] if self.running and self.running[0] == seat else 0

    def left(self, seat, at):
        """The main time and the periods of a seat, and how far it is in the present period."""
        main, periods = self.main[seat], self.periods[seat]
        spent = 0 if self.is_on_first_turn(seat) else self.spent(seat, at)
        if self.kind != "byo_yomi" or spent < main:
            return max(main - spent, 0), periods, 0
        gone, into = divmod(spent - main, self.period())
        return 0, max(periods - gone, 0), into

    def period(self):
        return self.control.period.ToMilliseconds()

    def turn_limit(self):
        """How long each turn may take, where turns are counted apart; None for ever."""
        if self.kind == "correspondence":
            return self.control.days_per_turn * DAY
        limit = self.control.limit if self.kind == "per_turn" else self.control.inactivity_limit
        return limit.ToMilliseconds() or None

    def deadline(self):
        """When the seat to move runs out of time; None for never."""
        if self.running is None:
            return None
        seat, began = self.running
        if self.is_on_first_turn(seat):
            return began + self.first_turn_limit
        if self.kind in TURN_BY_TURN:
            limit = self.turn_limit()
            return None if limit is None else began + limit
        periods = self.periods[seat] * self.period() if self.kind == "byo_yomi" else 0
        return began + self.main[seat] + periods

    def told(self, at):
        """The clocks as the game tells them at a time."""
        if self.kind == "unlimited" and self.first_turn_limit is None:
            return []
        return [self.clock(seat, at) for seat in self.main]

    def clock(self, seat, at):
        running = self.running is not None and self.running[0] == seat
        main, periods, into = self.left(seat, at)
        remaining = main
        if self.kind in TURN_BY_TURN:
            limit = self.turn_limit()
            if running and self.is_on_first_turn(seat):
                limit = self.first_turn_limit
            remaining = None if limit is None else max(limit - self.spent(seat, at), 0)
        elif periods and not main:
            remaining = self.period() - into
        return time_control_pb2.SeatClock(
            seat=seat,
            remaining=None if remaining is None else span(remaining),
            periods_left=periods,
            running=running,
        )
