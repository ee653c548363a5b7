"""What tells machines apart whose floating-point numbers differ in their last digits.

Sums, products and quotients of single numbers are the same on all machines. Exponentials and the like, sums
in an order of the library's choice and systems of equations are not: a library takes other steps on each kind
of processor, and with another number of cores.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Final

import numpy as np

DIGEST_BYTES: Final = 8

_SIZE: Final = 192
"""Large enough that a library cuts its work into blocks, and deals them out to cores."""


@cache
def rounding_digest() -> bytes:
    """The same 8 bytes on machines that, as far as this tries, find the same floating-point numbers."""
    points = (np.arange(1, _SIZE**2 + 1) * 0.6180339887498949) % 1 * 8 - 4
    square = points.reshape(_SIZE, _SIZE)
    near_singular = square.T @ square + np.eye(_SIZE)
    found = (
        np.exp(points),
        np.log(np.abs(points)),
        np.tanh(points),
        np.sin(points),
        np.cos(points),
        np.exp(1j * points),
        points.sum(),
        square.sum(axis=0),
        near_singular,
        square @ square[0],
        np.linalg.solve(near_singular, points[:_SIZE]),
        np.linalg.inv(near_singular),
        np.linalg.eigvalsh(near_singular),
        np.linalg.svd(square)[1],
    )
    taken = hashlib.sha256()
    for numbers in found:
        taken.update(np.ascontiguousarray(numbers).tobytes())
    return taken.digest()[:DIGEST_BYTES]
