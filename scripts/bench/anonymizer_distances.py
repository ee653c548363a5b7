"""Measures y-privacy and Voronoi privacy of a synthetic table beside its original: CPU and wall seconds."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import OUT, guarded, machine, print_table, tell, write_json

from anonymizer.risk.distance.space import Float
from anonymizer.risk.distance.voronoi import voronoi_privacy
from anonymizer.risk.distance.y_privacy import y_privacy
from anonymizer.tables.randomness import Randomness


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_distances", description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=5)
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start = machine()
    original, release = (cloud(seed, asked.rows, asked.columns) for seed in (1, 2))
    found = [
        timed("y-privacy", lambda: y_privacy(original, release)),
        timed("Voronoi privacy", lambda: voronoi_privacy(original, release, 1)),
    ]
    heads = ["measure", "CPU seconds", "wall seconds", "load before", "load after"]
    keys = ["measure", "cpu", "wall", "load_before", "load_after"]
    print_table(
        f"{asked.rows:,} rows x {asked.columns} columns", heads, [[one[key] for key in keys] for one in found]
    )
    values = {"machine": start, "rows": asked.rows, "columns": asked.columns, "cases": found}
    tell(f"written to {write_json(asked.out, 'anonymizer_distances.json', values)}")
    return 0


def cloud(seed: int, rows: int, columns: int) -> Float:
    """Normal numbers around the middle of their range."""
    drawn: Float = 0.5 + 0.1 * Randomness(seed).normal(rows * columns).reshape(rows, columns)
    return drawn


def timed(name: str, measure: Callable[[], Any]) -> dict[str, Any]:
    """One measure: CPU time of all threads, wall time, and the load of the machine."""
    before, wall, cpu = os.getloadavg()[0], time.perf_counter(), time.process_time()
    result = measure()
    return {
        "measure": name,
        "cpu": time.process_time() - cpu,
        "wall": time.perf_counter() - wall,
        "load_before": before,
        "load_after": os.getloadavg()[0],
        "result": str(result),
    }


if __name__ == "__main__":
    sys.exit(guarded(main))
