"""Measure jobs of two real daemons that read large files: seconds, and memory of each.

    scripts/bench/scan --rows 10000000,100000000 --folder /somewhere/with/room
    scripts/bench/scan --work matching --rows 1000000 --repeat 5 --spu /environment/of/spu/bin/python

Makes two paired parties with a file each, starts both daemons, and runs jobs between them. `sums` are a
histogram and a mean with noise over Parquet; the check, the proposal and the run each read all rows.
`matching` is exact matching over CSV until both sides have their matches as CSV, by turns with SPU's RR22
over the same files if --spu names a Python with the package `spu`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import tomli_w
from pyarrow import parquet

from parties.bench.workloads import made_up
from parties.client import Party
from scripts.bench.scan_daemons import mebibytes, reader_mebibytes, running
from scripts.bench.scan_matching import measure_matching
from scripts.processes import paired

CHUNK = 1_000_000
CATALOG = """[datasets.people]
source = "people.parquet"
maximum_rows = 100_000_000
[datasets.people.columns.age]
type = "integer"
lower = 0
upper = 120
[datasets.people.columns.mass]
type = "decimal"
scale = 1
lower = 0
upper = 300
"""
POLICY = {
    "rules": [
        {
            "name": "measured",
            "analyses": ["statistics"],
            "peers": ["*"],
            "datasets": ["*"],
            "columns": ["*"],
            "recipients": ["both"],
            "epsilon_per_job": "1",
            "epsilon_total": "10",
            "approval": "auto",
        }
    ]
}
COLUMNS = {"age": "age", "mass": "mass"}
JOB = {
    "job": {
        "analysis": "statistics",
        "title": "Ages and mean mass",
        "alice": "north",
        "bob": "south",
        "recipients": ["alice", "bob"],
    },
    "alice": {"dataset": "people", "columns": COLUMNS},
    "bob": {"dataset": "people", "columns": COLUMNS},
    "parameters": {
        "epsilon": "1",
        "maximum_rows": 200_000_000,
        "queries": [
            {
                "kind": "histogram",
                "name": "ages",
                "column": "age",
                "edges": [str(edge) for edge in range(0, 121, 10)],
            },
            {"kind": "mean", "name": "mass", "column": "mass", "lower": "40", "upper": "150"},
        ],
    },
}


def write(path: Path, rows: int, seed: int) -> None:
    """A file of made-up ages and masses, a million rows in each row group."""
    source = made_up()
    source.words(seed)  # the files of the parties differ
    schema = pa.schema([("age", pa.int64()), ("mass", pa.float64())])
    with parquet.ParquetWriter(path, schema) as file:
        for start in range(0, rows, CHUNK):
            count = min(CHUNK, rows - start)
            ages = (source.words(count) % np.uint64(100)).astype(np.int64)
            masses = (400 + (source.words(count) % np.uint64(1100)).astype(np.int64)) / 10
            file.write_table(pa.table({"age": ages, "mass": masses}, schema=schema))


def measure_sums(folder: Path, rows: int) -> dict[str, object]:
    """One job between two daemons."""
    homes = paired(folder)
    for seed, home in enumerate(homes.values()):
        write(home / "people.parquet", rows, seed)
        (home / "catalog.toml").write_text(CATALOG)
        (home / "policy.toml").write_text(tomli_w.dumps(POLICY))
    with running(homes) as daemons:
        idle = {name: mebibytes(daemon.pid, "VmRSS") for name, daemon in daemons.items()}
        with Party(homes["north"]) as north:
            start = time.perf_counter()
            north.check(JOB)
            checked = time.perf_counter() - start
            start = time.perf_counter()
            job = north.submit(JOB)
            result = job.wait(timeout=1800).result()
            seconds = time.perf_counter() - start
            estimate = north.estimate(JOB)
        peak = {name: mebibytes(daemon.pid, "VmHWM") for name, daemon in daemons.items()}
        readers = {name: reader_mebibytes(daemon.pid) for name, daemon in daemons.items()}
    return {
        "rows": rows,
        "file_bytes": (homes["north"] / "people.parquet").stat().st_size,
        "check_seconds": round(checked, 2),
        "job_seconds": round(seconds, 2),
        "idle_mebibytes": idle,
        "peak_mebibytes": peak,
        "reader_mebibytes": readers,
        "estimated_mebibytes": estimate["memory"] >> 20,
        "counted": sum(result.tables["ages"]["count"]) if "ages" in result.tables else None,
    }


def main() -> None:
    """Measure all numbers of rows, each with daemons of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", choices=("sums", "matching"), default="sums", help="what to measure")
    parser.add_argument("--repeat", type=int, default=3, help="turns of matching, of which the median counts")
    parser.add_argument("--spu", default="", help="a Python with SPU, to match by turns with it")
    parser.add_argument("--rows", default="10000000", help="of each side, with commas")
    parser.add_argument("--folder", type=Path, help="where to make the files; else the usual temporary one")
    given = parser.parse_args()
    results = []
    for rows in map(int, given.rows.split(",")):
        folder = Path(tempfile.mkdtemp(prefix="duetto-", dir=given.folder))
        try:
            if given.work == "sums":
                results.append(measure_sums(folder, rows))
            else:
                results.append(measure_matching(folder, rows, given.repeat, given.spu))
        finally:
            shutil.rmtree(folder)
        print(f"{rows} rows: {results[-1]['job_seconds']} s", file=sys.stderr, flush=True)
    report = {"results": results, "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    print(json.dumps(report | {"python": platform.python_version()}, indent=2))


if __name__ == "__main__":
    main()
