"""Engines: the families of protocols that compare plain values, with what the planner has to know of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_OBJECTS: Final = 1 << 16
_ARRAYS: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Engine:
    """A family of comparisons on plain values, by the name that a job gives.

    Attributes:
        name: unique and stable.
        reference: it keeps to its paper around the comparison too: no protocol that improves another.
        baseline: a protocol of the literature, here to be measured against.
        pools: its comparisons can be made out of a pool.
        chunk: most comparisons at once: less where each of them is a Python object.
        sample: of so many comparisons the cost of one is known: what is padded or made in portions costs
            too much in smaller numbers.
    """

    name: str
    reference: bool = False
    baseline: bool = False
    pools: bool = False
    chunk: int = _OBJECTS
    sample: int = 64


PAILLIER: Final = Engine("paillier", reference=True)
"""The thesis's protocol, which is the reference."""

ELGAMAL: Final = Engine("elgamal")

DGK: Final = Engine("dgk")
"""Below 128 bits of security."""

OBLIVIOUS: Final = Engine("oblivious", pools=True, chunk=_ARRAYS)
"""Oblivious transfer pads a batch to whole words of 64."""

SILENT: Final = Engine("silent", chunk=_ARRAYS, sample=1 << 16)
"""Silent transfer makes a first portion of about 10,000 at once."""


def baseline(name: str) -> Engine:
    """The engine of one protocol of the literature."""
    return Engine(name, reference=True, baseline=True)
