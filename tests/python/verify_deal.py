#!/usr/bin/env python3
"""Checks deals of banqi: python3 verify_deal.py deals.jsonl

Each line has the server seed and the entropies (hexadecimal, one a seat, empty for none), the game's
id, and what they must lead to: the commitment, the deal, the order of seats drawn at random.
"""
import hashlib, hmac, json, struct, sys

def words(key):
    counter = 0
    while True:
        yield from struct.unpack(">8I", hmac.digest(key, struct.pack(">Q", counter), "sha256"))
        counter += 1

def shuffle(key, items):
    items, source = list(items), words(key)
    for i in range(len(items) - 1, 0, -1):
        limit = 2**32 // (i + 1) * (i + 1)
        j = next(word for word in source if word < limit) % (i + 1)
        items[i], items[j] = items[j], items[i]
    return items

def commitment(seed):
    return hashlib.sha256(b"banqi-deal-v1\0" + seed).hexdigest()

def deal(seed, game_id, entropies, board):
    message = game_id.encode() + b"\0" + b"".join(bytes([len(e)]) + e for e in entropies)
    colours = [str.upper, str.lower, lambda s: "+" + s, lambda s: "+" + s.lower()]
    colours = colours[: 2 if board == "SINGLE" else 4]
    pieces = [paint(letter) for paint in colours for letter in "KAAEERRHHCCPPPPP"]
    return " ".join(shuffle(hmac.digest(seed, message, "sha256"), pieces))

def seating(seed, game_id, seats):
    key = hmac.digest(seed, b"banqi-seating-v1\0" + game_id.encode(), "sha256")
    return shuffle(key, range(1, seats + 1))

def check(case):
    seed = bytes.fromhex(case["server_seed"])
    entropies = [bytes.fromhex(e) for e in case["entropies"]]
    assert commitment(seed) == case["commitment"], "another seed was committed to"
    assert deal(seed, case["game_id"], entropies, case["board"]) == case["deal"], "another deal"
    assert seating(seed, case["game_id"], len(entropies)) == case["seating"], "another seating"

if __name__ == "__main__":
    cases = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
    for number, case in enumerate(cases, 1):
        try:
            check(case)
        except AssertionError as fault:
            sys.exit(f"line {number}: {fault}")
    print(f"{len(cases)} deals are what they should be")
