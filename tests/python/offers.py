"""Which offers stand in a game and what each seat may ask, reckoned from its log alone by what
proto/banqi/v1/game.proto, game_service.proto and docs/errors.md say."""

from collections import namedtuple

from banqi.v1 import game_pb2

# One action that counts. `before` is the game as it was told before it.
Step = namedtuple("Step", "seat turn revealed put_out before")


class Offer:
    def __init__(self, seat):
        self.seat, self.accepted = seat, set()

    def told(self):
        return game_pb2.Offer(seat=self.seat, accepted_by=sorted(self.accepted))

    def refusal(self, seat):
        """Why a seat cannot answer; None where it can."""
        if seat == self.seat:
            return "OWN_OFFER"
        return "OFFER_ANSWERED" if seat in self.accepted else None


class Offers:
    def __init__(self):
        self.game = None
        self.draw = self.takeback = None
        # Who has offered a draw since its last action; asked to take back since anybody's.
        self.draw_spent, self.takeback_spent = set(), set()
        # The actions that count, and None where a seat resigned or ran out of time.
        self.line = []
        self.acted = set()

    def others(self, offer):
        return {seat.number for seat in self.game.seats if not seat.out} - {offer.seat}

    # What happened

    def follow(self, event, fields, game):
        """What an entry did. Answers the game as it must be again, where turns were taken back."""
        before, self.game = self.game, game
        restored = None
        if event == "played":
            self.played(fields, before)
        elif event in ("resigned", "timed_out"):
            self.line.append(None)
        elif event == "draw_offered":
            self.draw = Offer(fields["seat"])
            self.draw_spent.add(fields["seat"])
        elif event == "draw_answered":
            self.draw, _ = answered(self.draw, fields, self.others(self.draw))
        elif event == "takeback_requested":
            self.takeback = Offer(fields["seat"])
            self.takeback_spent.add(fields["seat"])
        elif event == "takeback_answered":
            asked = self.takeback
            self.takeback, agreed = answered(asked, fields, self.others(asked))
            if agreed:
                restored = self.take_back(asked.seat)
        over = game.state == game_pb2.GAME_STATE_FINISHED
        if over or (before and len(game.departures) > len(before.departures)):
            self.draw = self.takeback = None
        return restored

    def played(self, record, before):
        put_out = len(self.game.departures) > len(before.departures)
        revealed = record.HasField("turned_up")
        self.line.append(Step(record.seat, record.turn_number, revealed, put_out, before))
        self.acted.add(record.seat)
        self.draw_spent.discard(record.seat)
        if self.draw and self.draw.seat == record.seat:
            self.draw = None
        self.takeback = None
        self.takeback_spent.clear()

    def take_back(self, seat):
        undone = self.undone_by(seat)
        before = self.line[-undone].before
        del self.line[-undone:]
        self.draw = None
        self.takeback_spent.clear()
        return before

    # What may be asked

    def refusal(self, method, seat):
        """The reason that a call must be refused with; None where it must not."""
        if self.game.state == game_pb2.GAME_STATE_FINISHED:
            return "GAME_OVER"
        if self.game.seats[seat - 1].out:
            return "SEAT_OUT"
        return getattr(self, f"refusal_of_{method}")(seat)

    def refusal_of_AbortGame(self, _):
        still_in = {seat.number for seat in self.game.seats if not seat.out}
        return "ABORT_TOO_LATE" if still_in <= self.acted else None

    def refusal_of_OfferDraw(self, seat):
        if self.draw:
            return "DRAW_OFFER_PENDING"
        return "DRAW_OFFER_SPENT" if seat in self.draw_spent else None

    def refusal_of_AnswerDraw(self, seat):
        return self.draw.refusal(seat) if self.draw else "NO_DRAW_OFFER"

    def refusal_of_RequestTakeback(self, seat):
        if self.takeback:
            return "TAKEBACK_PENDING"
        if seat in self.takeback_spent:
            return "TAKEBACK_SPENT"
        undone = self.undone_by(seat) if seat in self.acted else "NOTHING_TO_TAKE_BACK"
        return undone if isinstance(undone, str) else None

    def refusal_of_AnswerTakeback(self, seat):
        return self.takeback.refusal(seat) if self.takeback else "NO_TAKEBACK_REQUEST"

    def undone_by(self, seat):
        """How many actions a seat's takeback takes back, or why it cannot."""
        turn, undone = None, 0
        for step in reversed(self.line):
            if turn is not None and (step is None or step.turn != turn):
                return undone
            if step and step.revealed:
                return "TAKEBACK_REVEALED"
            if step is None or step.put_out:
                return "TAKEBACK_SEAT_OUT"
            if step.seat == seat:
                turn = step.turn
            undone += 1
        return undone if turn is not None else "NOTHING_TO_TAKE_BACK"


def answered(offer, fields, others):
    """The offer after an answer, if it still stands, and whether all have accepted."""
    if not fields["accepted"]:
        return None, False
    offer.accepted.add(fields["seat"])
    return (None, True) if others <= offer.accepted else (offer, False)
