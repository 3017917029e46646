#!/usr/bin/env python3
"""Makes tests/vectors/deals.jsonl: PYTHONPATH=../../tools python3 make_deals.py > deals.jsonl

Everything is drawn from hashes of the line's number, so that it comes out the same each time.
"""
import hashlib, json
from verify_deal import commitment, deal, seating

def draw(label, length):
    return hashlib.shake_256(label.encode()).digest(length)

def case(number):
    board, seats = [("SINGLE", 2), ("DOUBLE", 2), ("DOUBLE", 4)][number % 3]
    seed = draw(f"seed {number}", 32)
    game_id = ["g", f"game-{number}", f"id_{number}".ljust(36, "x"), "L" * 64][number % 4]
    lengths = [draw(f"length {number} {seat}", 1)[0] % 65 for seat in range(seats)]
    if number < 9:  # The ends of the range, and no entropy at all.
        lengths = [[0] * seats, [1, 64] * (seats // 2), [64] * seats][number // 3]
    entropies = [draw(f"entropy {number} {seat}", n) for seat, n in enumerate(lengths)]
    return {
        "board": board,
        "game_id": game_id,
        "server_seed": seed.hex(),
        "entropies": [entropy.hex() for entropy in entropies],
        "commitment": commitment(seed),
        "deal": deal(seed, game_id, entropies, board),
        "seating": seating(seed, game_id, seats),
    }

for number in range(60):
    print(json.dumps(case(number), separators=(",", ":")))
