"""What one party gets from a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Table:
    """A result table: columns of equal length, of integers, floats, strings or None.

    A column `row` counts, from 1, the local rows that the run got; a daemon turns it into rows of the source.
    """

    name: str
    columns: Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one party gets from a run; JSON-representable throughout.

    Attributes:
        tables: the results; empty for a party that is not a recipient.
        notes: remarks for people: suppression, clamping, error bars explained.
        details: route, noise scale, guarantees: names to plain JSON values.
    """

    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
