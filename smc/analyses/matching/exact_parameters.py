"""Parameters of exact matching.

[parameters]
method = "exact"
keys = ["insurance_number", "date_of_birth"]   # the same names on both sides
duplicates = "error"                           # or "multiset", "distinct"
output = "keys"                                # or "size", "statistics", "shares"
[parameters.normalization]                     # optional, per key column; ["trim"] if missing
insurance_number = ["trim", "digits-only", "strip-leading-zeros"]
date_of_birth = ["date"]

Sizes, statistics and shares take what `smc.analyses.matching.aggregates_parameters` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from smc.analyses.columns import Schema
from smc.analyses.matching import aggregates_parameters
from smc.analyses.matching.aggregates_parameters import AggregateParameters, parse_aggregates
from smc.analyses.matching.keys import DUPLICATES, ERROR
from smc.analyses.matching.normalization import DEFAULT_STEPS, KINDS, parse_steps
from smc.analyses.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.forms import Role

KEYS: Final = "keys"
"""The output that tells which own keys the other side has."""

OUTPUTS: Final = (KEYS, *aggregates_parameters.OUTPUTS)

MAX_KEYS: Final = 16
"""Most key columns of one job."""

_PLACE: Final = "parameters"
_OWN: Final = ("keys", "normalization", "duplicates")


@dataclass(frozen=True, slots=True)
class ExactParameters:
    """Parsed parameters.

    Attributes:
        recipes: the key columns, in the order of the job, and the normalization steps of each.
        duplicates: one of `smc.analyses.matching.keys.DUPLICATES`.
        aggregates: what is computed over the intersection, or None for the output `keys`.
    """

    recipes: tuple[tuple[str, tuple[str, ...]], ...]
    duplicates: str
    aggregates: AggregateParameters | None = None

    def columns(self, role: Role) -> tuple[str, ...]:
        """The columns that a side brings: keys, then values that are no keys."""
        keys = tuple(name for name, _ in self.recipes)
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
        return found
    reject_unknown(parameters, (*_OWN, *aggregates_parameters.KEYS), _PLACE)
    aggregates = parse_aggregates(parameters, substitutes=found.duplicates != ERROR)
    return replace(found, aggregates=aggregates)


def parse_keys(parameters: Mapping[str, Any], place: str) -> ExactParameters:
    """Read how rows are matched; other keys are the caller's.

    Args:
        parameters: with `keys`, `normalization` and `duplicates`.
        place: how errors call them.

    Raises:
        UsageError: one is missing or impossible; names its place.
    """
    names: list[Any] = take(parameters, "keys", list, place)
    if not 1 <= len(names) <= MAX_KEYS or any(not isinstance(name, str) for name in names):
        raise UsageError(f"{place}.keys is no list of 1 to {MAX_KEYS} columns.", 'Write keys = ["id"].')
    if len(set(names)) < len(names):
        raise UsageError(f"{place}.keys names a column twice.", "Name each once.")
    duplicates = take(parameters, "duplicates", str, place, ERROR)
    if duplicates not in DUPLICATES:
        raise UsageError(
            f"{place}.duplicates: there is no {duplicates!r}.", f"Known are {', '.join(DUPLICATES)}."
        )
    recipes: dict[str, Any] = take(parameters, "normalization", dict, place, {})
    reject_unknown(recipes, names, f"{place}.normalization")
    given = {name: parse_steps(steps, f"{place}.normalization.{name}") for name, steps in recipes.items()}
    return ExactParameters(tuple((name, given.get(name, DEFAULT_STEPS)) for name in names), duplicates)


def check_keys(parameters: ExactParameters, schemas: Mapping[str, Schema], role: Role) -> None:
    """Check that the key columns of a side have texts.

    Raises:
        UsageError: says which column.
    """
    for name, _ in parameters.recipes:
        if schemas[name].kind not in KINDS:
            raise UsageError(
                f"{role.value}'s column {name} is of kind {schemas[name].kind} and cannot be a key.",
                f"Use columns of kind {', '.join(KINDS)}.",
            )
