"""Measures the methods for k-anonymity, k = 5: seconds, NCP and memory, beside the peers' printed figures.

Each case runs in a process of its own, so that its memory is its own; cases whose files are missing are left
out. Seconds are those of one release, from frame to frame, without reading or making the table; memory is the
largest that the process had, the table and its making included. On a machine that others use as well the
seconds of the processor say more.
"""

from __future__ import annotations

import argparse
import json
import os
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
from anonymizer_tables import ADULT, TABLES, adult, diabetes
from measuring import OUT, guarded, machine, names, print_table, tell, write_json
from ncp import ncp

from anonymizer.hierarchies.hierarchy import ValueHierarchy
from anonymizer.methods.conditions.constraints import Closeness, DistinctDiversity
from anonymizer.methods.recoding.clustering import KMember, OnePassClustering
from anonymizer.methods.recoding.incognito import Incognito
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.methods.recoding.mondrian import Mondrian
from anonymizer.methods.recoding.recoding import Recoding
from anonymizer.risk.class_risk import class_risk
from anonymizer.tables.table import Table

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
    "adult5-incognito-5%": ("adult5", lambda: Incognito(maximum_suppression=0.05), "bar: 5 s"),
    "adult-incognito-5%": (
        "adult",
        lambda: Incognito(maximum_suppression=0.05),
        "ARX global: 0.46 s, NCP 0.280; anjana 4.2 s, 0.327",
    ),
    "diabetes-local": ("diabetes", LocalRecoding, "ARX local: 1.4 s, NCP 0.046"),
    "skewed-incognito-5%": ("skewed", lambda: Incognito(maximum_suppression=0.05), "bar: 3 s"),
    "million-local": ("million", LocalRecoding, "bar: 30 s, 2 GiB"),
    "ten-million-local": ("ten-million", LocalRecoding, "bar: 120 s, 6 GiB"),
    "ten-million-skewed-local": ("ten-million-skewed", LocalRecoding, "bar: 120 s, 6 GiB"),
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
    parser.add_argument("--here", action="store_true", help="run the one case in this process; prints JSON")
    asked = parser.parse_args()
    if asked.here:
        (case,) = asked.cases
        one = checked(asked.runs) if case == "diabetes-check" else released(case, asked.runs)
        print(json.dumps(one | {"load": os.getloadavg()[0]}))
        return 0
    start = machine()
    found = []
    for case in asked.cases:
        command = [sys.executable, __file__, "--here", "--cases", case, "--runs", str(asked.runs)]
        ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if ended.returncode:
            tell(f"{case}: no result")
            continue
        found.append(json.loads(ended.stdout))
        tell(f"{case}: {found[-1]['seconds']:.2f} s, {found[-1]['mib']} MiB, load {found[-1]['load']:.1f}")
    if asked.peers:
        found += peers(asked.peers)
    print_table(
        "k = 5",
        ["case", "rows", "released", "classes", "least class", "NCP", "seconds", "processor", "MiB", "peer"],
        [
            [
                one.get(key)
                for key in (
                    *("case", "rows", "released", "classes", "k", "ncp"),
                    *("seconds", "processor", "mib", "peer"),
                )
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
    seconds, processor = [], []
    for _ in range(runs):
        method = made()
        begun, worked = time.perf_counter(), time.process_time()
        release = method.fit_transform_table(table)
        seconds.append(time.perf_counter() - begun)
        processor.append(time.process_time() - worked)
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
        "processor": statistics.median(processor),
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
    release = LocalRecoding().fit_transform_table(table).take(np.arange(100_000))
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


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    sys.exit(guarded(main))
