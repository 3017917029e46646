"""Checks the verifier: python deals.py FILE, where FILE has the vectors of deals."""

import dataclasses
import json
import sys

from banqi_client.verify import Fault, Kept, Proof, commitment, derive_deal, verify_deal


def same(found, expected):
    if found != expected:
        sys.exit(f"found {found}, expected {expected}")


def check(line):
    case = json.loads(line)
    seed, entropies = bytes.fromhex(case["server_seed"]), [bytes.fromhex(entropy) for entropy in case["entropies"]]
    pieces = case["deal"].split(" ")
    same(commitment(seed).hex(), case["commitment"])
    same(derive_deal(seed, case["game_id"], entropies, len(pieces)), case["deal"])

    proof = Proof(case["game_id"], commitment(seed), entropies, seed, case["deal"])
    kept = Kept(commitment(seed), {1: entropies[0]}, [f"a1({pieces[0]})", f"a1xb1({pieces[1]})", "b1-c1"])
    same(verify_deal(proof, kept), [])

    another = "K" if pieces[0] != "K" else "P"
    swapped = dataclasses.replace(proof, deal=" ".join(reversed(pieces)))
    same(verify_deal(dataclasses.replace(proof, server_seed=b""), kept), [Fault.UNPROVEN])
    same(verify_deal(proof, dataclasses.replace(kept, commitment=b"")), [Fault.UNPROVEN])
    same(verify_deal(dataclasses.replace(proof, commitment=b"x"), kept), [Fault.COMMITMENT])
    same(verify_deal(proof, dataclasses.replace(kept, commitment=b"x")), [Fault.KEPT_COMMITMENT])
    same(verify_deal(proof, dataclasses.replace(kept, entropies={2: b"another"})), [Fault.ENTROPY])
    same(verify_deal(proof, dataclasses.replace(kept, entropies={9: b""})), [Fault.ENTROPY])
    same(verify_deal(swapped, Kept(commitment(seed))), [Fault.DEAL])
    same(verify_deal(proof, dataclasses.replace(kept, records=[f"a1({another})"])), [Fault.TURNED_UP])


with open(sys.argv[1], encoding="utf-8") as vectors:
    lines = vectors.read().splitlines()
for line in lines:
    check(line)
print(len(lines), "deals")
