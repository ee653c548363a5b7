"""Exact numbers: as job files write them, and as results show them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from smc.analyses.studies.loss import MAX_TERM
from smc.errors import UsageError

_NUMBER: Final = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?|[+-]?[0-9]{1,30}/[0-9]{1,30}")

NUMBER: Final[Mapping[str, Any]] = {"type": ["integer", "string"], "pattern": _NUMBER.pattern}
"""JSON Schema of what `number` takes."""


def number(value: Any, place: str) -> Fraction:
    """An exact number from a job file: an integer, or a string such as `0.1`, `-3` or `1/3`.

    Raises:
        UsageError: it is a float, which is not exact, or no number.
    """
    if isinstance(value, float):
        raise UsageError(f"{place} is a float, which is not exact.", f'Quote it: "{value}".')
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**30:
        return Fraction(value)
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        try:
            return Fraction(value.strip())
        except ZeroDivisionError:
            pass
    raise UsageError(
        f"{place} is not an exact number.", 'Write an integer or a string such as "0.5" or "1/3".'
    )


def positive(value: Any, place: str) -> Fraction:
    """As `number`, above 0.

    Raises:
        UsageError: it is not.
    """
    exact = number(value, place)
    if exact <= 0:
        raise UsageError(f"{place} is not positive.", "Write a number above 0.")
    return exact


def loss_term(value: Any, place: str) -> Fraction:
    """As `positive`, for a number that a privacy loss is stated by: an epsilon, delta, rho or share.

    Raises:
        UsageError: it has too many digits: what many jobs lose together would soon have thousands.
    """
    exact = positive(value, place)
    if max(exact.numerator, exact.denominator) > MAX_TERM:
        raise UsageError(
            f"{place} has a numerator or denominator above {MAX_TERM}.", 'Round it, as in "0.5" or "1/3".'
        )
    return exact


def text(value: Fraction) -> str:
    """A fraction as a decimal where that is exact, else as numerator/denominator."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest > 1:
        return str(value)
    digits = value.denominator.bit_length()
    scaled = value * 10**digits
    written = format(Decimal(scaled.numerator).scaleb(-digits), "f")
    return written.rstrip("0").rstrip(".") if "." in written else written
