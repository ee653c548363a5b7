"""What compiled loops get of arrays: their addresses, after a check of type, shape and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from smc.errors import UsageError


def address(array: NDArray[Any]) -> int:
    """Of the first entry."""
    return array.ctypes.data


def check(array: NDArray[Any], shape: tuple[int, ...], dtype: DTypeLike = np.uint64) -> None:
    """Demand an array of that shape and type, contiguous and aligned.

    Raises:
        UsageError: it is another one.
    """
    if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
        raise unfit()
    if not array.flags.aligned:
        raise unfit()


def check_written(array: NDArray[Any], shape: tuple[int, ...], dtype: DTypeLike = np.uint64) -> None:
    """Demand the same of an array that is written. Raises as `check`."""
    check(array, shape, dtype)
    if not array.flags.writeable:
        raise unfit()


def unfit() -> UsageError:
    """What is raised where an array does not fit."""
    return UsageError(
        "A kernel was given an array of another type, shape or layout.", "This is a defect of the program."
    )
