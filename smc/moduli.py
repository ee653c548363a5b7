"""Moduli of shares."""

from __future__ import annotations

from smc.errors import UsageError
from smc.forms import Role

Modulus = int | Role
"""The modulus of shares: a number, or the Paillier N of a party while the key itself is not at hand."""


def parse_modulus(text: str) -> Modulus:
    """A share modulus: `alice`, `bob`, a decimal number, or `2^k`.

    Raises:
        UsageError: the text is none of these.
    """
    wanted = text.strip().lower()
    for role in Role:
        if wanted == role.value:
            return role
    base, power, exponent = wanted.partition("^")
    if _short_number(base, 80) and (_short_number(exponent, 3) if power else True):
        number: int = int(base) ** (int(exponent) if power else 1)
        if 2 <= number <= 1 << 256:
            return number
    raise UsageError(
        f"{text!r} is not a share modulus.", 'Write "2^64", a number from 2 to 2^256, "alice" or "bob".'
    )


def _short_number(text: str, digits: int) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= digits


def mirrored_modulus(modulus: Modulus | None) -> Modulus | None:
    """The modulus with Alice and Bob exchanged."""
    return modulus.other if isinstance(modulus, Role) else modulus
