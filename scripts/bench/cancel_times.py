"""Measures how soon both daemons end their work for a job that one of them cancels, for every kind of job.

Two daemons on loopback. A job is submitted, and cancelled after a random time of its run at a random side. It
counts how long it takes from the command to the end of the session at the side that ends last, by the logs.
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import sys
import tempfile
import time
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from measuring import guarded, machine, print_table, tell

from parties.client import Job
from parties.contracts.state import State
from scripts.processes import NAMES
from scripts.soak.kinds import furnish, kinds
from scripts.soak.two_parties import TwoParties
from smc.errors import DuettoError

_HEAD = ("job", "rows", "would run s", "cancelled", "median s", "longest s")
_ENDED = re.compile(r"^(\S+ [\d:,]+) INFO duetto\.jobs: job (\w+): its run has (\S+)", re.MULTILINE)
_PATIENCE = 60.0


def parse(arguments: list[str], known: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="of each side")
    parser.add_argument("--kind", action="append", choices=known, help="a kind of job; all without it")
    parser.add_argument("--times", type=int, default=5, help="jobs of each kind that are cancelled")
    parser.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="latest moment of a cancellation, in a run that takes longer",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args(arguments)


def end(pair: TwoParties, name: str, job_id: str) -> float | None:
    """When the run of a job ended at a party, by its log; None if it has not."""
    for moment, job, _ in _ENDED.findall(pair.log(name)):
        if job == job_id:
            return datetime.strptime(moment, "%Y-%m-%d %H:%M:%S,%f").timestamp()
    return None


def duration(pair: TwoParties, job: dict[str, Any], most: float) -> float:
    """Seconds that a job runs if nobody cancels it, up to `most`."""
    with pair.party(NAMES[0]) as north:
        submitted = north.submit(job)
        await_run(submitted)
        began = time.monotonic()
        while not submitted.refresh().state.is_final and time.monotonic() - began < most:
            time.sleep(0.01)
        with suppress(DuettoError):
            submitted.cancel()
        return time.monotonic() - began


def await_run(job: Job) -> None:
    """Wait until a job runs, or is over."""
    until = time.monotonic() + _PATIENCE
    while not (job.refresh().state.is_final or job.state in (State.RUNNING, State.KEPT)):
        if time.monotonic() > until:
            raise SystemExit(f"Job {job.id} is still {job.state.value}.")
        time.sleep(0.005)


def cancelled(pair: TwoParties, job: dict[str, Any], latest: float) -> float | None:
    """Seconds from a cancellation to the end of both runs; None if the job was over before."""
    chance = secrets.SystemRandom()
    with pair.party(NAMES[0]) as north, pair.party(NAMES[1]) as south:
        submitted = north.submit(job)
        await_run(submitted)
        time.sleep(chance.uniform(0.0, latest))
        side = chance.choice((north, south)).job(submitted.id)
        began = time.time()
        try:
            side.cancel()
        except DuettoError:
            return None
        until = time.monotonic() + _PATIENCE
        while None in (found := [end(pair, name, submitted.id) for name in NAMES]):
            if time.monotonic() > until:
                raise SystemExit(f"The runs of the cancelled job {submitted.id} do not end.")
            time.sleep(0.05)
        return max(0.0, max(moment for moment in found if moment is not None) - began)


def main() -> int:
    """Cancel jobs of all kinds."""
    every = kinds(NAMES)
    options = parse(sys.argv[1:], [*every])
    results = []
    with tempfile.TemporaryDirectory(prefix="cancel-") as folder:
        home = partial(furnish, rows=options.rows)
        pair = TwoParties(Path(folder), furnish=home)
        try:
            for name in NAMES:
                pair.start(name)
            for kind in options.kind or every:
                try:
                    latest = duration(pair, every[kind], options.seconds)
                    times = [cancelled(pair, every[kind], latest) for _ in range(options.times)]
                except DuettoError as problem:
                    tell(f"{kind}: {problem}")
                    continue
                found = sorted(seconds for seconds in times if seconds is not None)
                results.append({"kind": kind, "rows": options.rows, "ran": latest, "seconds": found})
                tell(f"{kind}: ran {latest:.3g} s, cancelled in {found}")
        finally:
            with suppress(KeyboardInterrupt):
                pair.close()
    if options.json:
        print(json.dumps({"machine": machine(), "results": results}, indent=1))
    else:
        print_table(
            "From the command to the end of both sessions",
            _HEAD,
            (
                (r["kind"], r["rows"], r["ran"], len(s), *((s[len(s) // 2], s[-1]) if s else ("-", "-")))
                for r in results
                for s in [r["seconds"]]
            ),
        )
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
