"""Held integers in their real unit."""

from __future__ import annotations

from decimal import Decimal


def real(held: int, scale: int) -> int | str:
    """A held integer in real units, exactly: an integer, or a decimal string if there is a scale."""
    return format(Decimal(held).scaleb(-scale), "f") if scale else held
