"""A release: tables, where their rows came from, what is promised, and the manifest that says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anonymizer.releases.guarantee import OF_CLASSES, Guarantee
from anonymizer.releases.manifest import Manifest
from anonymizer.tables.table import Table

Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Step:
    """What a step has done.

    Attributes:
        name: of the step.
        method: its word.
        changed: of each column that differs, in how many cells.
        lost: rows that it took out.
        ensures: whether it only makes sure of something, and may find it so.
        columns: that it works on.
        adds: columns that it adds.
        blurs: whether it drew cells at random, so that rows alike in them are of nobody in particular.
    """

    name: str
    method: str
    changed: Mapping[str, int] = field(default_factory=dict)
    lost: int = 0
    ensures: bool = False
    columns: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    blurs: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """What a method or a pipeline has made.

    Attributes:
        table: the main table.
        extra: further tables that belong to it, by a short word, such as those of anatomy.
        origin: where each row stood in the table that was given, shape (m,); None if rows are not of anybody,
            as in a synthetic table: then nobody can be looked for by the attack simulator.
        guarantees: that hold after the last step.
        manifest: to lie beside the files.
        changed: of each column that differs from the original, in how many released cells.
        notes: what was lost on the way, and the like; a sentence each.
        original: the table that was given; the gate compares with it, and writes nothing without it.
        steps: what each has done, in order.
        broken: guarantees that a later step took away, with the name of that step.
    """

    table: Table
    extra: Mapping[str, Table] = field(default_factory=dict)
    origin: Int | None = field(default=None, repr=False)
    guarantees: tuple[Guarantee, ...] = ()
    manifest: Manifest = field(default_factory=Manifest, repr=False)
    changed: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    original: Table | None = field(default=None, repr=False)
    steps: tuple[Step, ...] = ()
    broken: tuple[tuple[Guarantee, str], ...] = ()

    @property
    def is_synthetic(self) -> bool:
        """Whether its rows are nobody's."""
        return self.origin is None

    @property
    def blurred(self) -> tuple[str, ...]:
        """The columns whose cells a step drew at random."""
        return tuple(dict.fromkeys(name for step in self.steps if step.blurs for name in step.columns))

    @property
    def is_as_before(self) -> bool:
        """Whether classes are promised, and all rows are there with all quasi-identifiers as they were.

        So it is where the table had these classes before.
        """
        if self.original is None or len(self) < len(self.original):
            return False
        names = set(self.original.roles.quasi_identifiers)
        stays = names <= set(self.table.names) and names.isdisjoint(self.changed)
        return stays and any(one.kind in OF_CLASSES for one in self.guarantees)

    @property
    def native(self) -> Any:
        """The main table as the library of the user has it."""
        return self.table.native

    def __len__(self) -> int:
        return len(self.table)
