"""Plays every vector through a running service and compares everything that it answers.

    python rules_client.py HOST:PORT

The modules that protoc made of proto/ must be importable. Nothing here is shared with the service
but those files.
"""

import sys
from collections import Counter

import grpc

from banqi.v1 import action_pb2, position_pb2, result_pb2, rules_pb2
from banqi.v1 import rules_service_pb2 as messages
from banqi.v1.rules_service_pb2_grpc import RulesServiceStub

import vectors

SECONDS_A_CALL = 30
KINDS = dict(
    K="GENERAL", A="ADVISOR", E="ELEPHANT", R="CHARIOT", H="HORSE", C="CANNON", P="SOLDIER"
)
RULE_ENUMS = {
    "cannon": rules_pb2.CannonRule,
    "equals": rules_pb2.EqualsRule,
    "face_down": rules_pb2.FaceDownRule,
    "chariot": rules_pb2.ChariotRule,
    "horse": rules_pb2.HorseRule,
    "repetition": rules_pb2.RepetitionRule,
    "board": rules_pb2.BoardRule,
}
# The default rules of docs/RULES.md §3, by which a rule set is spelled out.
DEFAULT = dict(
    ladder="KAERHCP",
    cannon="JUMP",
    equals="TAKE",
    face_down="SAFE",
    chain=False,
    chariot="STEP",
    horse="STEP",
    quiet_limit=180,
    repetition="DRAW",
    repetition_count=3,
    chase_limit=0,
    board="SINGLE",
    seats=2,
)
PRESETS = {
    "TAIWANESE": {},
    "TCGA": dict(quiet_limit=40),
    "HONG_KONG": dict(ladder="KRHCAEP", cannon="STEP"),
    "MAINLAND": dict(cannon="STEP"),
    "MAINLAND_EXCHANGE": dict(
        cannon="STEP", equals="BOTH_REMOVED", repetition="OFF", chase_limit=10, quiet_limit=300
    ),
    "TAIWANESE_CHAIN": dict(chain=True, quiet_limit=50),
    "TAIWANESE_DARK_CHAIN": dict(
        chain=True, face_down="PROBE", chariot="CHARGE_ANY", horse="DIAGONAL", quiet_limit=50
    ),
    "XIANGQI_CHASE": dict(repetition="ATTACKER_LOSES"),
    "DOUBLE": dict(board="DOUBLE"),
    "DOUBLE_FOUR": dict(board="DOUBLE", seats=4),
}


class Difference(Exception):
    pass


def same(what, found, expected):
    if found != expected:
        raise Difference(f"{what}:\n     found {found}\n  expected {expected}")


# From and to the API's messages


def enum_name(enum, prefix, value):
    name = enum.Name(value)
    assert name.startswith(prefix + "_"), name
    return name[len(prefix) + 1 :]


def prefix_of(enum):
    name = enum.DESCRIPTOR.name
    return "".join("_" + c if c.isupper() else c for c in name).lstrip("_").upper()


def rule_set(fields):
    message = rules_pb2.RuleSet()
    for field, value in fields.items():
        if field in RULE_ENUMS:
            enum = RULE_ENUMS[field]
            value = enum.Value(f"{prefix_of(enum)}_{value}")
        setattr(message, field, value)
    return message


def rule_fields(message):
    fields = {}
    for descriptor in message.DESCRIPTOR.fields:
        if message.HasField(descriptor.name):
            value = getattr(message, descriptor.name)
            if descriptor.name in RULE_ENUMS:
                enum = RULE_ENUMS[descriptor.name]
                value = enum_name(enum, prefix_of(enum), value)
            fields[descriptor.name] = value
    return fields


def piece_name(text):
    colour = ("RED", "BLACK", "BLUE", "GREEN")[2 * text.startswith("+") + text[-1].islower()]
    return f"{colour}_{KINDS[text[-1].upper()]}"


def piece_message_name(piece):
    colour = enum_name(position_pb2.Colour, "COLOUR", piece.colour)
    return f"{colour}_{enum_name(position_pb2.Kind, 'KIND', piece.kind)}"


def square_name(number):
    return None if number == 0 else position_pb2.Square.Name(number).removeprefix("SQUARE_").lower()


def reason_name(number):
    return enum_name(result_pb2.EndReason, "END_REASON", number)


def start(vector):
    """The fields that say where a vector begins."""
    if "deal" in vector:
        return {"deal": vector["deal"]}
    return {"board": board_message(vector)}


def board_message(vector):
    return position_pb2.Board(
        cells=vector["board"],
        to_move=vector["to_move"],
        colours=["-" if colours is None else colours for colours in vector["colours"]],
        quiet_turns=vector["quiet"],
    )


# Comparing


