#!/usr/bin/env python3
"""A small engine that speaks the text protocol of Chinese dark chess tournaments (CDC, version 1.1.0).

    engine.py [--stubborn]

Takes what it can, or else turns a piece up, or else moves. It knows the board by what it is told alone, and refuses
what cannot be. A stubborn one always wants to turn up a1.
"""

import random
import sys

FILES, RANKS = "abcd", "12345678"
LADDER = "KGMRNCP"
NAMES = (
    "protocol_version name version known_command list_commands quit boardsize reset_board num_repetition "
    "num_moves_to_draw move flip genmove game_over ready time_settings time_left showboard init_board"
).split()


class Refused(Exception):
    """What cannot be done."""


class Engine:
    def __init__(self, stubborn):
        self.stubborn = stubborn
        self.board = {}

    def protocol_version(self):
        return "1.1.0"

    def name(self):
        return "small"

    def version(self):
        return "1.0"

    def known_command(self, name):
        return "true" if name in NAMES else "false"

    def list_commands(self):
        return " ".join(NAMES)

    def quit(self):
        return ""

    def boardsize(self, files, ranks):
        if (files, ranks) != ("4", "8"):
            raise Refused("the board has 4 files and 8 ranks")
        return ""

    def reset_board(self):
        # X: face down.
        self.board = {file + rank: "X" for file in FILES for rank in RANKS}
        return ""

    def num_repetition(self, number):
        return str(int(number))[:0]

    num_moves_to_draw = num_repetition

    def ready(self):
        return ""

    def game_over(self, winner):
        if winner not in ("red", "black", "draw"):
            raise Refused(f"{winner} cannot win")
        return ""

    def flip(self, square, piece):
        if self.board.get(square) != "X" or piece.upper() not in LADDER:
            raise Refused(f"{square} cannot turn out to be {piece}")
        self.board[square] = piece
        return ""

    def move(self, origin, target):
        if self.board.get(origin, "X") == "X" or self.board.get(target) == "X":
            raise Refused(f"{origin} {target}: nothing there can move so")
        self.board[target] = self.board.pop(origin)
        return ""

    def genmove(self, colour):
        # Programs of this kind print what they think.
        print("thinking...")
        if self.stubborn:
            return "a1 a1"
        captures, moves = [], []
        for square, piece in self.board.items():
            if piece != "X" and colour == ("red" if piece.isupper() else "black"):
                for target in self.reach(square, piece):
                    (captures if target in self.board else moves).append(f"{square} {target}")
        flips = [f"{square} {square}" for square, piece in self.board.items() if piece == "X"]
        return random.choice(captures or flips or moves)

    def reach(self, square, piece):
        for step in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            line = list(self.line(square, step))
            if line and line[0] not in self.board:
                yield line[0]
            if piece in "Cc":
                others = [target for target in line if target in self.board]
                if len(others) > 1 and self.enemies(piece, self.board[others[1]]):
                    yield others[1]
            elif line and line[0] in self.board and self.takes(piece, self.board[line[0]]):
                yield line[0]

    def line(self, square, step):
        file, rank = FILES.index(square[0]) + step[0], RANKS.index(square[1]) + step[1]
        while 0 <= file < len(FILES) and 0 <= rank < len(RANKS):
            yield FILES[file] + RANKS[rank]
            file, rank = file + step[0], rank + step[1]

    @staticmethod
    def enemies(piece, other):
        return other != "X" and piece.isupper() != other.isupper()

    def takes(self, piece, other):
        if not self.enemies(piece, other):
            return False
        kinds = piece.upper(), other.upper()
        if kinds in (("K", "P"), ("P", "K")):
            return kinds == ("P", "K")
        return LADDER.index(kinds[0]) <= LADDER.index(kinds[1])


def main():
    engine = Engine("--stubborn" in sys.argv[1:])
    for line in sys.stdin:
        number, name, *arguments = line.split()
        try:
            if NAMES[int(number)] != name:
                raise Refused(f"{name} is not command {number}")
            answer = f"={number} {getattr(engine, name)(*arguments)}"
        except (Refused, TypeError, AttributeError, ValueError) as refused:
            answer = f"?{number} {refused}"
        print(answer.strip(), flush=True)
        if name == "quit":
            break


if __name__ == "__main__":
    main()
