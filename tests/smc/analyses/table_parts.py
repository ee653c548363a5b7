"""One side's parts of tables, by their counts."""

from __future__ import annotations

import numpy as np

from smc.analyses.disclosure.audit import Members
from smc.analyses.disclosure.crowds import Crowds
from smc.analyses.disclosure.tables import TablePart, Weighed


def part(counts, persons=None, sums=None, largest=None, amounts=None):
    """A side's part of a table, of counts, and of sums in which one person adds most as said."""
    counts = np.atleast_2d(np.array(counts, dtype=np.int64))
    people = counts if persons is None else np.reshape(persons, counts.shape)
    cells = np.repeat(np.arange(counts.size), counts.reshape(-1))
    values, weighed = {}, ()
    if sums is not None:
        values = {"sum": np.reshape(np.array(sums, dtype=np.int64), counts.shape)}
        weighed = [Weighed(np.reshape(np.array(largest, dtype=np.int64), counts.shape), values["sum"])]
    members = Members(np.arange(len(cells)), cells, amounts)
    return TablePart(counts, Crowds.of(np.array(people)), values, weighed, members)