class Client:
    def __init__(self, channel):
        self.service = RulesServiceStub(channel)

    def call(self, method, request):
        return getattr(self.service, method)(request, timeout=SECONDS_A_CALL)

    def replay(self, vector, actions):
        return self.call(
            "ReplayGame",
            messages.ReplayGameRequest(
                rules=rule_set(vector["rules"]), actions=actions, **start(vector)
            ),
        )

    def check(self, vector):
        actions, records = vector["actions"].split(), vector["records"].split()
        answer = self.replay(vector, actions)
        same("illegal", answer.HasField("illegal") and answer.illegal.message, False)
        self.check_records(vector, answer.records, records)
        if "legal_counts" in vector:
            same("legal counts", list(answer.legal_counts), vector["legal_counts"])
        same("final position", answer.final_position, vector["final"])
        check_end(vector, answer)
        if isinstance(vector["legal"], list):
            same("legal actions at the end", texts(answer), vector["legal"])
        else:
            self.check_on_the_way(vector, actions, answer.records)
        if vector["result"]:
            self.check_over(vector, actions)
        else:
            self.analyze(vector, answer)
        if "board" in vector and not actions:
            self.check_start(vector)

    def check_records(self, vector, found, expected):
        same("records", [record.text for record in found], expected)
        board = vectors.Board(vector)
        for record in found:
            fields = board.follow(record.text)
            what = f"fields of {record.text}"
            kind = enum_name(action_pb2.RecordKind, "RECORD_KIND", record.kind)
            same(what, kind, fields["kind"])
            same(what, square_name(getattr(record, "from")), fields.get("from"))
            same(what, square_name(record.to), fields.get("to"))
            for field in ("piece", "turned_up", "captured"):
                told = record.HasField(field) and piece_message_name(getattr(record, field))
                known = fields.get(field)
                same(f"{field} of {record.text}", told, piece_name(known) if known else False)
        turns = [record.turn_number for record in found]
        same("turn numbers", turns, sorted(turns))
        if found:
            same("first turn", turns[0], 1)
            same("first seat", found[0].seat, vector.get("to_move", 1))

    def check_on_the_way(self, vector, actions, records):
        for played, legal in vector["legal"].items():
            answer = self.replay(vector, actions[: int(played)])
            same(f"legal actions after {played}", texts(answer), legal)
            self.analyze(vector, answer)
            # Who acts next, and in which turn, stands in the position before.
            _, to_move, _, _, _, turn = answer.final_position.split(" ")
            record = records[int(played)]
            told = (record.seat, record.turn_number)
            same(f"who played {record.text}, when", told, (int(to_move[0]), int(turn)))

    def analyze(self, vector, replayed):
        """A position by its text allows what it allows within its game."""
        request = messages.AnalyzePositionRequest(
            rules=rule_set(vector["rules"]), position=replayed.final_position
        )
        analyzed = self.call("AnalyzePosition", request)
        same("analyzed position", analyzed.position.text, replayed.final_position)
        # Runs of chases are no part of a position.
        if vector["rules"].get("chase_limit", 0) == 0:
            same("analyzed actions", texts(analyzed), texts(replayed))
        board = vectors.Board(vector)
        for record in replayed.records:
            board.follow(record.text)
        cells = [enum_name(position_pb2.Cell, "CELL", cell) for cell in analyzed.position.cells]
        same("cells", cells, board.cell_names(piece_name))
        hidden = Counter(piece_name(cell[1:]) for cell in board.cells if cell and cell[0] == "?")
        told = {piece_message_name(c.piece): c.count for c in analyzed.position.face_down}
        same("face-down counts", told, dict(hidden))

    def check_start(self, vector):
        request = messages.AnalyzePositionRequest(
            rules=rule_set(vector["rules"]), board=board_message(vector)
        )
        analyzed = self.call("AnalyzePosition", request)
        same("position of a board", analyzed.position.text, vector["final"])
        same("actions of a board", texts(analyzed), vector["legal"])
        check_end(vector, analyzed)

    def check_over(self, vector, actions):
        """After the end, nothing is played any more."""
        answer = self.replay(vector, actions + ["a1"])
        same("illegal after the end", answer.illegal.index, len(actions))
        same("its reason", answer.illegal.reason, "GAME_OVER")
        same("the result besides", answer.HasField("result"), True)

    def check_presets(self):
        answer = self.call("ListPresets", messages.ListPresetsRequest())
        found = {preset.name: rule_fields(preset.rules) for preset in answer.presets}
        same("presets", found, {name: DEFAULT | fields for name, fields in PRESETS.items()})
        same("their order", [preset.name for preset in answer.presets], list(PRESETS))
        for name, fields in PRESETS.items():
            request = messages.CheckRuleSetRequest(preset=name)
            answer = self.call("CheckRuleSet", request)
            same(name, rule_fields(answer.rules), DEFAULT | fields)

    def check_rules(self, vector):
        request = messages.CheckRuleSetRequest(rules=rule_set(vector["rules"]))
        answer = self.call("CheckRuleSet", request)
        same("rule set", rule_fields(answer.rules), DEFAULT | vector["rules"])


def texts(answer):
    return sorted(action.text for action in answer.legal_actions)


def check_end(vector, answer):
    if vector["result"] is None:
        same("result", answer.HasField("result"), False)
    else:
        winner = vector["result"]["winner"]
        same("winners", list(answer.result.winners), [] if winner is None else [winner])
        same("reason", reason_name(answer.result.reason), vector["result"]["reason"])
        seats = [placement.seat for placement in answer.result.placements]
        same("placed seats", seats, list(range(1, len(seats) + 1)))
        same("number of seats", len(seats), vector["rules"].get("seats", 2))
        if "places" in vector:
            places = [placement.place for placement in answer.result.placements]
            same("places", places, vector["places"])
    if "out" in vector:
        found = [(seat.seat, reason_name(seat.reason)) for seat in answer.departures]
        expected = [(seat, group["reason"]) for group in vector["out"] for seat in group["seats"]]
        same("departures", found, expected)


def main(address):
    options = [("grpc.max_receive_message_length", 64 << 20)]
    failures = []
    with grpc.insecure_channel(address, options) as channel:
        client = Client(channel)
        client.check_presets()
        for file in ("positions.jsonl", "games.jsonl", "endgames.jsonl"):
            lines = vectors.read(file)
            for vector in lines:
                try:
                    client.check_rules(vector)
                    client.check(vector)
                except (Difference, grpc.RpcError) as difference:
                    failures.append(f"{vector['name']}: {difference}")
            print(f"{file}: {len(lines)} vectors")
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(f"{len(failures)} vectors differ" if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
