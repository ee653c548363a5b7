"""The taxonomy of secure comparison: six forms, 216 types (thesis, section 2.3.3).

A form says what each party holds of one value; a type XX-YY-DD names the forms of x, y and
delta = (x >= y) for 0 <= x, y < 2**bits. Types are data: mirror images and triviality are derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from itertools import product
from typing import Final

from typing_extensions import override

from smc.errors import UsageError


class Role(Enum):
    """The two parties of a protocol."""

    ALICE = "alice"
    BOB = "bob"

    @property
    def other(self) -> Role:
        """The opposite role."""
        return Role.BOB if self is Role.ALICE else Role.ALICE


class Holding(Enum):
    """What one party holds of a value."""

    CIPHERTEXT = "ciphertext under the other's key"
    SECRET_KEY = "secret key"  # noqa: S105
    SHARE = "share"
    PLAIN = "plain value"
    NOTHING = "nothing"


class Form(Enum):
    """What (Alice, Bob) hold of one value (thesis, section 2.3.3)."""

    ES = "ES"
    SE = "SE"
    SS = "SS"
    PN = "PN"
    NP = "NP"
    PP = "PP"

    def holding(self, role: Role) -> Holding:
        """What `role` holds of a value in this form."""
        letter = self.value[0 if role is Role.ALICE else 1]
        if letter == "S" and self is not Form.SS:
            return Holding.SECRET_KEY
        return _HOLDINGS[letter]

    @property
    def sees(self) -> frozenset[Role]:
        """The parties that know the value."""
        return frozenset(r for r in Role if self.holding(r) is Holding.PLAIN)

    @property
    def mirror(self) -> Form:
        """The form with Alice and Bob exchanged."""
        return Form(self.value[::-1])


_HOLDINGS: Final = {
    "E": Holding.CIPHERTEXT,
    "S": Holding.SHARE,
    "P": Holding.PLAIN,
    "N": Holding.NOTHING,
}


@dataclass(frozen=True, slots=True)
class ComparisonType:
    """One of the 216 types: the forms of x, y and delta = (x >= y).

    `bitwise` refines an encrypted x: one ciphertext per bit instead of one per value, as in the
    thesis's type 8. The 216 types are those with `bitwise` false.
    """

    x: Form
    y: Form
    delta: Form
    bitwise: bool = False

    @classmethod
    def parse(cls, text: str) -> ComparisonType:
        """Read a type from `XX-YY-DD` or from a name such as `type 1`.

        Args:
            text: three forms joined by hyphens, or a key of `NAMED`; case does not matter.

        Raises:
            UsageError: the text names no type.
        """
        wanted = text.strip()
        if wanted.lower() in NAMED:
            return NAMED[wanted.lower()]
        parts = wanted.upper().split("-")
        bitwise = parts[0] in ("ES[BITS]", "SE[BITS]")
        if bitwise:
            parts[0] = parts[0].removesuffix("[BITS]")
        if len(parts) != 3 or not set(parts) <= {form.value for form in Form}:
            raise UsageError(
                f"{text!r} is not a comparison type.",
                "Write three of ES, SE, SS, PN, NP, PP joined by hyphens, such as SS-SS-SS, "
                "or a thesis name from 'type 1' to 'type 8'.",
            )
        x, y, delta = (Form(part) for part in parts)
        return cls(x, y, delta, bitwise)

    @override
    def __str__(self) -> str:
        bits = "[bits]" if self.bitwise else ""
        return f"{self.x.value}{bits}-{self.y.value}-{self.delta.value}"

    @property
    def mirror(self) -> ComparisonType:
        """The type with Alice and Bob exchanged; x stays x and y stays y."""
        return ComparisonType(self.x.mirror, self.y.mirror, self.delta.mirror, self.bitwise)

    @property
    def is_trivial(self) -> bool:
        """Whether one party alone can compute delta (thesis, Lemma 8.1, erratum 10): 42 types."""
        return bool(self.x.sees & self.y.sees)

    @property
    def name(self) -> str | None:
        """The thesis's name of the type, if it has one."""
        return next((name for name, kind in NAMED.items() if kind == self), None)


def all_types() -> Iterator[ComparisonType]:
    """The 216 types in the order of the forms."""
    return (ComparisonType(x, y, delta) for x, y, delta in product(Form, repeat=3))


def _parse_name(text: str, *, bitwise: bool = False) -> ComparisonType:
    x, y, delta = (Form(part) for part in text.split("-"))
    return ComparisonType(x, y, delta, bitwise)


NAMED: Final = {
    "type 1": _parse_name("SS-SS-SS"),
    "type 2": _parse_name("SE-SE-SE"),
    "type 3": _parse_name("PN-NP-SE"),
    "type 4": _parse_name("PN-NP-SS"),
    "type 5": _parse_name("PN-NP-NP"),
    "type 6": _parse_name("PN-SE-SS"),
    "type 7": _parse_name("PP-SS-ES"),
    "type 8": _parse_name("SE-SE-SE", bitwise=True),
}
"""The types that the thesis names, with their definitions in section 2.3.3."""
