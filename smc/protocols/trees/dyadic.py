"""Dyadic ranges: points and one-sided ranges as nodes of a complete binary tree (thesis, section 8.1.2).

Leaves are numbered from 0 here and in all protocols (erratum 1: section 2.3.3 counts from 0, section 8.1.2
from 1; this is the one place of the shift). The node of layer i above leaf x is x >> i. Layers are
0..bits, but the root (layer `bits`) stands for every leaf and is left out, so a range that *is* the root
is flagged as `whole` instead (thesis, "Improvement").
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cover:
    """The cover of a one-sided range below the root.

    Attributes:
        nodes: for each layer 0..bits-1 the index of the covering node, or None (Lemma 8.2: at most one).
        whole: the range is all leaves, so that its only node is the root.
    """

    nodes: tuple[int | None, ...]
    whole: bool


def point_nodes(point: int, bits: int) -> tuple[int, ...]:
    """The nodes of layers 0..bits-1 above a leaf (thesis, "Point Encoding")."""
    return tuple(point >> layer for layer in range(bits))


def cover_from(start: int, bits: int) -> Cover:
    """The cover of [start, 2**bits), for 0 <= start < 2**bits (thesis, eq. 8.1)."""
    firsts = [-(-start >> layer) for layer in range(bits)]
    return Cover(tuple(first if first & 1 else None for first in firsts), start == 0)


def cover_below(end: int, bits: int) -> Cover:
    """The cover of [0, end), for 0 <= end <= 2**bits; empty for end 0 (erratum 8)."""
    ends = [end >> layer for layer in range(bits)]
    return Cover(tuple(past - 1 if past & 1 else None for past in ends), end == 1 << bits)


def pack(layer: int, index: int, bits: int) -> int:
    """An injective number for a node, below 2**(2 * bits + 1) (erratum 4: no hash is needed)."""
    return layer << bits | index
