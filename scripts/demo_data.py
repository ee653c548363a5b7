"""Splits scikit-learn's breast-cancer table between two hospitals and writes what the demo needs.

    demo_data.py DIR      with the homes DIR/north and DIR/south made by `duetto init`

Writes each hospital's data, catalog and policy, the job files, and truth.txt: what the joint statistics
would be without noise, for the eyes of the demo only.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from sklearn.datasets import load_breast_cancer

FEATURES = (
    *("radius", "texture", "perimeter", "area", "smoothness"),
    *("compactness", "concavity", "concave points", "symmetry", "fractal dimension"),
)
DIGITS = 5
NORTH_ROWS = 285
PATIENT = 0
PERCENTILES = range(10, 100, 10)
EDGES = (6, 10, 14, 18, 22, 30)

CATALOG = {
    "tumours": """
[datasets.tumours]
source = "tumours.csv"
key = "patient_id"
[datasets.tumours.columns.diagnosis]
type = "category"
values = ["benign", "malignant"]
[datasets.tumours.columns.radius]
type = "decimal"
scale = 3
lower = "0"
upper = "40"
unit = "image units"
[datasets.tumours.columns.area]
type = "decimal"
scale = 1
lower = "0"
upper = "3000"
unit = "square image units"
""",
    "measured": """
[datasets.{name}]
source = "{name}.csv"
key = "feature"
[datasets.{name}.columns.value]
type = "decimal"
scale = 5
lower = "0"
upper = "3000"
""",
    "percentiles": """
[datasets.percentiles]
source = "percentiles.csv"
key = "percent"
[datasets.percentiles.columns.radius]
type = "decimal"
scale = 3
lower = "0"
upper = "40"
unit = "image units"
""",
}

POLICY = """\
[[rules]]
name = "compare single values with {peer}"
analyses = ["comparison"]
peers = ["{peer}"]
datasets = ["{measured}"]
columns = ["value"]
recipients = ["{recipient}"]
types = ["PN-NP-PN"]
runs_per_day = 20
approval = "auto"

[[rules]]
name = "compare percentiles, result in shares"
analyses = ["comparison"]
peers = ["{peer}"]
datasets = ["percentiles"]
columns = ["radius"]
recipients = ["both"]
types = ["PN-NP-SS"]
approval = "auto"

[[rules]]
name = "statistics with {peer}"
analyses = ["statistics"]
peers = ["{peer}"]
datasets = ["tumours"]
columns = ["diagnosis", "radius"]
recipients = ["both"]
epsilon_per_job = "2"
epsilon_total = "3"
minimum_rows = 100
approval = "{approval}"
"""

JOBS = {
    "patient": """\
[job]
analysis = "comparison"
title = "Which measurements of one patient lie above 90 % of the other hospital's?"
alice = "north"
bob = "south"
recipients = ["alice"]

[alice]
dataset = "patient"
columns = { x = "value" }

[bob]
dataset = "norms"
columns = { y = "value" }

[parameters]
type = "PN-NP-PN"
bits = 32
""",
    "percentiles": """\
[job]
analysis = "comparison"
title = "At which percentiles are north's tumours larger? Answers stay shared."
alice = "north"
bob = "south"
recipients = ["alice", "bob"]

[alice]
dataset = "percentiles"
columns = { x = "radius" }

[bob]
dataset = "percentiles"
columns = { y = "radius" }

[parameters]
type = "PN-NP-SS"
bits = 16
engine = "oblivious"
""",
    "statistics": f"""\
[job]
analysis = "statistics"
title = "Tumours of both hospitals together"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]

[alice]
dataset = "tumours"
columns = {{ diagnosis = "diagnosis", radius = "radius" }}

[bob]
dataset = "tumours"
columns = {{ diagnosis = "diagnosis", radius = "radius" }}

[parameters]
epsilon = "2"
max_rows = 100000

[[parameters.queries]]
kind = "count"
name = "patients"

[[parameters.queries]]
kind = "histogram"
column = "diagnosis"

[[parameters.queries]]
kind = "mean"
column = "radius"

[[parameters.queries]]
kind = "histogram"
column = "radius"
edges = {list(EDGES)}
""",
}

Rows = list[tuple[str, list[float]]]
"""Diagnosis and the ten mean values of a patient."""


def load() -> Rows:
    table = load_breast_cancer()
    names = [str(name) for name in table.target_names]
    return [
        (names[kind], [float(value) for value in values[: len(FEATURES)]])
        for kind, values in zip(table.target, table.data, strict=True)
    ]


def percentile(values: Iterable[float], percent: int) -> float:
    ordered = sorted(values)
    return ordered[-(-percent * len(ordered) // 100) - 1]


def write_csv(path: Path, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(heads)
        writer.writerows(rows)


def write_hospital(home: Path, rows: Rows, measured: str, values: Sequence[float]) -> None:
    letter = home.name[0].upper()
    area = FEATURES.index("area")
    write_csv(
        home / "tumours.csv",
        ("patient_id", "diagnosis", "radius", "area"),
        [
            (f"{letter}{number:03}", diagnosis, f"{tumour[0]:.3f}", f"{tumour[area]:.1f}")
            for number, (diagnosis, tumour) in enumerate(rows, 1)
        ],
    )
    write_csv(
        home / f"{measured}.csv",
        ("feature", "value"),
        [(feature, f"{value:.{DIGITS}f}") for feature, value in zip(FEATURES, values, strict=True)],
    )
    radii = [tumour[0] for _, tumour in rows]
    write_csv(
        home / "percentiles.csv",
        ("percent", "radius"),
        [(p, f"{percentile(radii, p):.3f}") for p in PERCENTILES],
    )
    catalog = "".join(text.format(name=measured) for text in CATALOG.values())
    (home / "catalog.toml").write_text(catalog.lstrip(), encoding="utf-8")


def write_policy(home: Path, peer: str, measured: str, recipient: str, approval: str) -> None:
    text = POLICY.format(peer=peer, measured=measured, recipient=recipient, approval=approval)
    (home / "policy.toml").write_text(text, encoding="utf-8")


def truth(rows: Rows) -> str:
    radii = [values[0] for _, values in rows]
    bins = [sum(low <= radius < high for radius in radii) for low, high in pairwise(EDGES)]
    kinds = [f"{sum(one == kind for one, _ in rows)} {kind}" for kind in ("benign", "malignant")]
    mean = sum(radii) / len(radii)
    return (
        f"{len(rows)} patients, {', '.join(kinds)}, mean radius {mean:.3f}, bins {' '.join(map(str, bins))}"
    )


def main(folder: Path) -> None:
    rows = load()
    north, south = rows[:NORTH_ROWS], rows[NORTH_ROWS:]
    norms = [percentile((values[i] for _, values in south), 90) for i in range(len(FEATURES))]
    write_hospital(folder / "north", north, "patient", north[PATIENT][1])
    write_hospital(folder / "south", south, "norms", norms)
    write_policy(folder / "north", "south", "patient", "self", "auto")
    write_policy(folder / "south", "north", "norms", "peer", "person")
    for name, text in JOBS.items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    (folder / "truth.txt").write_text(truth(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
