"""Measures the three attacks on Adult: the release has shuffled columns, but a part of the rows leaked whole.

32,561 original rows (adult_train), 16,281 of a control group (adult_test), as many released rows as original
ones. A good attack finds the part: its confidence interval covers it. Each run draws another release. Tables
are read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import OUT, guarded, machine, print_table, tell, write_json

from anonymizer.risk.attacks.inference import inference
from anonymizer.risk.attacks.linkability import linkability
from anonymizer.risk.attacks.outcome import Attack
from anonymizer.risk.attacks.singling_out import singling_out, singling_out_values
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table

ALL: Final = "the three"
VALUES: Final = "singling out by fnlwgt alone"
TARGET: Final = "income"

Run = Callable[[Table, Table, Table, int, int], Attack]
ATTACKS: Final[Mapping[str, Run]] = {
    "singling out": lambda o, r, c, n, seed: singling_out(o, r, c, attempts=n, random_state=seed),
    "linkability": lambda o, r, c, n, seed: linkability(o, r, c, attempts=n, random_state=seed),
    "inference": lambda o, r, c, n, seed: inference(o, r, c, secret=TARGET, attempts=n, random_state=seed),
    VALUES: lambda o, r, c, n, seed: singling_out_values(
        o, r, c, columns=("fnlwgt",), attempts=n, random_state=seed
    )["fnlwgt"],
}
ANONYMETER: Final = {
    "singling out": "0.21 [0.17, 0.26], 22.5 s for 500 attempts",
    "linkability": "0.024, 9.1 s for 1000",
    "inference": "0.18, 4.2 s for 1000",
    VALUES: "0.77, 0.8 s for 500, all columns",
}
"""What anonymeter 1.1.0 found on a table made in the same way."""


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_attacks", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="releases; medians are told")
    parser.add_argument("--attempts", type=int, default=2000, help="of each attack")
    parser.add_argument("--part", type=float, default=0.2, help="of the rows that leak")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start = machine()
    folder = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data"))
    original, control = (Table.of(files.read(folder / f"adult_{name}.csv")) for name in ("train", "test"))
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ATTACKS}
    for run in range(asked.runs):
        release = leaking(original, asked.part, run)
        for name, attack in ATTACKS.items():
            begun, processor = time.perf_counter(), time.process_time()
            one = attack(original, release, control, asked.attempts, run)
            found[name].append(
                {
                    "risk": one.risk,
                    "interval": one.interval,
                    "covers": one.interval[0] <= asked.part <= one.interval[1],
                    "seconds": time.perf_counter() - begun,
                    "processor_seconds": time.process_time() - processor,
                }
            )
            tell(f"run {run + 1}, {name}: {one.risk:.3f}")
    rows = [[name, *_middle(ones), ANONYMETER[name]] for name, ones in found.items()]
    total = [sum(found[name][run]["seconds"] for name in list(ATTACKS)[:3]) for run in range(asked.runs)]
    rows.append([ALL, "-", "-", "-", statistics.median(total), "-", "-"])
    print_table(
        f"{asked.attempts} attempts each, {asked.part:.0%} of the rows leaked, {asked.runs} releases",
        ["attack", "risk", "95 % interval", "covers", "seconds", "processor s", "anonymeter"],
        rows,
    )
    content = {"machine": start, "load_at_end": list(os.getloadavg()), "runs": found, "all_seconds": total}
    tell(f"written to {write_json(asked.out, 'anonymizer_attacks.json', content)}")
    return 0


def leaking(original: Table, part: float, seed: int) -> Table:
    """A release of shuffled columns in which a part of the rows is as it was."""
    randomness = Randomness(seed)
    frame = original.native
    rows = randomness.permutation(len(frame))[: round(part * len(frame))]
    held = np.zeros(len(frame), dtype=np.bool_)
    held[rows] = True
    mixed = {}
    for name in original.names:
        cells = frame[name].to_numpy()
        mixed[name] = np.where(held, cells, cells[randomness.permutation(len(frame))])
    return Table.of(type(frame)(mixed))


def _middle(ones: list[dict[str, Any]]) -> list[Any]:
    middle = sorted(ones, key=lambda one: float(one["risk"]))[len(ones) // 2]
    low, high = middle["interval"]
    return [
        middle["risk"],
        f"[{low:.3f}, {high:.3f}]",
        f"{sum(one['covers'] for one in ones)} of {len(ones)}",
        statistics.median(one["seconds"] for one in ones),
        statistics.median(one["processor_seconds"] for one in ones),
    ]


if __name__ == "__main__":
    sys.exit(guarded(main))
