"""Measures synthetic tables of Adult (32,561 rows, 15 columns): how far all two-way marginals are from the
original's, and CPU seconds.

All methods have the same declared domains, 32 bins at most, epsilon and delta; the number of rows is measured
too. The table is read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout. Its categories stand
below, as its documentation has them: nothing is declared from the file.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import OUT, guarded, machine, print_table, tell, write_json

from anonymizer.errors import AnonymizerError
from anonymizer.methods.registry import METHODS
from anonymizer.schema.columns import Column, Schema
from anonymizer.synthetic.domains import domains_of
from anonymizer.tables import files
from anonymizer.tables.table import Table

BAR: Final = 0.7
SECONDS: Final = 60.0
WORDS: Final = ("synth-independent", "synth-mst", "synth-aim", "synth-privbayes", "synth-copula")

BOUNDS: Final = {
    "age": (17, 90),
    "fnlwgt": (10_000, 1_500_000),
    "education_num": (1, 16),
    "capital_gain": (0, 99_999),
    "capital_loss": (0, 4_500),
    "hours_per_week": (1, 99),
}
CATEGORIES: Final = {
    "workclass": "? Federal-gov Local-gov Never-worked Private Self-emp-inc Self-emp-not-inc State-gov "
    "Without-pay",
    "education": "10th 11th 12th 1st-4th 5th-6th 7th-8th 9th Assoc-acdm Assoc-voc Bachelors Doctorate "
    "HS-grad Masters Preschool Prof-school Some-college",
    "marital_status": "Divorced Married-AF-spouse Married-civ-spouse Married-spouse-absent Never-married "
    "Separated Widowed",
    "occupation": "? Adm-clerical Armed-Forces Craft-repair Exec-managerial Farming-fishing "
    "Handlers-cleaners Machine-op-inspct Other-service Priv-house-serv Prof-specialty Protective-serv Sales "
    "Tech-support Transport-moving",
    "relationship": "Husband Not-in-family Other-relative Own-child Unmarried Wife",
    "race": "Amer-Indian-Eskimo Asian-Pac-Islander Black Other White",
    "sex": "Female Male",
    "native_country": "? Cambodia Canada China Columbia Cuba Dominican-Republic Ecuador El-Salvador England "
    "France Germany Greece Guatemala Haiti Holand-Netherlands Honduras Hong Hungary India Iran Ireland Italy "
    "Jamaica Japan Laos Mexico Nicaragua Outlying-US(Guam-USVI-etc) Peru Philippines Poland Portugal "
    "Puerto-Rico Scotland South Taiwan Thailand Trinadad&Tobago United-States Vietnam Yugoslavia",
    "income": "<=50K >50K",
}


def adult() -> Table:
    """The table with its declared columns."""
    folder = os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[3] / "shared" / "data")
    frame = files.read(Path(folder) / "adult_train.csv")
    columns = {name: Column("integer", *ends) for name, ends in BOUNDS.items()}
    columns |= {name: Column("category", categories=tuple(c.split())) for name, c in CATEGORIES.items()}
    return Table.of(frame, None, None, Schema(columns))


def distance(original: Table, release: Table, bins: int) -> float:
    """The mean total variation of all two-way marginals, of the cells that the methods count in."""
    domains = domains_of(original, original.names, bins=bins, cuts=None)
    coded = [np.stack([one.codes(table) for one in domains], axis=1) for table in (original, release)]
    found = []
    for one, other in combinations(range(len(domains)), 2):
        width = domains[other].size
        shares = [
            np.bincount(codes[:, one] * width + codes[:, other], minlength=domains[one].size * width)
            / len(codes)
            for codes in coded
        ]
        found.append(float(np.abs(shares[0] - shares[1]).sum()) / 2)
    return statistics.mean(found)


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_synthetic", description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="releases of each method; means are shown")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-6)
    parser.add_argument("--bins", type=int, default=32)
    parser.add_argument("--methods", default=",".join(WORDS), help="their words with commas between")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    asked = parser.parse_args()
    start = machine()
    try:
        table = adult()
    except AnonymizerError as error:
        tell(f"anonymizer_synthetic: {error}")
        return 64
    found = [measured(word, table, asked) for word in asked.methods.split(",")]
    base = next((one["distance"] for one in found if one["method"] == WORDS[0]), float("nan"))
    print_table(
        f"Adult, {len(table):,} x {len(table.names)}, epsilon {asked.epsilon:g}, delta {asked.delta:g} "
        f"(bars: {BAR:g} times independent for synth-mst and synth-aim, {SECONDS:g} s)",
        ["method", "distance", "worst", "by independent", "CPU seconds", "seconds", "load"],
        [[*[*one.values()][:3], one["distance"] / base, *[*one.values()][3:6]] for one in found],
    )
    content = {"machine": start, "bar": BAR, "seconds": SECONDS, "runs": asked.runs, "cases": found}
    tell(f"written to {write_json(asked.out, 'anonymizer_synthetic.json', content)}")
    return 0


def measured(word: str, table: Table, asked: argparse.Namespace) -> dict[str, Any]:
    """Make some releases by one method."""
    distances, cpu, wall = [], [], []
    for _ in range(asked.runs):
        method = METHODS[word](epsilon=asked.epsilon, delta=asked.delta, bins=asked.bins)
        begun, used = time.perf_counter(), time.process_time()
        release = method.fit_transform_table(table)
        wall.append(time.perf_counter() - begun)
        cpu.append(time.process_time() - used)
        distances.append(distance(table, release, asked.bins))
    return {
        "method": word,
        "distance": statistics.mean(distances),
        "worst": max(distances),
        "cpu": max(cpu),
        "seconds": max(wall),
        "load": os.getloadavg()[0],
        "all": distances,
    }


if __name__ == "__main__":
    sys.exit(guarded(main))
