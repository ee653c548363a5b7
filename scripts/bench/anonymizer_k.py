"""Measures the methods for k-anonymity, k = 5: seconds, NCP and memory, beside the peers' printed figures.

Tables are read from DUETTO_SHARED_DATA, or ../shared/data beside the checkout; cases without them are left
out. Seconds are those of one release, from frame to frame, without reading files.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from measuring import OUT, guarded, machine, names, print_table, tell, write_json

from anonymizer.hierarchies import arx
from anonymizer.hierarchies.hierarchy import ANY, Hierarchy, ValueHierarchy
from anonymizer.models.clustering import KMember, OnePassClustering
from anonymizer.models.constraints import Closeness, DistinctDiversity
from anonymizer.models.incognito import Incognito
from anonymizer.models.local_recoding import LocalRecoding
from anonymizer.models.mondrian import Mondrian
from anonymizer.models.recoding import Recoding
from anonymizer.risk.classes import class_risk
from anonymizer.tables import files
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from anonymizer.utility.ncp import ncp

ADULT: Final = (
    "age",
    "education",
    "marital_status",
    "occupation",
    "sex",
    "native_country",
    "race",
    "workclass",
)
DIABETES: Final = (
    "race",
    "gender",
    "age",
    "time_in_hospital",
    "medical_specialty",
    "payer_code",
    "admission_type_id",
)
METHODS: Final[Mapping[str, tuple[str, Callable[[], Recoding], str]]] = {
    "adult-local": ("adult", LocalRecoding, "ARX local: 1.8 s, NCP 0.057"),
    "adult-local-l": (
        "adult",
        lambda: LocalRecoding(constraints=(DistinctDiversity("income", 2),)),
        "none with these columns",
    ),
    "adult-local-t": (
        "adult",
        lambda: LocalRecoding(constraints=(Closeness("income", 0.2),)),
        "none with these columns",
    ),
    "adult-mondrian": ("adult", Mondrian, "-"),
    "adult-mondrian-relaxed": ("adult", lambda: Mondrian(relaxed=True), "-"),
    "adult-k-member": ("adult", lambda: KMember(random_state=1), "-"),
    "adult-one-pass": ("adult", lambda: OnePassClustering(random_state=1), "-"),
    "adult5-incognito": ("adult5", Incognito, "bar: 5 s"),
    "adult5-incognito-5%": ("adult5", lambda: Incognito(max_suppression=0.05), "bar: 5 s"),
    "adult-incognito-5%": (
        "adult",
        lambda: Incognito(max_suppression=0.05),
        "ARX global: 0.46 s, NCP 0.280; anjana 4.2 s, 0.327",
    ),
    "diabetes-local": ("diabetes", LocalRecoding, "ARX local: 1.4 s, NCP 0.046"),
    "million-local": ("million", LocalRecoding, "bar: 30 s, 2 GiB"),
}


def main() -> int:
    """Run the script."""
    parser = argparse.ArgumentParser(prog="anonymizer_k", description=__doc__)
    known = [*METHODS, "diabetes-check"]
    text = f"of {', '.join(known)}".replace("%", "%%")
    parser.add_argument("--cases", type=names, default=known, help=text)
    parser.add_argument("--runs", type=int, default=3, help="runs of each case; the median is told")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the JSON file")
    parser.add_argument("--peers", help="a Python that has anjana and pycanon, to run them on Adult as well")
    asked = parser.parse_args()
    start = machine()
    found = []
    for case in asked.cases:
        try:
            found.append(checked(asked.runs) if case == "diabetes-check" else released(case, asked.runs))
        except OSError as problem:
            tell(f"{case}: {problem}")
            continue
        tell(f"{case}: {found[-1]['seconds']:.2f} s, load {os.getloadavg()[0]:.1f}")
    if asked.peers:
        found += peers(asked.peers)
    print_table(
        "k = 5",
        ["case", "rows", "released", "classes", "least class", "NCP", "seconds", "MiB", "peer"],
        [
            [
                one[key]
                for key in ("case", "rows", "released", "classes", "k", "ncp", "seconds", "mib", "peer")
            ]
            for one in found
        ],
    )
    tell(f"written to {write_json(asked.out, 'anonymizer_k.json', {'machine': start, 'cases': found})}")
    return 0


def released(case: str, runs: int) -> dict[str, Any]:
    """Make a release some times."""
    name, made, peer = METHODS[case]
    table = TABLES[name]()
    seconds = []
    for _ in range(runs):
        method = made()
        begun = time.perf_counter()
        release = method.release(table)
        seconds.append(time.perf_counter() - begun)
    mib = _peak()
    risk = class_risk(release)
    return {
        "case": case,
        "rows": len(table),
        "released": len(release),
        "classes": risk.classes,
        "k": risk.k,
        "ncp": f"{ncp(table, release, method.origin_):.4f}",
        "seconds": statistics.median(seconds),
        "all_seconds": seconds,
        "mib": mib,
        "peer": peer,
    }


def peers(python: str) -> list[dict[str, Any]]:
    """Run the peers on Adult, once each."""
    table = adult()
    hierarchies = {
        column: hierarchy.rows
        for column, hierarchy in table.hierarchies.items()
        if isinstance(hierarchy, ValueHierarchy)
    }
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        table.native.to_csv(place / "table.csv", index=False)
        asked = {"columns": ADULT, "sensitive": "income", "hierarchies": hierarchies}
        (place / "asked.json").write_text(json.dumps(asked), encoding="utf-8")
        script = Path(__file__).with_name("anonymizer_k_peers.py")
        command = [python, str(script), str(place / "table.csv"), str(place / "asked.json")]
        told = subprocess.run(command, check=True, capture_output=True, text=True)
    ours = class_risk_seconds(table)
    found: list[dict[str, Any]] = json.loads(told.stdout.splitlines()[-1])
    return [*found, ours]


def class_risk_seconds(table: Table) -> dict[str, Any]:
    """Our check of k, l and t on the table that the peers checked."""
    begun = time.perf_counter()
    risk = class_risk(table)
    seconds = time.perf_counter() - begun
    return {
        "case": "check k, l and t together",
        "rows": len(table),
        "released": len(table),
        "classes": risk.classes,
        "k": risk.k,
        "ncp": None,
        "seconds": seconds,
        "mib": None,
        "peer": "-",
    }


def checked(runs: int) -> dict[str, Any]:
    """Measure k, l and t of a release with 717 sensitive values and 100,000 rows."""
    table = diabetes()
    release = LocalRecoding().release(table).taken(np.arange(100_000))
    seconds = []
    for _ in range(runs):
        begun = time.perf_counter()
        risk = class_risk(release)
        seconds.append(time.perf_counter() - begun)
    return {
        "case": "diabetes-check",
        "rows": len(release),
        "released": len(release),
        "classes": risk.classes,
        "k": risk.k,
        "ncp": "-",
        "seconds": statistics.median(seconds),
        "all_seconds": seconds,
        "mib": _peak(),
        "peer": "pycanon: 0.4 s (k), 2 s (l), t not done after 230 s",
    }


def adult(columns: tuple[str, ...] = ADULT) -> Table:
    """The rows of Adult without gaps, and ARX's hierarchies."""
    frame = files.read(_folder() / "adult_train.csv")
    frame = frame[~(frame[list(ADULT)] == "?").any(axis=1)].reset_index(drop=True)
    roles = Roles(quasi_identifiers=columns, sensitive=("income",))
    return Table.of(frame[[*ADULT, "income"]], roles, _adult_hierarchies())


