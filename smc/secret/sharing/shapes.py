"""Shapes that meet."""

from __future__ import annotations

import numpy as np

from smc.errors import UsageError


def check_shapes(operation: str, *shapes: tuple[int, ...]) -> None:
    """Check that arrays of these shapes broadcast, as numpy does it, to at most two dimensions.

    Raises:
        UsageError: they do not.
    """
    try:
        met = np.broadcast_shapes(*shapes)
    except ValueError:
        met = None
    if met is None or len(met) > 2:
        raise UsageError(
            f"{operation}: the shapes {' and '.join(map(str, shapes))} do not fit each other.",
            "Reshape an operand.",
        )
