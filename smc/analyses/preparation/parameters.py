"""Parameters of a preparation: how many comparisons, of how many bits, and who will hold x."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.forms import Role
from smc.planning.route import MAX_BITS

MAX_COMPARISONS: Final = 1 << 22
"""Of one pool: at 32 bits 100 MB on either disk."""

MAX_BITS_OF_POOL: Final = MAX_BITS + 2
"""Shares of 128 bits are compared by wider numbers inside."""

_PLACE: Final = "[parameters]"


@dataclass(frozen=True, slots=True)
class PreparationParameters:
    """Parsed parameters of a preparation.

    Attributes:
        count: comparisons.
        bits: of the numbers to compare.
        x_at: who will hold x.
    """

    count: int
    bits: int
    x_at: Role


def parse(parameters: Mapping[str, Any]) -> PreparationParameters:
    """Check the parameters: count, bits, x_at.

    Raises:
        UsageError: with the key that is wrong.
    """
    reject_unknown(parameters, ("count", "bits", "x_at"), _PLACE)
    count = take(parameters, "count", int, _PLACE)
    if not 1 <= count <= MAX_COMPARISONS:
        raise UsageError(f"{_PLACE}, count = {count} is out of range.", f"Use 1 to {MAX_COMPARISONS}.")
    bits = take(parameters, "bits", int, _PLACE, 32)
    if not 1 <= bits <= MAX_BITS_OF_POOL:
        raise UsageError(f"{_PLACE}, bits = {bits} is out of range.", f"Use 1 to {MAX_BITS_OF_POOL}.")
    x_at = take(parameters, "x_at", str, _PLACE, Role.ALICE.value)
    if x_at not in {role.value for role in Role}:
        raise UsageError(f"{_PLACE}, x_at is neither alice nor bob.", 'Write x_at = "alice".')
    return PreparationParameters(count, bits, Role(x_at))
