"""Measures MDAV: SSE / SST on the test tables of the literature beside sdcMicro's, seconds on Adult and more.

Tables are read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout; missing ones are left out.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import OUT, guarded, machine, print_table, tell, write_json
from numpy.typing import NDArray

from anonymizer.methods.perturbation.mdav import information_loss, mdav, standardize
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

Float = NDArray[np.float64]

SDCMICRO: Final = {
    "casc_census": {3: 5.692, 5: 9.088, 10: 14.156},
    "casc_tarragona": {3: 16.933, 5: 22.462, 10: 33.193},
    "adult_train": {5: None},
}
"""SSE / SST x 100 of sdcMicro 5.8.1 by table and k, where it was measured."""

SDCMICRO_SECONDS: Final = {"adult_train": 4.9}


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_mdav", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case; the median is told")
    parser.add_argument("--rows", type=int, default=0, help="also this many random rows x 6, k = 5")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start = machine()
    found = [measured(*case, asked.runs) for case in cases(asked.rows)]
    print_table(
        "MDAV on standardized numeric columns",
        ["table", "rows", "columns", "k", "SSE/SST x 100", "sdcMicro", "seconds", "sdcMicro, s"],
        [
            [
                one["table"],
                one["rows"],
                one["columns"],
                one["k"],
                f"{one['loss']:.3f}",
                "-" if one["peer_loss"] is None else f"{one['peer_loss']:.3f}",
                one["seconds"],
                one["peer_seconds"],
            ]
            for one in found
        ],
    )
    tell(f"written to {write_json(asked.out, 'anonymizer_mdav.json', {'machine': start, 'cases': found})}")
    return 0


def cases(rows: int) -> Iterator[tuple[str, Float, int]]:
    """Names, points and k."""
    place = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("DUETTO_SHARED_DATA", place))
    for name, figures in SDCMICRO.items():
        path = folder / f"{name}.csv"
        if not path.exists():
            tell(f"{path} is not here")
            continue
        table = Table.of(files.read(path))
        numeric = [table.numbers(column) for column in table.names if table.is_numeric(column)]
        for k in figures:
            yield name, standardize(np.stack(numeric, axis=1)), k
    if rows:
        yield "random", Randomness(1).normal(6 * rows).reshape(rows, 6), 5


def measured(name: str, points: Float, k: int, runs: int) -> dict[str, Any]:
    """Group the points some times."""
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        groups = mdav(points, k)
        seconds.append(time.perf_counter() - begun)
    return {
        "table": name,
        "rows": points.shape[0],
        "columns": points.shape[1],
        "k": k,
        "loss": 100 * information_loss(points, groups),
        "peer_loss": SDCMICRO.get(name, {}).get(k),
        "seconds": statistics.median(seconds),
        "all_seconds": seconds,
        "peer_seconds": SDCMICRO_SECONDS.get(name),
    }


if __name__ == "__main__":
    sys.exit(guarded(main))
