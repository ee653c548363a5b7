"""Local suppression: as few and as unimportant cells as possible become `*`, until all classes have k rows.

It is local recoding whose hierarchies have two levels only, the value and nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from anonymizer.hierarchies.hierarchy import ANY, Level, text_of
from anonymizer.methods.contract.parameters import parameters
from anonymizer.methods.recoding.attributes import Attribute, Labelled
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.recoding import number
from anonymizer.risk.candidates import Candidates, LabelCandidates, compose_steps
from anonymizer.tables.table import Table

Bool = NDArray[np.bool_]


@parameters
class LocalSuppression(LocalRecoding):
    """Suppresses cells of the quasi-identifiers, the least important first; no row is lost.

    A suppressed cell is a value of its own here: rows are alike if the same cells are suppressed and the
    others are equal. Where a suppressed cell counts as equal to every value, as in sdcMicro, fewer cells go,
    but classes overlap and who knows a suppressed value can tell more than k says.

    Args:
        k: the least size of a class.
        importance: of columns what a suppressed cell costs, 1 where nothing is said; a column of importance 3
            loses a cell where otherwise more than three cells of importance 1 would go.
        constraints: such as `DistinctDiversity("income", 2)`, or tables with `model` and its entries.
        columns: the quasi-identifiers if None.

    Raises:
        UnreachableError: not even the whole table as one class is allowed.
        SpecError: there are more than 24 columns.

    Reference: the problem and its importance of variables: Templ, Kowarik and Meindl, Statistical disclosure
        control for micro-data using the R package sdcMicro, Journal of Statistical Software 67 (4), 2015,
        section 3.2; hardness: Meyerson and Williams, PODS 2004.
    """

    name: ClassVar[str] = "local-suppression"
    example: ClassVar[Mapping[str, Any]] = {"k": 2}

    weights: Mapping[str, float] | None = field(default=None, init=False)
    limits: Mapping[str, tuple[int, int]] | None = field(default=None, init=False)
    importance: Mapping[str, float] | None = None

    @property
    @override
    def _weights(self) -> Mapping[str, float]:
        return self.importance or {}

    @override
    def _attribute(self, table: Table, column: str) -> Attribute:
        codes = table.codes(column)
        width = len(codes.values)
        texts = tuple(text_of(value) for value in codes.values.tolist())
        own = Level(texts, np.arange(width), np.zeros(width))
        nothing = Level((ANY,), np.zeros(width, dtype=np.int64), np.ones(1))
        return Labelled(codes.codes, width, (own, nothing) if width > 1 else (own,))

    @override
    def simulate(self, column: str, candidates: Candidates) -> Candidates:
        """A value stays or becomes `*`, with high confidence."""
        if column not in getattr(self, "labels_", {}):
            return candidates
        own = self.labels_[column][0]
        labels = np.array([*own, ANY], dtype=object)
        if isinstance(candidates, LabelCandidates):
            texts = np.array([text_of(label) for label in candidates.labels.tolist()], dtype=object)
            member: Bool = texts[:, None] == own[None, :]
            high, low = compose_steps(candidates.high, member), compose_steps(candidates.low, member)
        else:
            high, low = candidates.holds(np.array([number(text) for text in own.tolist()]))
        some = np.ones((len(high), 1), dtype=np.bool_)
        return LabelCandidates(labels, np.hstack((high, some)), np.hstack((low, some)))
