"""What figures about the pairs of a tolerant matching are in the clear."""

from __future__ import annotations

import numpy as np

from smc.analyses.matching.aggregates.parameters import declare_value
from smc.analyses.matching.linked.outcome import outcome
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.tolerant.plain import plain_links
from smc.analyses.matching.tolerant.preview import preview_rows
from smc.analyses.matching.tolerant.records import count_rows, prepare, read_texts
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: LinkedParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """The same pairs in the clear, and the figures about them."""
    matching, sides = parameters.matching, dict(zip(Role, (alice, bob), strict=True))
    counts = {role: count_rows(matching, data) for role, data in sides.items()}
    texts = {role: read_texts(matching, data) for role, data in sides.items()}
    for role in Role:
        preview_rows(matching, texts[role], counts[role]).require()
    links = np.empty((0, 2), dtype=np.int64)
    if all(counts.values()):
        buckets = matching.buckets(tuple(counts.values()))
        first, second = (prepare(matching, texts[role], buckets) for role in Role)
        links = plain_links(matching, first, second)
    rows = dict(zip(Role, links.T, strict=True))
    every, figures = [], [len(links)]
    for value in parameters.figures.values:
        column = sides[value.side][value.column]
        every.append(declare_value(value, column.schema))
        figures.append(int(column.array[rows[value.side]].sum()))
    one, other = (
        outcome(parameters, counts, every, figures if role in recipients else None) for role in Role
    )
    return one, other
