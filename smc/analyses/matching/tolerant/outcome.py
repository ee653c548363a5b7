"""The tables and notes of a tolerant matching."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.matching.tolerant.assignment import largest_assignment
from smc.analyses.matching.tolerant.coverage import Coverage
from smc.analyses.matching.tolerant.histogram import EDGES, NEIGHBOURS, Chosen
from smc.analyses.matching.tolerant.parameters import LARGEST, TolerantParameters
from smc.analyses.matching.tolerant.records import Records
from smc.analyses.records.normalization import normalize
from smc.analyses.records.numbers import text
from smc.analyses.studies.columns import Data
from smc.analyses.studies.outcome import DATE, Outcome, Table
from smc.forms import Role

NO_ROWS: Final = ("A side has no rows, so nothing matches.",)


def route(parameters: TolerantParameters) -> str:
    """How records are compared, in words."""
    ways = "where rows of the same key and rank meet" if parameters.ranks else "bucket by bucket"
    return f"Bloom filters compared {ways} by oblivious transfer"


def order_pairs(parameters: TolerantParameters, links: NDArray[np.int64]) -> NDArray[np.int64]:
    """The pairs of the result, as Alice's and Bob's numbers, in an order that both sides find alike."""
    if parameters.one_to_one == LARGEST:
        chosen = largest_assignment((int(left), int(right)) for left, right in links)
        return np.array(chosen, dtype=np.int64).reshape(-1, 2)
    return links[np.lexsort((links[:, 1], links[:, 0]))]


def pairs_table(
    parameters: TolerantParameters,
    counts: Mapping[Role, int],
    data: Data,
    rows: NDArray[np.int64],
    partners: NDArray[np.int64],
    notes: tuple[str, ...],
    chosen: Chosen | None = None,
) -> Outcome:
    """The table of a recipient.

    Args:
        parameters: of the job.
        counts: rows of each role.
        data: the local columns.
        rows: the local rows of the pairs, from 0, shape (k,).
        partners: numbers that stand for the peer's rows, from 1, shape (k,).
        notes: remarks for people.
        chosen: the least score, where it is chosen in the run.
    """
    columns: dict[str, list[Any]] = {
        "pair": list(range(1, len(rows) + 1)),
        "row": (rows + 1).tolist(),
        "partner": partners.tolist(),
    }
    for name in parameters.show:
        texts = normalize(data[name], (), f"The column {name!r}")
        columns[name] = [texts[row] for row in rows]
    kinds = {name: DATE for name in parameters.show if data[name].schema.is_date}
    details = details_of(parameters, counts, chosen)
    return Outcome((Table("pairs", columns, kinds),), (*notes, *_describe(parameters, chosen)), details)


def notes_of(parameters: TolerantParameters, records: Records) -> tuple[str, ...]:
    """What people have to know of the pairs and of the local records."""
    notes = [
        "Rows count from 1. A pair has the same number in the tables of both recipients; a partner's number "
        "stands for a row of the other side in this run alone."
    ]
    coverage = Coverage.of(parameters, records.ranked or records.layouts, len(records))
    if any((*coverage.full, *coverage.keyless)):
        notes.extend(coverage.notes)
    empty = int((~records.filters.rows.any(axis=1)).sum())
    if empty:
        notes.append(f"{empty} local rows have no text in any field and match nothing.")
    if records.filters.thinned:
        notes.append(
            f"The filters of {records.filters.thinned} local rows weighed too much and lost some ones."
        )
    return tuple(notes)


def _describe(parameters: TolerantParameters, chosen: Chosen | None) -> tuple[str, ...]:
    if chosen is None:
        return ()
    return (
        f"The least score was moved by {chosen.moved} units in the run, by a histogram with noise.",
        *(
            [
                f"About {max(0, chosen.near(band))} claims have a score within {band} units of it, by the "
                "noisy counts of their bins: as many pairs as people would have to look at."
            ]
            if parameters.histogram is not None and (band := parameters.histogram.band)
            else []
        ),
    )


def details_of(
    parameters: TolerantParameters, counts: Mapping[Role, int], chosen: Chosen | None = None
) -> dict[str, Any]:
    """What results say of the run.

    Args:
        parameters: of the job.
        counts: rows of each role.
        chosen: the least score, where it was chosen in the run.
    """
    if parameters.ranks:
        items = parameters.ranks * min(counts.values())
        meets = {"ranks": parameters.ranks, "compared": len(parameters.blocking) * items}
    else:
        buckets = parameters.buckets(tuple(counts.values()))
        compared = len(parameters.blocking) * buckets * parameters.bucket**2
        meets = {"buckets": buckets, "compared": compared}
    return {
        "route": route(parameters),
        "engine": "oblivious",
        "one_to_one": parameters.one_to_one,
        **({"threshold": text(parameters.threshold)} if parameters.threshold else {}),
        "least_score": parameters.least_score + (0 if chosen is None else chosen.moved),
        "bits": len(parameters.score.weights),
        "passes": len(parameters.blocking),
        **meets,
        **_histogram(parameters, chosen),
    }


def _histogram(parameters: TolerantParameters, chosen: Chosen | None) -> dict[str, Any]:
    histogram = parameters.histogram
    if histogram is None:
        return {}
    return {
        "stated_least_score": parameters.least_score,
        "histogram": {
            "from": [parameters.least_score + edge for edge in EDGES],
            "rows": None if chosen is None else list(chosen.counts),
            **({} if chosen is None or not histogram.band else {"band": chosen.near(histogram.band)}),
            "epsilon": text(histogram.epsilon),
            "noise_scale": str(1 / histogram.noise.rate),
        },
        "guarantee": "of the histogram and the least score: (epsilon, delta)-differential privacy, "
        "computational towards the parties; of the pairs: none",
        "neighbours": str(NEIGHBOURS),
    }
