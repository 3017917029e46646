#!/usr/bin/env python3
"""Checks deals of banqi: python3 verify_deal.py FILE [--commitment HEX]
FILE has a game a line, as EXPORT_FORMAT_JSON, or its proof: game_id, deal, and in hexadecimal
server_seed, commitment and entropies (one a seat, empty for none). HEX is the commitment that a
player kept. Exit codes: 0 VERIFIED, 1 FAILED, 2 UNPROVEN. See docs/fairness.md."""
import hashlib, hmac, itertools, json, re, struct, sys

def words(key):
    for counter in itertools.count():
        yield from struct.unpack(">8I", hmac.digest(key, struct.pack(">Q", counter), "sha256"))

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
    colours = ["KAAEERRHHCCPPPPP", "kaaeerrhhccppppp"]
    pieces = [sign + kind for sign in ("", "+") for colour in colours for kind in colour]
    pieces = pieces[: 32 if board == "SINGLE" else 64]
    return " ".join(shuffle(hmac.digest(seed, message, "sha256"), pieces))

def seating(seed, game_id, seats):
    key = hmac.digest(seed, b"banqi-seating-v1\0" + game_id.encode(), "sha256")
    return shuffle(key, range(1, seats + 1))

def check(case, kept=""):
    proof = case.get("proof", case)
    if not proof.get("server_seed"):
        return "UNPROVEN: no seed is told: the game goes on, or its deal was given"
    seed, lies = bytes.fromhex(proof["server_seed"]), proof["deal"].split(" ")
    board, entropies = "SINGLE" if len(lies) == 32 else "DOUBLE", proof["entropies"]
    promises = {proof.get("commitment"), kept or commitment(seed)}
    assert promises == {commitment(seed)}, "another seed was committed to"
    derived = deal(seed, proof["game_id"], map(bytes.fromhex, entropies), board)
    assert derived == proof["deal"], "another deal"
    drawn = seating(seed, proof["game_id"], len(entropies))
    assert proof.get("seating", drawn) == drawn, "another seating"
    records = " ".join(entry.get("record", "") for entry in case.get("log", []))
    for file, rank, piece in re.findall(r"([a-h])([1-8])\((\S+)\)", records):
        dealt = lies["abcdefgh".index(file) + 8 * (int(rank) - 1)]
        assert dealt == piece, f"{file}{rank} was {piece}, but dealt was {dealt}"
    return "VERIFIED" if kept else "UNPROVEN: all fits, but give the commitment that you kept"

if __name__ == "__main__":
    kept, verdicts = sys.argv[3].lower() if sys.argv[2:3] == ["--commitment"] else "", []
    for number, line in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
        try:
            verdicts.append(check(json.loads(line), kept))
            print(f"line {number}: {verdicts[-1]}")
        except (AssertionError, LookupError, TypeError, ValueError) as fault:
            sys.exit(f"line {number}: FAILED: {fault}")
    sys.exit(0 if set(verdicts) == {"VERIFIED"} else 2)
