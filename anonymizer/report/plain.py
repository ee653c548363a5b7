"""A search as plain JSON values, by stable names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anonymizer.measures.contract.story import plain
from anonymizer.search.search import SearchResult


def search_values(result: SearchResult) -> Mapping[str, Any]:
    """All trials, and which lie within the limit and on the front."""
    trials = [
        {"parameters": dict(one.point), **figures}
        for one, figures in zip(result.trials, result.figures, strict=True)
    ]
    values: Mapping[str, Any] = plain({"limit": result.limit, "trials": trials})
    return values
