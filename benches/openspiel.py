#!/usr/bin/env python3
"""Compares this engine with OpenSpiel's `banqi`, in one run.

    benches/openspiel.py [--least RATIO]

Random games, every legal action equally likely, are played from new deals to their end: by this
engine; by OpenSpiel as it is driven from Python (`is_terminal`, `is_chance_node`, `legal_actions`,
`chance_outcomes`, `apply_action`); and by OpenSpiel's own rollouts, which are C++ and never come
back to Python (its MCTS bot with one simulation of many rollouts).

Besides, both play the same Taiwanese games again: OpenSpiel through its Python API
(`legal_actions`, `apply_action`), this engine through its Rust API; once with all legal actions
listed before each action, once without. Before anything is timed, both must list equally many
legal actions before every action.

Exits with 1 where they differ, or where this engine's random games are less than RATIO times as
fast, a turn, as those driven from Python.

OpenSpiel is installed into a virtual environment below the target directory.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
import venv
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
OPENSPIEL = "open_spiel==2.0.2"
ROUNDS = 9

# In a round of theirs.
NEW_GAMES = 100
ROLLOUTS = 2_000

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
    """Our games, how long playing all of them again takes, in nanoseconds, and the same of new ones."""
    command = ["cargo", "bench", "--quiet", "--bench", "openspiel"]
    output = subprocess.run(command, cwd=TOP, check=True, stdout=subprocess.PIPE).stdout
    measured = json.loads(output)
    new = measured["new"]
    return measured["games"], measured["nanoseconds"], new["nanoseconds"] / new["turns"], new


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


def play_new(game):
    """Plays new games in OpenSpiel as a program in Python does; says how many turns they took."""
    draw, turns = random.Random(0), 0
    for _ in range(NEW_GAMES):
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes, weights = zip(*state.chance_outcomes())
                state.apply_action(draw.choices(outcomes, weights)[0])
            else:
                state.apply_action(draw.choice(state.legal_actions()))
                turns += 1
    return turns


def roll_out(pyspiel, game):
    """Lets OpenSpiel play new games by itself."""
    evaluator = pyspiel.RandomRolloutEvaluator(ROLLOUTS, 0)
    # Exploration, one simulation, megabytes, no solving, seed, not verbose.
    bot = pyspiel.MCTSBot(game, evaluator, 2.0, 1, 100, False, 0, False)
    bot.step(game.new_initial_state())


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
    games, before, new_before, new = our_side()
    # OpenSpiel counts turns without progress in its own way; these games end by our count.
    game = pyspiel.load_game("banqi", {"max_no_progress": 1000})
    for recorded in games:
        check(game, recorded)
    played = [[steps(record) for record in recorded["records"]] for recorded in games]
    actions = sum(len(turns) for turns in played)
    listing = fastest(lambda: replay(game, played, True)) / actions
    playing = fastest(lambda: replay(game, played, False)) / actions
    game = pyspiel.load_game("banqi", {"max_no_progress": 50})
    turns = play_new(game)
    driven = fastest(lambda: play_new(game)) / turns
    rolled = fastest(lambda: roll_out(pyspiel, game)) / ROLLOUTS / (turns / NEW_GAMES)
    _, after, new_after, _ = our_side()
    # The slower of two measurements, one before and one after OpenSpiel's.
    ours = {what: max(before[what], after[what]) / actions for what in before}
    random_games = max(new_before, new_after)

    print(f"Random games of {new['turns'] / new['games']:.0f} turns here and {turns / NEW_GAMES:.0f} there; "
          f"{len(games)} games played again, {actions} actions, before every one of which both "
          f"engines list equally many legal actions. Nanoseconds a turn:")
    print(f"{'':42}{OPENSPIEL:>18}{'this engine':>14}{'ratio':>8}")
    for name, their, our in [("random games, driven from Python", driven, random_games),
                             ("random games, OpenSpiel's own rollouts", rolled, random_games),
                             ("played again, all legal actions listed", listing, ours["listing"]),
                             ("played again, nothing listed", playing, ours["playing"])]:
        print(f"{name:42}{their:18.0f}{our:14.1f}{their / our:8.1f}")
    ratio = driven / random_games
    if ratio < least:
        print(f"the ratio is {ratio:.1f}, but must be at least {least}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    inside_environment()
    sys.exit(main())
