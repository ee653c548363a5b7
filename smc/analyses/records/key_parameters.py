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
from typing import Annotated, Any, Final

from commons.errors import near
from commons.settings.bounds import OneOf
from commons.settings.marks import Length, Read, UnfitError, Wrong
from smc.analyses.records.keying import DUPLICATES, ERROR
from smc.analyses.records.normalization import DEFAULT_STEPS, KINDS, STEP_LIST, parse_steps
from smc.analyses.studies.columns import Schema
from smc.analyses.studies.parameters import table_of
from smc.errors import UsageError
from smc.forms import Role

MAX_KEYS: Final = 16
"""Most key columns of one job."""

Recipes = tuple[tuple[str, tuple[str, ...]], ...]
"""Columns and the normalization steps of each."""


def _parse_recipes(given: Any, place: str) -> Recipes:
    steps = table_of(given, place).table
    return tuple((name, parse_steps(one, f"{place}.{name}")) for name, one in steps.items())


@dataclass(frozen=True, slots=True)
class KeyParameters:
    """How rows are matched by exact keys.

    Attributes:
        keys: the key columns, the same for both sides, in the order of the job.
        normalization: of some of them the steps.
        duplicates: one of `smc.analyses.records.keys.DUPLICATES`.

    Raises:
        UnfitError: there are steps of another column.
    """

    keys: Annotated[
        tuple[str, ...],
        Length(1, MAX_KEYS),
        Wrong(f"is not a list of 1 to {MAX_KEYS} columns", 'Write keys = ["id"].'),
    ]
    normalization: Annotated[
        Recipes, Read(_parse_recipes, {"type": "object", "additionalProperties": STEP_LIST})
    ] = ()
    duplicates: Annotated[str, OneOf(DUPLICATES)] = ERROR

    def __post_init__(self) -> None:
        for name, _ in self.normalization:
            if name not in self.keys:
                raise UnfitError("normalization", f"has an unknown key {name!r}", near(name, self.keys))

    @property
    def recipes(self) -> Recipes:
        """The key columns, in the order of the job, and the normalization steps of each."""
        given = dict(self.normalization)
        return tuple((name, given.get(name, DEFAULT_STEPS)) for name in self.keys)

    @property
    def columns(self) -> tuple[str, ...]:
        """The key columns, the same for both sides."""
        return self.keys


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