def diabetes() -> Table:
    """The hospital stays, with hierarchies by rule.

    Age: bands of 10, 20, 40 years; days: 1, 2, 4; specialty: what comes before its first sign; others: `*`.
    """
    frame = files.read(_folder() / "diabetes_130.csv.gz")[[*DIABETES, "diag_1"]]
    rules: Mapping[str, Callable[[str], list[str]]] = {
        "age": lambda band: [f"{width} years, {_decade(band) * 10 // width}" for width in (20, 40)],
        "time_in_hospital": lambda days: [f"{width} days, {(int(days) - 1) // width}" for width in (2, 4)],
        "medical_specialty": lambda name: [f"group {re.split('[-/&]', name)[0]}"],
    }
    hierarchies: dict[str, Hierarchy] = {}
    for column in DIABETES:
        values = [str(value) for value in sorted(frame[column].unique().tolist())]
        rule = rules.get(column, lambda _: [])
        hierarchies[column] = ValueHierarchy([[value, *rule(value), ANY] for value in values])
    return Table.of(frame, Roles(quasi_identifiers=DIABETES, sensitive=("diag_1",)), hierarchies)


def million(rows: int = 1_000_000) -> Table:
    """Rows of Adult drawn again and again; a tenth of the cells are from other rows, ages move by up to 3."""
    source = adult().native
    randomness = Randomness(1)
    drawn = randomness.integers(len(source), rows)
    columns = {}
    for column in ADULT:
        others = np.where(randomness.uniform(rows) < 0.1, randomness.integers(len(source), rows), drawn)
        columns[column] = source[column].to_numpy()[others]
    columns["age"] = np.clip(columns["age"] + randomness.integers(7, rows) - 3, 1, 100)
    return Table.of(pd.DataFrame(columns), Roles(quasi_identifiers=ADULT), _adult_hierarchies())


TABLES: Final[Mapping[str, Callable[[], Table]]] = {
    "adult": adult,
    "adult5": lambda: adult(ADULT[:5]),
    "diabetes": diabetes,
    "million": million,
}


def _adult_hierarchies() -> dict[str, Hierarchy]:
    folder = _folder() / "hierarchies" / "arx_adult"
    return {column: arx.read(folder / f"{column.replace('_', '-')}.csv") for column in ADULT}


def _folder() -> Path:
    place = Path(__file__).parents[3] / "shared" / "data"
    return Path(os.environ.get("DUETTO_SHARED_DATA", place))


def _decade(band: str) -> int:
    return int(band.strip("[)").split("-")[0]) // 10


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(guarded(main))
