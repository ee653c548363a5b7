"""Parameters of exact matching.

[parameters]
method = "exact"
keys = ["insurance_number", "date_of_birth"]   # the same names on both sides
duplicates = "error"                           # or "multiset", "distinct"
output = "keys"                                # or "size", "statistics", "shares"
[parameters.normalization]                     # optional, per key column; ["trim"] if missing
insurance_number = ["trim", "digits-only", "strip-leading-zeros"]
date_of_birth = ["date"]

Sizes, statistics and shares take what `smc.analyses.matching.aggregates.parameters` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.matching.aggregates import parameters as aggregates_parameters
from smc.analyses.matching.aggregates.parameters import AggregateParameters, parse_aggregates
from smc.analyses.parameters import reject_unknown, take
from smc.analyses.records.key_parameters import KeyParameters, parse_keys
from smc.analyses.records.keys import ERROR
from smc.errors import UsageError
from smc.forms import Role

KEYS: Final = "keys"
"""The output that tells which own keys the other side has."""

OUTPUTS: Final = (KEYS, *aggregates_parameters.OUTPUTS)

_PLACE: Final = "parameters"
_OWN: Final = ("keys", "normalization", "duplicates")


@dataclass(frozen=True, slots=True)
class ExactParameters:
    """Parsed parameters.

    Attributes:
        match: the keys.
        aggregates: what is computed over the intersection, or None for the output `keys`.
    """

    match: KeyParameters
    aggregates: AggregateParameters | None = None

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that a side brings: keys, then values that are no keys."""
        keys = tuple(name for name, _ in self.match.recipes)
        values = self.aggregates.columns(role) if self.aggregates is not None else ()
        return keys + tuple(name for name in values if name not in keys)


def parse_exact(parameters: Mapping[str, Any]) -> ExactParameters:
    """Read `[parameters]` without `method`.

    Raises:
        UsageError: a key is unknown, missing or impossible; names its place.
    """
    output = take(parameters, "output", str, _PLACE, KEYS)
    if output not in OUTPUTS:
        raise UsageError(f"{_PLACE}.output: there is no {output!r}.", f"Known are {', '.join(OUTPUTS)}.")
    found = parse_keys(parameters, _PLACE)
    if output == KEYS:
        reject_unknown(parameters, (*_OWN, "output"), _PLACE)
        return ExactParameters(found)
    reject_unknown(parameters, (*_OWN, *aggregates_parameters.KEYS), _PLACE)
    aggregates = parse_aggregates(parameters, substitutes=found.duplicates != ERROR)
    return ExactParameters(found, aggregates)
