"""Checks that a deal is the one that was committed to (docs/fairness.md)."""

from __future__ import annotations

import enum
import hashlib
import hmac
import itertools
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from banqi_client import v1

Item = TypeVar("Item")

_LONGEST_ENTROPY = 64
_TURNED_UP = re.compile(r"([a-h])([1-8])\((\+?[A-Za-z])\)")


class Fault(enum.Enum):
    """What does not hold."""

    UNPROVEN = "no seed is told, or no commitment was kept"
    COMMITMENT = "another seed was committed to, by the proof itself"
    KEPT_COMMITMENT = "another seed was committed to, as the verifier knows"
    ENTROPY = "a seat's entropy is not what it added"
    DEAL = "the deal is not the one that follows"
    TURNED_UP = "a piece that was turned up is not the one that was dealt"


@dataclass(frozen=True)
class Proof:
    """What is told of a deal once its game has ended."""

    game_id: str
    commitment: bytes
    """What was committed to."""
    entropies: Sequence[bytes]
    """What each seat added, in seat order."""
    server_seed: bytes
    """What the deal was derived from."""
    deal: str
    """The pieces in index order."""

    @classmethod
    def of(cls, game_id: str, answer: v1.GetFairnessProofResponse) -> Proof:
        """The proof in an answer about a game."""
        return cls(game_id, answer.commitment, list(answer.entropies), answer.server_seed, answer.deal)


@dataclass(frozen=True)
class Kept:
    """What the verifier knows for himself: without the commitment that he kept a proof proves nothing."""

    commitment: bytes
    """That of the first answer about the game."""
    entropies: Mapping[int, bytes] = field(default_factory=dict)
    """The seats for which he added entropy, from 1, and that."""
    records: Iterable[str] = ()
    """What was turned up, as the records say it: `b3(K)`, `b3xb4(p)`."""


def commitment(server_seed: bytes) -> bytes:
    """SHA-256 of the label and the seed."""
    return hashlib.sha256(b"banqi-deal-v1\0" + server_seed).digest()


def derive_deal(server_seed: bytes, game_id: str, entropies: Sequence[bytes], squares: int) -> str:
    """The deal of a game on a board with 32 or 64 squares, as text."""
    parts = b"".join(bytes([len(entropy)]) + entropy for entropy in entropies)
    key = hmac.digest(server_seed, game_id.encode() + b"\0" + parts, "sha256")
    pieces = list("KAAEERRHHCCPPPPPkaaeerrhhccppppp")
    if squares != len(pieces):
        pieces += [f"+{piece}" for piece in pieces]
    return " ".join(_shuffled(key, pieces))


def verify_deal(proof: Proof, kept: Kept) -> list[Fault]:
    """Every fault that a proof has; none: the deal is the one that was committed to."""
    if not proof.server_seed or not kept.commitment:
        return [Fault.UNPROVEN]
    return list(dict.fromkeys(_faults(proof, kept)))


def _faults(proof: Proof, kept: Kept) -> Iterator[Fault]:
    committed = commitment(proof.server_seed)
    if proof.commitment != committed:
        yield Fault.COMMITMENT
    if kept.commitment != committed:
        yield Fault.KEPT_COMMITMENT
    for seat, entropy in kept.entropies.items():
        if not 1 <= seat <= len(proof.entropies) or proof.entropies[seat - 1] != entropy:
            yield Fault.ENTROPY
    pieces = proof.deal.split(" ")
    if any(len(entropy) > _LONGEST_ENTROPY for entropy in proof.entropies):
        yield Fault.ENTROPY
    elif derive_deal(proof.server_seed, proof.game_id, proof.entropies, len(pieces)) != proof.deal:
        yield Fault.DEAL
    for record in kept.records:
        for file, rank, piece in _TURNED_UP.findall(record):
            square = "abcdefgh".index(file) + 8 * (int(rank) - 1)
            if pieces[square : square + 1] != [piece]:
                yield Fault.TURNED_UP


def _shuffled(key: bytes, given: Sequence[Item]) -> list[Item]:
    items, source = list(given), _words(key)
    for i in range(len(items) - 1, 0, -1):
        limit = 2**32 // (i + 1) * (i + 1)
        j = next(word for word in source if word < limit) % (i + 1)
        items[i], items[j] = items[j], items[i]
    return items


def _words(key: bytes) -> Iterator[int]:
    for counter in itertools.count():
        yield from struct.unpack(">8I", hmac.digest(key, struct.pack(">Q", counter), "sha256"))
