"""Measure a histogram and a mean over large Parquet files of two real daemons: seconds, and memory of each.

    scripts/bench/scan --rows 10000000,100000000 --folder /somewhere/with/room

Makes two paired parties with a Parquet file each, starts both daemons, and runs a job with noise between
them; the check, the proposal and the run each read all rows.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
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
from scripts.processes import paired, started

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


def mebibytes(process: int, field: str) -> int:
    """Resident memory of a process: `VmRSS` now, `VmHWM` at its peak."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) >> 10
    return 0


def measure(folder: Path, rows: int) -> dict[str, object]:
    """One job between two daemons."""
    homes = paired(folder)
    for seed, home in enumerate(homes.values()):
        write(home / "people.parquet", rows, seed)
        (home / "catalog.toml").write_text(CATALOG)
        (home / "policy.toml").write_text(tomli_w.dumps(POLICY))
    daemons = {name: started(home) for name, home in homes.items()}
    try:
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
    finally:
        for daemon in daemons.values():
            daemon.send_signal(signal.SIGTERM)
            daemon.wait(120)
    return {
        "rows": rows,
        "file_bytes": (homes["north"] / "people.parquet").stat().st_size,
        "check_seconds": round(checked, 2),
        "job_seconds": round(seconds, 2),
        "idle_mebibytes": idle,
        "peak_mebibytes": peak,
        "estimated_mebibytes": estimate["memory"] >> 20,
        "counted": sum(result.tables["ages"]["count"]) if "ages" in result.tables else None,
    }


def main() -> None:
    """Measure all numbers of rows, each with daemons of its own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default="10000000", help="of each side, with commas")
    parser.add_argument("--folder", type=Path, help="where to make the files; else the usual temporary one")
    given = parser.parse_args()
    results = []
    for rows in map(int, given.rows.split(",")):
        folder = Path(tempfile.mkdtemp(prefix="duetto-", dir=given.folder))
        try:
            results.append(measure(folder, rows))
        finally:
            shutil.rmtree(folder)
        print(f"{rows} rows: {results[-1]['job_seconds']} s", file=sys.stderr, flush=True)
    report = {"results": results, "cores": os.cpu_count(), "load": os.getloadavg()[0]}
    print(json.dumps(report | {"python": platform.python_version()}, indent=2))


if __name__ == "__main__":
    main()
