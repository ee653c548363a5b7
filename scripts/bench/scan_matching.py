"""Exact matching over CSV: a job of two daemons until both have their matches as CSV, beside SPU's RR22."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import tomli_w

from parties.cli.results import write_csv
from parties.client import Party
from scripts.bench.scan_daemons import mebibytes, processor_seconds, reader_mebibytes, running
from scripts.processes import NAMES, free_port, paired
from scripts.soak.kinds import RULE
from smc.numeric.random import Randomness

_COMMON: Final = 0.6
"""The part of each side's keys that the other has."""
_SETTLED_SECONDS: Final = 2.5
"""So long after its last change a file is trusted to be the same, see `catalog.declarations.stamps`."""
_SPU: Final = Path(__file__).with_name("spu_psi.py")
_DATASET: Final[Mapping[str, Any]] = {
    "source": "people.csv",
    "key": "card",
    "columns": {"card": {"type": "text"}},
}
_SIDE: Final = {"dataset": "people", "columns": {"card": "card"}}
_JOB: Final = {
    "job": {
        "analysis": "matching",
        "title": "Cards that both have",
        "alice": NAMES[0],
        "bob": NAMES[1],
        "recipients": ["alice", "bob"],
    },
    "alice": _SIDE,
    "bob": _SIDE,
    "parameters": {"method": "exact", "keys": ["card"], "output": "keys"},
}


def measure_matching(folder: Path, rows: int, repeat: int, spu: str) -> dict[str, object]:
    """Jobs of two daemons and runs of SPU, by turns, over the same files.

    Args:
        folder: for homes and files.
        rows: of each side.
        repeat: turns.
        spu: a Python that has SPU; empty for none.

    Raises:
        SystemExit: SPU fails, or a size is wrong.
    """
    homes = paired(folder)
    for number, home in enumerate(homes.values()):
        _write(home / "people.csv", rows, number)
        (home / "catalog.toml").write_text(tomli_w.dumps({"datasets": {"people": _DATASET}}))
        (home / "policy.toml").write_text(tomli_w.dumps({"rules": [RULE]}))
    turns, beside = [], []
    with running(homes) as daemons, ProcessPoolExecutor(len(homes)) as clients:
        list(clients.map(time.sleep, [1.0] * len(homes)))  # all of them are there
        for _ in range(repeat):
            for home in homes.values():
                os.utime(home / "people.csv")  # nothing of an earlier job is taken for this one
            changed = time.monotonic()
            if spu:
                beside.append(_spu(spu, homes, folder))
            time.sleep(max(0.0, changed + _SETTLED_SECONDS - time.monotonic()))
            turns.append(_turn(homes, [daemon.pid for daemon in daemons.values()], clients, folder))
        peak = {name: mebibytes(daemon.pid, "VmHWM") for name, daemon in daemons.items()}
        readers = {name: reader_mebibytes(daemon.pid) for name, daemon in daemons.items()}
    expected = round(rows * _COMMON)
    if wrong := [one["size"] for one in (*turns, *beside) if one["size"] != expected]:
        raise SystemExit(f"A run found {wrong[0]} common keys of {expected}.")
    return {
        "rows": rows,
        "file_bytes": (homes[NAMES[0]] / "people.csv").stat().st_size,
        "job_seconds": _median(turns),
        "spu_seconds": _median(beside) if beside else None,
        "jobs": turns,
        "spu": beside,
        "peak_mebibytes": peak,
        "reader_mebibytes": readers,
    }


def _median(turns: Sequence[Mapping[str, Any]]) -> float:
    return round(statistics.median(one["seconds"] for one in turns), 3)


def _write(path: Path, rows: int, number: int) -> None:
    """Distinct cards in random order, of which the sides have a part in common."""
    source = Randomness.from_seed(b"scan", str(number))
    cards = source.permutation(rows) + number * (rows - round(rows * _COMMON))
    path.write_text("card\n" + "".join(f"C{card:09d}\n" for card in cards.tolist()))


def _turn(
    homes: Mapping[str, Path], daemons: list[int], clients: ProcessPoolExecutor, folder: Path
) -> dict[str, Any]:
    before = sum(map(processor_seconds, daemons))
    start = time.perf_counter()
    with Party(homes[NAMES[0]]) as north:
        job = north.submit(_JOB).wait(progress=False, timeout=1800)
    ended = time.perf_counter()
    written = [clients.submit(_written, home, job.id, folder / f"of-{name}") for name, home in homes.items()]
    found = [one.result() for one in written]
    seconds = time.perf_counter() - start
    worked = sum(map(processor_seconds, daemons)) - before + sum(worked for _, worked in found)
    return {
        "seconds": round(seconds, 3),
        "until_kept": round(ended - start, 3),
        "processor_seconds": round(worked, 2),
        "size": found[0][0],
    }


def _written(home: Path, job: str, folder: Path) -> tuple[int, float]:
    """Write a result to a folder as CSV; the number of matches, and the seconds of the processor for that."""
    before = time.process_time()
    with Party(home) as party:
        result = party.job(job).result()
    write_csv(result, folder)
    return result.tables["intersection"]["size"][0], time.process_time() - before


def _spu(python: str, homes: Mapping[str, Path], folder: Path) -> dict[str, Any]:
    """One run of RR22 by two processes that are ready; seconds of the slower one."""
    ports = [str(free_port()) for _ in homes]
    parties = [
        subprocess.Popen(
            [python, _SPU, str(rank), *ports, home / "people.csv", folder / f"spu-{rank}.csv"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for rank, home in enumerate(homes.values())
    ]
    lines = [party.communicate(timeout=1800)[0] for party in parties]
    if any(party.returncode for party in parties):
        raise SystemExit(f"{python} {_SPU.name} fails; install spu 0.9.5 for it.")
    # Its log goes where its answer goes.
    said = [json.loads(next(line for line in text.splitlines() if line.startswith("{"))) for text in lines]
    return {
        "seconds": max(one["seconds"] for one in said),
        "processor_seconds": round(sum(one["processor_seconds"] for one in said), 2),
        "size": said[0]["size"],
    }
