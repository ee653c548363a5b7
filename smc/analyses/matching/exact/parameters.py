"""Parameters of exact matching that shows keys.

[parameters]
method = "exact"
keys = ["insurance_number", "date_of_birth"]   # the same names on both sides
duplicates = "error"                           # or "multiset", "distinct"
output = "keys"                                # if missing, too
[parameters.normalization]                     # optional, per key column; ["trim"] if missing
insurance_number = ["trim", "digits-only", "strip-leading-zeros"]
date_of_birth = ["date"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from commons.settings.bounds import OneOf
from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.studies.parameters import read_parameters

KEYS: Final = "keys"
"""The output that shows which local keys the other side has."""


@dataclass(frozen=True, slots=True)
class ExactParameters(KeyParameters):
    """By which keys rows are matched, and what is shown.

    Attributes:
        output: always `KEYS`.
    """

    output: Annotated[str, OneOf((KEYS,))] = KEYS


def parse(parameters: Mapping[str, Any]) -> ExactParameters:
    """Read `[parameters]` without `method`.

    Raises:
        UsageError: a key is unknown, missing or impossible; names its place.
    """
    return read_parameters(ExactParameters, parameters)
