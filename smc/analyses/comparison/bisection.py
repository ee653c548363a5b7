"""What repeated comparisons find: a result about a row halves what the row's value can be."""

from __future__ import annotations

from typing import Final

from smc.analyses.comparison.parameters import NUMBERS
from smc.analyses.studies.columns import Schema
from smc.forms import ComparisonType, Holding, Role
from smc.planning.route import MAX_BITS

_PARTS: Final = (Holding.SHARE, Holding.CIPHERTEXT)
_MAX_VALUES: Final = 1 << MAX_BITS


def findable_values(kind: ComparisonType, finder: Role) -> tuple[str, ...]:
    """What a party can find by a series of comparisons of one type with values of its choice.

    It sees results, and each job puts the threshold of every row in the middle of what is left. Of an input
    that it holds a share or a ciphertext of, it can shift the value without knowing it.

    Returns:
        `("x",)` or `("y",)` for the values of that input, `("x", "y")` for the differences of both, nothing
        where it sees no results, knows the inputs, or cannot choose anything.
    """
    if finder not in kind.delta.sees:
        return ()
    forms = {"x": kind.x, "y": kind.y}
    unknown = tuple(name for name, form in forms.items() if finder not in form.sees)
    shifts = any(form.holding(finder) in _PARTS for form in forms.values())
    return unknown if len(unknown) == 1 or shifts else ()


def jobs_to_find(values: int, *, by_one: bool = False) -> int:
    """How many comparisons of all rows single out one of so many values of each.

    Args:
        values: that each row can have.
        by_one: all rows are compared with one number, which parts them at one place in each job.
    """
    return values - 1 if by_one else (values - 1).bit_length()


def possible_values(schema: Schema) -> int | None:
    """How many values a column can have in a comparison; None if it can be in none, or has one only.

    Both parties know the bounds that are declared, so there is nothing to find between equal ones.
    """
    if schema.kind in NUMBERS:
        if schema.lower is None or schema.upper is None:
            return None
        count = schema.upper - schema.lower + 1
    elif schema.kind in ("share", "ciphertext"):
        count = min(int(schema.modulus), _MAX_VALUES) if schema.modulus.isdigit() else _MAX_VALUES
    else:
        return None
    return count if count > 1 else None
