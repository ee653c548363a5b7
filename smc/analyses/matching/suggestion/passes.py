"""Passes that bring the most persons of two registers together, one after the other.

Of all keys of two or three parts that key is taken first at which most rows of the same person meet, each
the first of its side under the key; then the key at which most of the others do, and so on. Keys that leave
out too many rows, because several have the same, are not considered.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.suggestion.errors import Texts
from smc.analyses.matching.suggestion.keys import DAY, MONTH_DAY, YEAR, YEAR_MONTH, Key, Part, write
from smc.analyses.matching.suggestion.roles import BORN, GIVEN, HOUSE, POSTCODE, STREET, SURNAME, TOWN
from smc.analyses.matching.tolerant.blocking import KeyPart
from smc.pieces import each

Index = NDArray[np.int64]

_FUNCTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    GIVEN: ("value", "prefix1", "prefix3", "soundex"),
    SURNAME: ("value", "prefix3", "soundex"),
    BORN: ("value", YEAR, YEAR_MONTH, MONTH_DAY, DAY),
    POSTCODE: ("value",),
    TOWN: ("value", "soundex"),
    STREET: ("value", "prefix3"),
    HOUSE: ("value",),
}
_PARTS: Final = (2, 3)
_MOST_FULL: Final = ((20_000, 0.1), (0, 0.15))
"""From so many rows of a register on, the largest share of rows with a key that may have that of an earlier
one: less than what a run refuses, as registers are smaller than their file. In large files such rows bring
false pairs, in small ones persons whom no finer key finds."""


def choose_passes(
    alice: Texts, bob: Texts, truth: Index, compared: Sequence[str], count: int, *, has_dashes: bool
) -> list[Key]:
    """The best passes.

    Args:
        alice: one register, by roles.
        bob: the other one.
        truth: Bob's row of each of Alice's persons, or -1.
        compared: roles in the order of the job's fields; the first that a key does not take orders its rows.
        count: of passes, at most.
        has_dashes: as of `write`.
    """
    registers = [_Register.of(side, compared, has_dashes=has_dashes) for side in (alice, bob)]
    rows = np.flatnonzero(truth >= 0)
    partners = truth[rows]
    most_full = next(share for least, share in _MOST_FULL if len(truth) >= least)
    met = {}
    for key in each([*_keys(alice, compared)]):
        first, second = (one.firsts(key) for one in registers)
        if min(first.kept, second.kept) >= 1 - most_full:
            met[key] = (
                (first.hashes[rows] == second.hashes[partners]) & first.chosen[rows] & second.chosen[partners]
            )
    taken: list[Key] = []
    left = np.ones(len(rows), dtype=np.bool_)
    while met and len(taken) < count:
        best = max(met, key=lambda key: int((met[key] & left).sum()))
        if not (met[best] & left).any():
            break
        left &= ~met.pop(best)
        taken.append(best)
    return taken


def _keys(texts: Texts, compared: Sequence[str]) -> Iterator[Key]:
    """All keys of roles that there are, but for those that would order rows by nothing."""
    roles = [role for role in _FUNCTIONS if role in texts]
    for count in _PARTS:
        for chosen in combinations(roles, count):
            if set(compared) <= set(chosen):
                continue
            for functions in product(*(_FUNCTIONS[role] for role in chosen)):
                yield tuple(zip(chosen, functions, strict=True))


@dataclass(frozen=True, slots=True)
class _Firsts:
    """The rows of a key.

    Attributes:
        hashes: of each row's key.
        chosen: which rows are the first of their key.
        kept: their share of the rows that have a key.
    """

    hashes: NDArray[np.uint64] = field(repr=False)
    chosen: NDArray[np.bool_] = field(repr=False)
    kept: float


@dataclass(slots=True)
class _Register:
    """One register, its parts hashed.

    Attributes:
        texts: by roles.
        orders: rows in the order of a hash of each role's texts.
        has_dashes: as of `write`.
        parts: a hash of each row's part, and whether it has one, by part.
    """

    texts: Texts
    orders: Mapping[str, Index]
    has_dashes: bool
    parts: dict[Part, tuple[NDArray[np.uint64], NDArray[np.bool_]]] = field(default_factory=dict)

    @classmethod
    def of(cls, texts: Texts, compared: Sequence[str], *, has_dashes: bool) -> _Register:
        orders = {role: np.argsort(_hashes(texts[role], "order"), kind="stable") for role in compared}
        return cls(texts, orders, has_dashes)

    def part(self, part: Part) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        if part not in self.parts:
            (name,) = write((part,), "", has_dashes=self.has_dashes)
            spoken = KeyPart.parse(name, name)
            memo = {text: spoken.of(text) for text in each(set(self.texts[part[0]]))}
            found = [memo[text] for text in self.texts[part[0]]]
            self.parts[part] = _hashes(found, str(part)), np.array([bool(text) for text in found])
        return self.parts[part]

    def firsts(self, key: Key) -> _Firsts:
        parts = [self.part(part) for part in key]
        hashes: NDArray[np.uint64] = np.sum([own for own, _ in parts], axis=0, dtype=np.uint64)
        keyed: NDArray[np.bool_] = np.all([some for _, some in parts], axis=0)
        order = next(order for role, order in self.orders.items() if role not in dict(key))
        order = order[keyed[order]]
        first = order[np.unique(hashes[order], return_index=True)[1]]
        chosen = np.zeros(len(hashes), dtype=np.bool_)
        chosen[first] = True
        return _Firsts(hashes, chosen, len(first) / max(1, len(order)))


def _hashes(texts: Sequence[str], salt: str) -> NDArray[np.uint64]:
    """A random-looking word of each text, the same on both registers."""
    memo: dict[str, int] = {}
    for text in texts:
        if text not in memo:
            digest = hashlib.blake2b(text.encode(), key=salt.encode(), digest_size=8).digest()
            memo[text] = int.from_bytes(digest, "big")
    return np.array([memo[text] for text in texts], dtype=np.uint64)
