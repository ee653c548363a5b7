"""Parameters of a preparation: how many comparisons, of how many bits, and who will hold x."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from commons.settings.bounds import Between
from commons.settings.marks import Wrong
from smc.analyses.studies.parameters import read_parameters
from smc.forms import Role
from smc.planning.route import MAX_BITS

MAX_COMPARISONS: Final = 1 << 22
"""Of one pool: at 32 bits 100 MB on either disk."""

MAX_BITS_OF_POOL: Final = MAX_BITS + 2
"""Shares of 128 bits are compared by wider numbers inside."""


@dataclass(frozen=True, slots=True)
class PreparationParameters:
    """Parsed parameters of a preparation.

    Attributes:
        count: comparisons.
        bits: of the numbers to compare.
        x_at: who will hold x.
    """

    count: Annotated[int, Between(1, MAX_COMPARISONS)]
    bits: Annotated[int, Between(1, MAX_BITS_OF_POOL)] = 32
    x_at: Annotated[Role, Wrong("is neither alice nor bob", 'Write x_at = "alice".')] = Role.ALICE


def parse(parameters: Mapping[str, Any]) -> PreparationParameters:
    """Check the parameters: count, bits, x_at.

    Raises:
        UsageError: with the key that is wrong.
    """
    return read_parameters(PreparationParameters, parameters)
