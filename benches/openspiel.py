#!/usr/bin/env python3
"""Compares this engine with OpenSpiel's `banqi` on the same games, in one run.

    benches/openspiel.py [--least RATIO]

Both play the same random Taiwanese games again: OpenSpiel through its Python API (`legal_actions`,
`apply_action`), this engine through its Rust API; once with all legal actions listed before each
action, once without. Before anything is timed, both must list equally many legal actions before
every action. Exits with 1 where they differ, or where this engine, listing, is less than RATIO
times as fast.

OpenSpiel is installed into a virtual environment below the target directory.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import venv
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
OPENSPIEL = "open_spiel==2.0.2"
ROUNDS = 9

# OpenSpiel numbers what a flip turns up: red, then black, in this order.
PIECES = "KAERHCPkaerhcp"


def inside_environment():
    """Starts this script again where OpenSpiel is installed, unless that is here."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", TOP / "target"))
    directory = (TOP / target / "openspiel").resolve()
    if Path(sys.prefix).resolve() == directory:
        return
    made = directory / "made-for"
    if not made.exists() or made.read_text() != OPENSPIEL:
        print(f"installing {OPENSPIEL}", file=sys.stderr)
        venv.create(directory, with_pip=True, clear=True)
        pip = [directory / "bin/python", "-m", "pip", "install", "--quiet",
               "--disable-pip-version-check", OPENSPIEL]
        subprocess.run(pip, check=True)
        made.write_text(OPENSPIEL)
    python = directory / "bin/python"
    os.execv(python, [python, __file__, *sys.argv[1:]])


def our_side():
    """Our games, and how long playing all of them again takes, in nanoseconds."""
    command = ["cargo", "bench", "--quiet", "--bench", "openspiel"]
    output = subprocess.run(command, cwd=TOP, check=True, stdout=subprocess.PIPE).stdout
    measured = json.loads(output)
    return measured["games"], measured["nanoseconds"]


def square(text):
    return "abcdefgh".index(text[0]) + 8 * (int(text[1]) - 1)


def steps(record):
    """What OpenSpiel is told of one record: an action, and after a flip what it turned up."""
    if "(" in record:
        return [square(record[:2]), PIECES.index(record[3])]
    return [32 + 32 * square(record[:2]) + square(record[3:])]


def check(game, recorded):
    """Both engines list equally many legal actions before every action of a game."""
    state = game.new_initial_state()
    for number, (record, ours) in enumerate(zip(recorded["records"], recorded["legal_counts"])):
        theirs = len(state.legal_actions())
        if state.is_terminal() or theirs != ours:
            sys.exit(f"before action {number + 1}, {record}: OpenSpiel lists {theirs} legal "
                     f"actions, this engine {ours}\n{state}")
        for step in steps(record):
            state.apply_action(step)


def replay(game, played, listing):
    """Plays all games again in OpenSpiel."""
    for turns in played:
        state = game.new_initial_state()
        for turn in turns:
            if listing:
                state.legal_actions()
            for step in turn:
                state.apply_action(step)


def fastest(run):
    """The fastest of some rounds, in nanoseconds: what the machine does besides only adds to it."""
    rounds = []
    for _ in range(ROUNDS):
        began = time.perf_counter_ns()
        run()
        rounds.append(time.perf_counter_ns() - began)
    return min(rounds)


def main():
    import pyspiel

    arguments = argparse.ArgumentParser(usage="benches/openspiel.py [--least RATIO]")
    arguments.add_argument("--least", type=float, default=0.0, metavar="RATIO")
    least = arguments.parse_args().least
    games, before = our_side()
    # OpenSpiel counts turns without progress in its own way; these games end by our count.
    game = pyspiel.load_game("banqi", {"max_no_progress": 1000})
    for recorded in games:
        check(game, recorded)
    played = [[steps(record) for record in recorded["records"]] for recorded in games]
    actions = sum(len(turns) for turns in played)
    theirs = {"listing": fastest(lambda: replay(game, played, True)),
              "playing": fastest(lambda: replay(game, played, False))}
    _, after = our_side()
    print(f"{len(games)} random Taiwanese games, {actions} actions; both engines list equally many "
          f"legal actions before every one of them. Nanoseconds an action:")
    print(f"{'':28}{OPENSPIEL:>22}{'this engine':>14}{'ratio':>8}")
    for what, name in [("listing", "listed and played"), ("playing", "played alone")]:
        # The slower of two measurements, one before and one after OpenSpiel's.
        ours = max(before[what], after[what])
        ratio = theirs[what] / ours
        print(f"{name:28}{theirs[what] / actions:22.0f}{ours / actions:14.1f}{ratio:8.1f}")
        if what == "listing" and ratio < least:
            print(f"the ratio is {ratio:.1f}, but must be at least {least}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    inside_environment()
    sys.exit(main())
