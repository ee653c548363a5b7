"""What a tolerant matching gives in the clear."""

from __future__ import annotations

import numpy as np

from smc.analyses.matching.tolerant.outcome import (
    NO_ROWS,
    details_of,
    notes_of,
    order_pairs,
    pairs_table,
)
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.plain import chosen_links, plain_links
from smc.analyses.matching.tolerant.preview import preview_rows
from smc.analyses.matching.tolerant.records import count_rows, prepare, read_texts
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import Outcome
from smc.forms import Role


def reference(
    parameters: TolerantParameters, alice: Data, bob: Data, recipients: frozenset[Role]
) -> tuple[Outcome, Outcome]:
    """The same rule in the clear; a partner's number is its row.

    Of largest assignments, where there are several, it may find another one than the joint run.
    """
    sides = dict(zip(Role, (alice, bob), strict=True))
    counts = {role: count_rows(parameters, data) for role, data in sides.items()}
    texts = {role: read_texts(parameters, data) for role, data in sides.items()}
    for role in Role:
        preview_rows(parameters, texts[role], counts[role]).require()
    buckets = parameters.buckets(tuple(counts.values()))
    links = np.empty((0, 2), dtype=np.int64)
    chosen = None
    notes: dict[Role, tuple[str, ...]] = dict.fromkeys(Role, NO_ROWS)
    if all(counts.values()):
        records = {role: prepare(parameters, texts[role], buckets) for role in Role}
        both = records[Role.ALICE], records[Role.BOB]
        if parameters.histogram is None:
            links = plain_links(parameters, *both)
        else:
            links, chosen = chosen_links(parameters, parameters.histogram, *both)
        notes = {role: notes_of(parameters, records[role]) for role in Role}
    first, second = order_pairs(parameters, links).T
    outcomes = [
        pairs_table(parameters, counts, sides[role], rows, partners + 1, notes[role], chosen)
        if role in recipients
        else Outcome.withhold("matches", details_of(parameters, counts, chosen))
        for role, rows, partners in zip(Role, (first, second), (second, first), strict=True)
    ]
    return outcomes[0], outcomes[1]
