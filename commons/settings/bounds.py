"""What a field of a declaration says of the numbers and words that it takes, in `Annotated`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Between:
    """A number within bounds, both of which may be taken.

    Attributes:
        minimum: the least; None for any.
        maximum: the largest; None for any.
        hint: what to do about another; "" for the reader's words.
    """

    minimum: int | Fraction | float | None = None
    maximum: int | Fraction | float | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """An exact number whose numerator and denominator are at most so large."""

    maximum: int


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text, or each text of a list, of some.

    Attributes:
        names: the texts.
        hint: what to do about another; "" for the nearest name.
    """

    names: Sequence[str]
    hint: str = ""
