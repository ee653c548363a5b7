"""The switches of a Benes network for a permutation.

A network of 2**t wires has 2 t - 1 columns of 2**(t - 1) switches, each of which passes two wires straight or
crossed. The outer columns split the wires into two networks of half the size; the switches are set so that
of the two wires of every outer switch one runs through either half. That is a 2-colouring of cycles, done for
all cycles of all networks of a level at once by doubling pointers.

Reference: Benes, Mathematical theory of connecting networks and telephone traffic, 1965; Waksman, A
permutation network, JACM 1968; the parallel set-up: Nassimi and Sahni, IEEE Transactions on Computers 1982.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from smc.numeric.narrow_words import Unsigned
from smc.numeric.shapes import contiguous, of_shape, shape_array

Index = NDArray[np.int64]
Bit = NDArray[np.uint8]
Word = NDArray[np.uint64]
Swap = Callable[[Unsigned, int], Unsigned]
"""Maps the differences "upper minus lower wire" of column number c of switches to themselves where crossed,
else to 0."""


def wires_for(count: int) -> int:
    """The least power of two, at least 2, that holds `count` wires."""
    return max(2, 1 << max(0, count - 1).bit_length())


def columns_for(wires: int) -> int:
    """Columns of switches, each of `wires` / 2."""
    return 2 * wires.bit_length() - 3


@of_shape(lambda order: shape_array((columns_for(len(order)), len(order) // 2), np.uint8))
def switches(order: Index) -> Bit:
    """Set the switches.

    Args:
        order: a permutation of range(n), n a power of two: output k is to be input order[k].

    Returns:
        Which switches cross, shape (columns, n / 2), in the order that `apply` visits them.
    """
    wires = len(order)
    result = np.empty((columns_for(wires), wires // 2), dtype=np.uint8)
    sources = order.astype(np.int64)
    size, column = wires, 0
    while size > 2:
        result[column], result[-1 - column], sources = _split(sources, size)
        size, column = size // 2, column + 1
    result[column] = sources[::2] & 1
    return result


def apply(values: Unsigned, swap: Swap) -> Unsigned:
    """Send values through a network.

    Args:
        values: unsigned, shape (n,) or (n, m), n a power of two: m words run side by side.
        swap: what the switches do.

    Returns:
        Of the same shape.
    """
    wires, beside = len(values), values.shape[1:]
    depth = columns_for(wires)
    size = wires
    for column in range(depth):
        if column > depth // 2:
            # The outputs of two inner networks are woven together again: wire k of the upper next to k of the
            # lower.
            size *= 2
            values = contiguous(values.reshape(-1, 2, size // 2, *beside).swapaxes(1, 2))
        pairs: Unsigned = values.reshape(-1, 2, *beside)
        moved = swap(pairs[:, 0] - pairs[:, 1], column)
        pairs = np.stack([pairs[:, 0] - moved, pairs[:, 1] + moved], axis=1)
        if column < depth // 2:
            # The upper wires of all switches go to the upper inner network, the lower wires to the lower one.
            pairs = pairs.reshape(-1, size // 2, 2, *beside).swapaxes(1, 2)
            size //= 2
        values = contiguous(pairs).reshape(wires, *beside)
    return values


def _split(sources: Index, size: int) -> tuple[Bit, Bit, Index]:
    """The outer columns of all networks of a level, and the sources of the networks inside.

    Args:
        sources: the permutations, network after network; entries count from the first wire of all.
        size: of each network.
    """
    wires = len(sources)
    places = np.arange(wires)
    targets = np.empty(wires, dtype=np.int64)
    targets[sources] = places
    # Inputs x and x ^ 1 share a switch on the left. The sources of outputs t and t ^ 1 share one on the
    # right. Of either pair exactly one runs through the lower half.
    lower = _colour(sources[targets ^ 1], wires)
    first = lower[::2]
    # The even output comes from the upper half unless its source runs through the lower one.
    last = lower[sources[::2]]
    pairs = sources.reshape(-1, 2)
    crossed = last.astype(bool)
    upper_source = np.where(crossed, pairs[:, 1], pairs[:, 0])
    lower_source = np.where(crossed, pairs[:, 0], pairs[:, 1])
    half = size // 2
    inner = np.stack([_within(upper_source, size, 0), _within(lower_source, size, half)])
    return first, last, inner.reshape(2, -1, half).transpose(1, 0, 2).reshape(-1)


def _within(source: Index, size: int, start: int) -> Index:
    """Where a wire that enters an outer switch stands among the wires of the networks inside."""
    # The first wire of the network, the number of the switch in it, and the half.
    found: Index = source // size * size + source % size // 2 + start
    return found


def _colour(partners: Index, wires: int) -> Bit:
    """Which inputs run through the lower half: of x and x ^ 1, and of x and partners[x], exactly one each."""
    places = np.arange(wires)
    # Each cycle alternates between the two kinds of pairs, and a double step stays on one side of it: x and
    # x ^ 1 lie on the two sides. Doubling the steps, each place finds the least one of its side.
    least = places.copy()
    step = partners[places ^ 1]
    for _ in range(wires.bit_length()):
        least = np.minimum(least, least[step])
        step = step[step]
    lower: Bit = (least > least[places ^ 1]).astype(np.uint8)
    return lower
