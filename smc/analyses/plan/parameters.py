"""The `[parameters]` of a plan, checked and frozen.

[[parameters.parts]]
name = "deaths"                    # of its results
analysis = "statistics"            # or "models", "validation"
columns = { outcome = "died" }     # where the part calls a column otherwise than the job
[parameters.parts.parameters]      # as of a job of that analysis
...
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from commons.settings.marks import Length, Read, UnfitError
from smc.analyses.studies.facts import MAX_PARTS
from smc.errors import UsageError

MAX_NAME: Final = 60


def _parse_name(value: Any, place: str) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_NAME or not value.isprintable():
        raise UsageError(f"{place} is not a name of 1 to {MAX_NAME} letters.", "Write a shorter text.")
    if '"' in value or ": " in value:
        raise UsageError(
            f"{place} has a quotation mark, or a colon before a blank.",
            "Leave them out: names of results are made with them.",
        )
    return value


def _parse_table(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{place} is not a table.", "Write what a job of the analysis has as [parameters].")
    return value


def _parse_columns(value: Any, place: str) -> Mapping[str, str]:
    names = value if isinstance(value, Mapping) else {}
    texts = all(isinstance(name, str) and name for name in names.values())
    if not isinstance(value, Mapping) or not texts or len(set(names.values())) < len(names):
        raise UsageError(
            f"{place} is not a table of different columns.", 'Write { outcome = "died" }: part = "job".'
        )
    return dict(names)


@dataclass(frozen=True, slots=True)
class PartParameters:
    """One part.

    Attributes:
        name: of its results.
        analysis: by which it is computed.
        parameters: of the analysis.
        columns: of the names of columns in the part those that the job calls otherwise, with its names.
    """

    name: Annotated[str, Read(_parse_name, {"type": "string"})]
    analysis: str
    parameters: Annotated[Mapping[str, Any], Read(_parse_table, {"type": "object"})]
    columns: Annotated[
        Mapping[str, str],
        Read(_parse_columns, {"type": "object", "additionalProperties": {"type": "string"}}),
    ] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlanParameters:
    """Parsed parameters.

    Attributes:
        parts: in the job's order.
    """

    parts: Annotated[tuple[PartParameters, ...], Length(1, MAX_PARTS)]

    def __post_init__(self) -> None:
        names = [part.name.casefold() for part in self.parts]
        if len(set(names)) < len(names):
            raise UnfitError("parts", "has two of one name", "Give each its own name.")
