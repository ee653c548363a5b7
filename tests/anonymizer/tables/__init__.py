"""Small tables for the methods that make classes, and what a release of them has to hold."""

from __future__ import annotations

import math
from collections import Counter

import pandas as pd
from hypothesis import strategies as st

from anonymizer.hierarchies.hierarchy import ANY, ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy
from anonymizer.schema.columns import Column, Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

ROLES = Roles(quasi_identifiers=("age", "city", "job"), sensitive=("illness",))
HIERARCHIES = {
    "age": IntervalHierarchy.of_widths(0, 16, [2, 8]),
    "city": ValueHierarchy([[c, "east" if c < "c" else "west", ANY] for c in "abcde"]),
    "job": ValueHierarchy([["x", "work"], ["y", "work"], ["z", "rest"]]),
}


SCHEMA = Schema({"illness": Column("category", categories=("u", "v", "w"), ordered=True)})


@st.composite
def tables(draw, least: int = 1, most: int = 40) -> Table:
    cells = st.tuples(
        st.integers(0, 15), st.sampled_from("abcde"), st.sampled_from("xyz"), st.sampled_from("uvw")
    )
    rows = draw(st.lists(cells, min_size=least, max_size=most))
    frame = pd.DataFrame(rows, columns=["age", "city", "job", "illness"])
    return Table.of(frame, ROLES, HIERARCHIES, SCHEMA)


def classes_of(release: Table, columns=ROLES.quasi_identifiers) -> list[list[int]]:
    """The places of the rows of each class, by plain means."""
    found: dict[tuple, list[int]] = {}
    for place, row in enumerate(release.native[list(columns)].itertuples(index=False)):
        found.setdefault(tuple(row), []).append(place)
    return list(found.values())


def measures(cells: list[str], everything: list[str]) -> dict[str, float]:
    """The measures of one class from their definitions."""
    counts = Counter(cells)
    ranked = sorted(counts.values(), reverse=True)
    kinds = sorted(set(everything))
    own = [counts[kind] / len(cells) for kind in kinds]
    whole = [everything.count(kind) / len(everything) for kind in kinds]
    gaps = [a - b for a, b in zip(own, whole, strict=True)]
    return {
        "distinct": len(counts),
        "entropy": math.exp(-sum(c / len(cells) * math.log(c / len(cells)) for c in ranked)),
        "recursive": ranked[0] / sum(ranked[1:]) if len(ranked) > 1 else math.inf,
        "distance": sum(map(abs, gaps)) / 2,
        "ordered": sum(abs(sum(gaps[: i + 1])) for i in range(len(gaps))) / max(1, len(kinds) - 1),
    }
