"""What goes into and out of batches of the engine: checked, and joined from the spans that it is cut into."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from smc.errors import UsageError
from smc.oblivious.bitmatrix import Bit

T = TypeVar("T", bound=np.generic)


def join_parts(parts: Sequence[NDArray[T]], kind: type[T]) -> NDArray[T]:
    """The parts one after the other; an empty array of the kind if there are none."""
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def check_bits(bits: Bit) -> None:
    """Check that an array holds bits.

    Raises:
        UsageError: it does not.
    """
    if bits.dtype != np.uint8 or bits.ndim != 1 or (bits > 1).any():
        raise UsageError(
            "The shares of bits are not a one-dimensional uint8 array of zeros and ones.",
            "Convert them, for example with bits.astype(np.uint8).ravel().",
        )


def same_length(left: NDArray[np.generic], right: NDArray[np.generic]) -> None:
    """Check that operands pair up.

    Raises:
        UsageError: they do not.
    """
    if len(left) != len(right):
        raise UsageError(
            f"There are {len(left)} left operands, but {len(right)} right ones.",
            "Give as many on both sides.",
        )
