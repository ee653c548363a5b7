"""A secret has no truth value: Python's own branches and comparisons must not take one for true."""

from __future__ import annotations

from typing import NoReturn

from smc.errors import UsageError


class NoTruth:
    """What neither party sees, so that no program can branch on it.

    Python asks for a truth value in `if`, `while`, `and`, `or`, `not`, chained comparisons, `in`, `max`,
    `min`, `sorted`, `any`, `all`, and where it compares lists, tuples and dictionaries of such objects.
    Without one it would take the length instead, and everything for true.
    """

    def __bool__(self) -> NoReturn:
        raise UsageError(
            "A secret has no truth value: neither party knows whether it is true or false.",
            "Compute on it: `&`, `|` and `~` for and, or and not, `select(bits, x, y)` for if, `.maximum()` "
            "and `.minimum()`; or open it first with `.reveal()`.",
        )

    def __contains__(self, item: object) -> NoReturn:
        raise UsageError(
            "`in` asks whether a secret is among others, which neither party knows.",
            "Compare with `==`, which gives secret bits, and count or combine them; or open first with "
            "`.reveal()`.",
        )

    def __array__(self, *given: object, **more: object) -> NoReturn:
        raise UsageError(
            "A secret is no array: neither party knows its elements, and numpy cannot take it.",
            "Use the operators and methods of the secret itself, `SecretInts.from_bits(bits)` for sums "
            "and `select` to choose by them; or open it first with `.reveal()`.",
        )
