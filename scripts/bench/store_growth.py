"""Measure start-up, listings and memory of a daemon whose home holds many jobs and large results.

    scripts/bench/store --jobs 10000 --megabytes 1 --folder /somewhere/with/room
    scripts/bench/store --jobs 10000 --megabytes 0.01 --runs

Makes a party, one finished job in its store, and copies of it with results of random letters; then starts
the real daemon and asks it. With `--runs` all that is done again when the record of a covert run that is due
is kept for each job.
Prints one JSON object. The folder is deleted afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import secrets
import shutil
import signal
import sqlite3
import statistics
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

from parties.client import Party
from parties.config import Address
from parties.contracts.contract import Contract
from parties.contracts.spec import parse_spec
from parties.contracts.state import State
from parties.evidence.store import CASE, COIN, DUE, INPUTS, EvidenceStore, Standing
from parties.jobs.storage.store import JobStore
from parties.pki.home import make
from scripts.processes import duetto, started
from smc.analyses.disclosure.limits import NO_LIMITS
from smc.analyses.studies.columns import Schema
from smc.channel.message import Frame
from smc.errors import DuettoError
from smc.forms import Role

JOB = """[job]
analysis = "comparison"
title = "Who is older"
alice = "north"
bob = "south"
recipients = ["alice", "bob"]
[alice]
dataset = "patients"
columns = { x = "age" }
[bob]
dataset = "patients"
columns = { y = "age" }
[parameters]
type = "PN-NP-PN"
bits = 7
"""
_RECORD_BYTES = 10_000
"""Of each part of a record, which is kept as any other file is."""

COLUMNS = (
    *("state", "role", "peer", "dataset", "outgoing", "analysis", "title", "format"),
    *("created", "updated", "started", "kept"),
)


def fill(home: Path, jobs: int, megabytes: float) -> None:
    """One job as the store writes it, and copies under other names."""
    age = Schema("integer", lower=0, upper=120, unit="years")
    contract = Contract(
        parse_spec(JOB),
        Role.ALICE,
        secrets.token_hex(32),
        {role: secrets.token_hex(32) for role in Role},
        {Role.ALICE: {"x": age}, Role.BOB: {"y": age}},
        dict.fromkeys(Role, NO_LIMITS),
    )
    store = JobStore(home)
    first = store.insert(contract, Role.ALICE, "south", State.PROPOSED, outgoing=True).job_id
    store.move(first, State.APPROVED)
    store.move(first, State.RUNNING)
    text = secrets.token_hex(int(megabytes * 500_000))
    store.keep(first, {"tables": [{"name": "t", "columns": {"x": [text]}}]}, {"seconds": 1}, {"salt": ""})
    store.finish(first)
    store.close()
    (kept,) = (home / "results").glob(f"{first}*")  # sealed for the first job: listings read no results
    result = kept.read_bytes()
    names = ", ".join(COLUMNS)
    with sqlite3.connect(home / "jobs.sqlite") as database:
        for _ in range(jobs - 1):
            name = secrets.token_hex(8)
            kept.with_name(kept.name.replace(first, name)).write_bytes(result)
            database.execute(
                f"insert into jobs (job_id, digest, {names}) select ?, ?, {names} from jobs where job_id = ?",  # noqa: S608
                (name, secrets.token_hex(32), first),
            )
            database.execute(
                "insert into papers select ?, contract, own_signature, peer_signature, facts, certificate "
                "from papers where job_id = ?",
                (name, first),
            )
    database.close()
    os.sync()


def keep_runs(home: Path) -> None:
    """A record of a run that is due for each job, all sealed for the first: listings open none of them."""
    with sqlite3.connect(home / "jobs.sqlite") as database:
        first, *others = (name for (name,) in database.execute("select job_id from jobs"))
    database.close()
    store, due = EvidenceStore(home), Standing(first, "south", DUE, COIN, ended="2026-11-30T12:00:00Z")
    frames = store.begin(due)
    data = secrets.token_bytes(_RECORD_BYTES)
    frames.keep(Frame(0, "opened-shares", 1, len(data), data))
    frames.flush()
    for part in (CASE, INPUTS):
        store.write(first, part, data)
    for name in others:
        folder = shutil.copytree(store.path / first, store.path / name)
        (folder / "state.json").write_text(json.dumps(asdict(replace(due, job_id=name))))
    os.sync()


def peak_megabytes(process: int) -> float:
    """The largest resident memory of a process so far."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0


def processor_seconds(process: int) -> float:
    """What a process has had of the processors, which says more than a clock where others work, too."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2)


def timed(work: object) -> float:
    """Seconds of a call."""
    start = time.perf_counter()
    work()
    return round(time.perf_counter() - start, 3)


def used_since(before: resource.struct_rusage) -> float:
    """Processor time of the processes that were waited for since."""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(runs: list[dict[str, float]]) -> dict[str, float]:
    """The median of each figure."""
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def measure(home: Path) -> dict[str, float]:
    """Start the daemon and ask it."""
    found = {"version_seconds": timed(lambda: duetto("--version"))}
    start = time.perf_counter()
    daemon = started(home)
    try:
        found["start_seconds"] = round(time.perf_counter() - start, 3)
        found["start_processor_seconds"] = processor_seconds(daemon.pid)
        found["start_peak_megabytes"] = peak_megabytes(daemon.pid)
        with Party(home) as party, suppress(DuettoError):  # there are no such data here, as the check says
            party.check(JOB)
        found["first_check_seconds"] = round(time.perf_counter() - start, 3)
        found["first_check_processor_seconds"] = processor_seconds(daemon.pid)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["list_command_seconds"] = timed(lambda: duetto("job", "list", "--config", home))
        found["list_command_processor_seconds"] = round(used_since(before), 2)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found["evidence_list_seconds"] = timed(lambda: duetto("evidence", "list", "--config", home))
        found["evidence_list_processor_seconds"] = round(used_since(before), 2)
        with Party(home) as party:
            found["status_seconds"] = timed(party.status)
            found["list_page_seconds"] = timed(lambda: party.jobs(limit=50))
            found["list_all_seconds"] = timed(party.jobs)
        found["processor_seconds"] = processor_seconds(daemon.pid)
        found["peak_megabytes"] = peak_megabytes(daemon.pid)
    finally:
        start = time.perf_counter()
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(120)
        found["stop_seconds"] = round(time.perf_counter() - start, 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--megabytes", type=float, default=1.0, help="of each result")
    parser.add_argument("--folder", type=Path, help="where to make the home; else the usual temporary one")
    parser.add_argument(
        "--runs", action="store_true", help="measure also with the record of a covert run for each job"
    )
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="duetto-", dir=given.folder))
    try:
        home = folder / "home"
        listen = Address("127.0.0.1", 0)
        make("north", home, Address("127.0.0.1", 7443), listen, 2048)
        empty = [measure(home) for _ in range(given.repeat)]
        fill(home, given.jobs, given.megabytes)
        size = sum(file.stat().st_size for file in (home / "results").iterdir())
        runs = [measure(home) for _ in range(given.repeat)]
        with_records = []
        if given.runs:
            keep_runs(home)
            with_records = [measure(home) for _ in range(given.repeat)]
        report = {
            "jobs": given.jobs,
            "result_bytes": size,
            "database_bytes": (home / "jobs.sqlite").stat().st_size,
            "empty": medians(empty),
            "median": medians(runs),
            "with_records": medians(with_records) if with_records else None,
            "runs": [*runs, *with_records],
            "load": os.getloadavg()[0],
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        }
        print(json.dumps(report, indent=2))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
