"""Reads tests/vectors and keeps a board from records: what the client compares the service with."""

import json
import re
from pathlib import Path

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

RECORD = re.compile(
    r"(?P<from>[a-h][1-8])(?:(?P<sign>[-x?#*])(?P<to>[a-h][1-8]))?(?:\((?P<turned_up>\+?[A-Za-z])\))?"
)
KIND_OF_SIGN = {
    None: "FLIP",
    "-": "MOVE",
    "x": "CAPTURE",
    "?": "PROBE",
    "#": "TRADE",
    "*": "BOTH_REMOVED",
}


def read(name):
    with open(VECTORS / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def index(square):
    return ord(square[0]) - ord("a") + 8 * (int(square[1]) - 1)


class Board:
    """What lies where, by square index: None, "K" face up, "?K" face down."""

    def __init__(self, vector):
        if "deal" in vector:
            self.cells = ["?" + piece for piece in vector["deal"].split()]
        else:
            self.cells = [None if cell == "." else cell for cell in vector["board"].split()]

    def follow(self, text):
        """Does what a record says; answers its fields, as the service should tell them."""
        if text == "end":
            return {"kind": "END_CHAIN"}
        parts = RECORD.fullmatch(text).groupdict()
        start, sign = index(parts["from"]), parts["sign"]
        fields = {"kind": KIND_OF_SIGN[sign], "from": parts["from"], "turned_up": parts["turned_up"]}
        if sign is None:
            self.cells[start] = parts["turned_up"]
            return fields
        end = index(parts["to"])
        fields |= {"to": parts["to"], "piece": self.cells[start]}
        if parts["turned_up"]:
            self.cells[end] = parts["turned_up"]
        if sign in "x*":
            fields["captured"] = self.cells[end]
        if sign in "-x*#":
            moved, self.cells[start] = self.cells[start], None
            if sign in "-x":
                self.cells[end] = moved
            elif sign == "*":
                self.cells[end] = None
        return fields

    def cell_names(self, piece_name):
        """The cells as everyone sees them, by the names of the API's enum."""
        return [
            "EMPTY" if cell is None else "FACE_DOWN" if cell[0] == "?" else piece_name(cell)
            for cell in self.cells
        ]
