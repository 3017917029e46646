#!/usr/bin/env python3
"""Checks deals of banqi: python3 verify_deal.py FILE [--commitment HEX]
FILE has a game, or one a line, as EXPORT_FORMAT_JSON, or its proof: game_id, deal, and in
hexadecimal server_seed, commitment and entropies (one a seat, empty for none). HEX is the commitment
that a player kept. Exit codes: 0 VERIFIED, 1 FAILED, 3 UNPROVEN. See docs/fairness.md, also for what
is yours to compare: the game's id and your entropy."""
import argparse, hashlib, hmac, itertools, json, re, struct, sys

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

def require(holds, fault):
    if not holds:
        raise ValueError(fault)

def check(case, kept=""):
    require(isinstance(case, dict), "this is no game")
    proof = case.get("proof", case)
    require("game_id" in proof and "entropies" in proof, "this is no export, and no proof of a game")
    require(case.get("game_id") in (None, proof["game_id"]), "the proof is another game's")
    if not proof.get("server_seed"):
        return "UNPROVEN: no seed is told: the game goes on, or its deal was given"
    seed, lies = bytes.fromhex(proof["server_seed"]), proof["deal"].split(" ")
    board, entropies = "SINGLE" if len(lies) == 32 else "DOUBLE", proof["entropies"]
    seats = {len(case["seats"])} if "proof" in case else {2} if board == "SINGLE" else {2, 4}
    require(len(entropies) in seats, "not one entropy a seat")
    require(all(len(entropy) <= 128 for entropy in entropies), "an entropy of more than 64 bytes")
    promises = {proof.get("commitment"), kept or commitment(seed)}
    require(promises == {commitment(seed)}, "another seed was committed to")
    derived = deal(seed, proof["game_id"], map(bytes.fromhex, entropies), board)
    require(derived == proof["deal"], "another deal")
    drawn = seating(seed, proof["game_id"], len(entropies))
    require(proof.get("seating", drawn) == drawn, "another seating")
    flips = re.compile(r"([a-h])([1-8])\((\S+)\)")
    turned_up = flips.findall(" ".join(entry.get("record", "") for entry in case.get("log", [])))
    told = flips.findall(" ".join(case.get("actions", [])))
    require(told == turned_up or "proof" not in case, "actions and log do not tell the same")
    for file, rank, piece in turned_up:
        dealt = lies["abcdefgh".index(file) + 8 * (int(rank) - 1)]
        require(dealt == piece, f"{file}{rank} was {piece}, but dealt was {dealt}")
    hidden = case["position"].split(" ")[0].count("X") if "proof" in case else len(lies)
    require(len(turned_up) == len(lies) - hidden, "the log does not tell all that was turned up")
    return "VERIFIED" if kept else "UNPROVEN: all fits, but give the commitment that you kept"

def games(text):
    try:
        return [json.loads(text)]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]

if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=argparse.FileType(encoding="utf-8"))
    options.add_argument("--commitment", default="", metavar="HEX", type=str.lower)
    options, verdicts = options.parse_args(), []
    try:
        for number, case in enumerate(games(options.file.read()), 1):
            verdicts.append(check(case, options.commitment))
            print(f"game {number}: {verdicts[-1]}")
    except (AttributeError, LookupError, TypeError, ValueError) as fault:
        sys.exit(f"game {len(verdicts) + 1}: FAILED: {fault}")
    sys.exit(0 if set(verdicts) == {"VERIFIED"} else 3)
