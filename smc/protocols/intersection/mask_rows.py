"""Tables of masks: how wide they are, and where one stands in a table of the peer's."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from smc.numeric.shapes import of_shape, shape_array

Octets = NDArray[np.uint8]

STATISTICAL_BITS: Final = 40
"""No mask of a run equals another's by chance, except with probability 2**-40."""

_WORD_BYTES: Final = 8
_ABSENT: Final = -1


def mask_bytes(own: int, peer: int) -> int:
    """Bytes of a mask where each of `own` keys is compared with one mask of each of `peer` keys."""
    return (STATISTICAL_BITS + (own * peer).bit_length() + 7) // 8


@of_shape(lambda wanted, offered: shape_array(len(wanted), np.int64))
def locate(wanted: Octets, offered: Octets) -> NDArray[np.int64]:
    """The row of a table that is equal to each wanted one.

    Args:
        wanted: shape (m, width), width from 1 to 16.
        offered: shape (n, width).

    Returns:
        Row numbers in `offered`, -1 where there is none, shape (m,).
    """
    found = np.full(len(wanted), _ABSENT, dtype=np.int64)
    (heads, tails), (own_heads, own_tails) = _words(offered), _words(wanted)
    bits = np.uint64(max(len(offered), len(wanted)).bit_length())
    keys, order = _sorted(heads, bits)
    own_keys, pending = _sorted(own_heads, bits)  # in this order the search below stays in the cache
    places = np.searchsorted(keys, own_keys)
    while len(pending):
        inside = places < len(keys)
        pending, places, own_keys = pending[inside], places[inside], own_keys[inside]
        alike = keys[places] == own_keys
        pending, places, own_keys = pending[alike], places[alike], own_keys[alike]
        rows = order[places]
        equal = (heads[rows] == own_heads[pending]) & (tails[rows] == own_tails[pending])
        found[pending[equal]] = rows[equal]
        own_keys = own_keys[~equal]
        pending, places = pending[~equal], places[~equal] + 1
    return found


def _sorted(words: NDArray[np.uint64], bits: np.uint64) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """The upper parts of words in order, without their `bits` lower bits, and the place that each had.

    Sorting words that hold both is several times faster than sorting places.
    """
    packed = np.sort(words >> bits << bits | np.arange(len(words), dtype=np.uint64))
    return packed >> bits, (packed & (np.uint64(1) << bits) - np.uint64(1)).astype(np.int64)


def _words(rows: Octets) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The first eight bytes and the rest, as words."""
    padded = np.zeros((len(rows), 2 * _WORD_BYTES), dtype=np.uint8)
    padded[:, : rows.shape[1]] = rows
    words = padded.view("<u8")
    return np.ascontiguousarray(words[:, 0]), np.ascontiguousarray(words[:, 1])
