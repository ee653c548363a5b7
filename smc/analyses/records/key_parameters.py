"""How rows of both sides are matched by exact keys, as job files say it.

keys = ["insurance_number", "date_of_birth"]   # the same names on both sides
duplicates = "error"                           # or "multiset", "distinct"
[normalization]                                # optional, per key column; ["trim"] if missing
insurance_number = ["trim", "digits-only", "strip-leading-zeros"]
date_of_birth = ["date"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.records.keys import DUPLICATES, ERROR
from smc.analyses.records.normalization import DEFAULT_STEPS, KINDS, parse_steps
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import reject_unknown, take
from smc.errors import UsageError
from smc.forms import Role

MAX_KEYS: Final = 16
"""Most key columns of one job."""

KEY_PARAMETERS: Final = ("keys", "normalization", "duplicates")
"""The keys that `parse_keys` reads."""


@dataclass(frozen=True, slots=True)
class KeyParameters:
    """Parsed parameters.

    Attributes:
        recipes: the key columns, in the order of the job, and the normalization steps of each.
        duplicates: one of `smc.analyses.records.keys.DUPLICATES`.
    """

    recipes: tuple[tuple[str, tuple[str, ...]], ...]
    duplicates: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The key columns, the same for both sides."""
        return tuple(name for name, _ in self.recipes)


def parse_keys(parameters: Mapping[str, Any], place: str) -> KeyParameters:
    """Read how rows are matched; other keys are the caller's.

    Args:
        parameters: with `keys`, `normalization` and `duplicates`.
        place: how errors call them.

    Raises:
        UsageError: one is missing or impossible; names its place.
    """
    names: list[Any] = take(parameters, "keys", list, place)
    if not 1 <= len(names) <= MAX_KEYS or any(not isinstance(name, str) for name in names):
        raise UsageError(f"{place}.keys is not a list of 1 to {MAX_KEYS} columns.", 'Write keys = ["id"].')
    if len(set(names)) < len(names):
        raise UsageError(f"{place}.keys names a column twice.", "Name each column once.")
    duplicates = take(parameters, "duplicates", str, place, ERROR)
    if duplicates not in DUPLICATES:
        raise UsageError(
            f"{place}.duplicates cannot be {duplicates!r}.", f"Choose one of {', '.join(DUPLICATES)}."
        )
    recipes: dict[str, Any] = take(parameters, "normalization", dict, place, {})
    reject_unknown(recipes, names, f"{place}.normalization")
    given = {name: parse_steps(steps, f"{place}.normalization.{name}") for name, steps in recipes.items()}
    return KeyParameters(tuple((name, given.get(name, DEFAULT_STEPS)) for name in names), duplicates)


def check_keys(parameters: KeyParameters, schemas: Mapping[str, Schema], role: Role) -> None:
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
