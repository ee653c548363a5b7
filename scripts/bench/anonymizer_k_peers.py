"""Runs anjana and pycanon for anonymizer_k, in an environment of their own that has both.

Arguments: a CSV file; a JSON file with `columns`, `sensitive` and `hierarchies` (of each column the rows of
its hierarchy). Prints JSON: a list of cases as anonymizer_k tells them.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity
from pycanon import anonymity


def main() -> int:
    """Run the script."""
    frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
    asked = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))
    columns, sensitive = asked["columns"], [asked["sensitive"]]
    levels = {
        column: {place: np.array(list(cells)) for place, cells in enumerate(zip(*rows, strict=True))}
        for column, rows in asked["hierarchies"].items()
    }
    seconds, release = _timed(lambda: k_anonymity(frame.copy(), [], columns, 5, 5, levels))
    classes = release.groupby(columns).size()
    found = [_case("anjana k=5, <= 5 % lost", frame, release, len(classes), int(classes.min()), seconds)]
    for name, check in (
        ("k", lambda: anonymity.k_anonymity(frame, columns)),
        ("l", lambda: anonymity.l_diversity(frame, columns, sensitive)),
        ("t", lambda: anonymity.t_closeness(frame, columns, sensitive)),
    ):
        seconds, _ = _timed(check)
        found.append(_case(f"pycanon check {name}", frame, frame, None, None, seconds))
    print(json.dumps(found))
    return 0


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def _case(
    name: str, before: pd.DataFrame, after: pd.DataFrame, classes: int | None, k: int | None, seconds: float
) -> dict[str, Any]:
    return {
        "case": name,
        "rows": len(before),
        "released": len(after),
        "classes": classes,
        "k": k,
        "ncp": None,
        "seconds": seconds,
        "mib": None,
        "peer": "-",
    }


if __name__ == "__main__":
    sys.exit(main())
