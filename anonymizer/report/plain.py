"""A search as plain JSON values, by stable names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.measures.story import plain
from anonymizer.search.search import SearchResult


def search_values(result: SearchResult) -> Mapping[str, Any]:
    """All trials, and which lie within the limit and on the front."""
    trials = [
        {
            "parameters": dict(one.point),
            "risk": one.risk,
            "utility": one.utility,
            "allowed": not one.problem and one.risk <= result.limit,
            "front": bool(front),
            "problem": one.problem,
        }
        for one, front in zip(result.trials, result.front, strict=True)
    ]
    values: Mapping[str, Any] = plain({"limit": result.limit, "trials": trials})
    return values
