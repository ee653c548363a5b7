"""Measures the attack simulator: each of 32,561 Adult records is looked for among as many released ones.

The table is read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import OUT, guarded, machine, print_table, tell, write_json

from anonymizer.errors import AnonymizerError
from anonymizer.hierarchies.adult import thesis_hierarchies
from anonymizer.methods.contract.method import Method
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.reduction.generalization import Generalization
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.risk.simulator import simulate_attack
from anonymizer.tables import files
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table

NUMBERS: Final = ("age", "education_num")
CATEGORIES: Final = ("workclass", "marital_status")
ROLES: Final = Roles(quasi_identifiers=(*NUMBERS, *CATEGORIES), sensitive=("income",))
BAR: Final = 10.0


def cases() -> Mapping[str, Sequence[tuple[str, Method]]]:
    """Pipelines, by what they do."""
    noise = Noise(epsilon=0.5, columns=NUMBERS, random_state=1)
    groups = Generalization(levels=dict.fromkeys(CATEGORIES, 1))
    return {
        "nothing": [],
        "generalized to level 1": [("general", Generalization())],
        "noise on numbers": [("noise", noise)],
        "noise, groups": [("noise", noise), ("groups", groups)],
        "noise, groups, 80 % sampled": [
            ("noise", noise),
            ("groups", groups),
            ("sampling", Sampling(rate=0.8, random_state=2)),
        ],
    }


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_simulator", description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="runs of each case; the median is told")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start = machine()
    folder = os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")
    try:
        frame = files.read(Path(folder) / "adult_train.csv")
    except AnonymizerError as error:
        tell(f"anonymizer_simulator: {error}")
        return 64
    columns = [*ROLES.quasi_identifiers, *ROLES.sensitive]
    table = Table.of(frame[columns], ROLES, thesis_hierarchies())
    found = [measured(name, table, steps, asked.runs) for name, steps in cases().items()]
    print_table(
        f"Attack simulator, 4 quasi-identifiers and a sensitive column (bar: {BAR:g} s)",
        ["release", "records", "released", "different records", "n_q", "seconds"],
        [list(one.values())[:6] for one in found],
    )
    content = {"machine": start, "bar": BAR, "cases": found}
    tell(f"written to {write_json(asked.out, 'anonymizer_simulator.json', content)}")
    return 0


def measured(name: str, table: Table, steps: Sequence[tuple[str, Method]], runs: int) -> dict[str, Any]:
    """Attack one release some times."""
    pipeline = Pipeline(steps=steps)
    release = pipeline.fit_transform_table(table)
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        found = simulate_attack(table, release, pipeline, rate=pipeline.sampling_rate)
        seconds.append(time.perf_counter() - begun)
    cells = np.stack([table.codes(column).codes for column in ROLES.quasi_identifiers], axis=1)
    return {
        "release": name,
        "records": len(table),
        "released": len(release),
        "different": len(np.unique(cells, axis=0)),
        "n_q": found.n_q,
        "seconds": statistics.median(seconds),
        "all_seconds": seconds,
    }


if __name__ == "__main__":
    sys.exit(guarded(main))
