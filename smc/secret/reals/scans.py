"""Numbers rounded to the nearest, and products of many of them up to each place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smc.errors import UsageError
from smc.secret.ints import SecretInts, concatenate
from smc.secret.sharing.fixed import Fixed


def prefix_products(factors: SecretInts, at: Sequence[int] | None) -> SecretInts:
    """Products of each row up to places, these included: of blocks level by level, then of all blocks before.

    Args:
        factors: from -1 to 1, shape (rows, length).
        at: ascending places; None for all.

    Returns:
        Shape (rows, places), at the scale of the factors, each product of two rounded to the nearest.

    Raises:
        UsageError: the places are none, not ascending, or beyond the end.
    """
    return _scan(_reduce(factors, _blocks(factors.shape[1], at)))


def round_to(ints: SecretInts, scale: int) -> SecretInts:
    """At another scale, rounded to the nearest, halves up."""
    if scale >= ints.scale:
        return ints.rescale(scale)
    half = Fixed(np.array(1 << (ints.scale - scale - 1), dtype=np.int64), ints.scale)
    return (ints + half).rescale(scale)


def _blocks(length: int, at: Sequence[int] | None) -> list[list[int]]:
    """The places from each wanted one back to the one behind the last."""
    places = list(range(length)) if at is None else [int(place) for place in at]
    if not places or places != sorted(set(places)) or places[0] < 0 or places[-1] >= length:
        raise UsageError(
            "cumprod: the places are none, not ascending, or beyond the end.",
            "Give places in ascending order.",
        )
    ends = [place + 1 for place in places]
    return [list(range(start, end)) for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def _reduce(factors: SecretInts, held: list[list[int]]) -> SecretInts:
    """The product of each block of places, shape (rows, blocks)."""
    values = factors
    while any(len(block) > 1 for block in held):
        left = [place for block in held for place in block[: len(block) // 2 * 2 : 2]]
        right = [place for block in held for place in block[1 : len(block) // 2 * 2 : 2]]
        alone = [block[-1] for block in held if len(block) % 2]
        values = concatenate([_times(values[:, left], values[:, right]), values[:, alone]], axis=1)
        pairs, rest = iter(range(len(left))), iter(range(len(left), len(left) + len(alone)))
        held = [
            [*(next(pairs) for _ in range(len(block) // 2)), *(next(rest) for _ in range(len(block) % 2))]
            for block in held
        ]
    return values[:, [block[0] for block in held]]


def _scan(values: SecretInts) -> SecretInts:
    """The products of all columns up to each."""
    step = 1
    while step < values.shape[1]:
        moved = _times(values[:, step:], values[:, :-step])
        values = concatenate([values[:, :step], moved], axis=1)
        step *= 2
    return values


def _times(left: SecretInts, right: SecretInts) -> SecretInts:
    return round_to(left * right, left.scale)
