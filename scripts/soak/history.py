#!/usr/bin/env python3
"""Measure what exact jobs cost a party's record of earlier ones as it grows, without a daemon.

    PYTHONPATH=. scripts/soak/history.py --jobs 400

Each job does what a run does: the check before a person approves it, the one before the run, the record of
its persons and of its table. Sets of persons and tables take turns, as analysts repeat jobs. Prints one JSON
object: milliseconds of processor time by step over the first and the last tenth of the jobs.
"""

from __future__ import annotations

import argparse
import json
import secrets
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from parties.catalog.columns.persons import identities
from parties.disclosure.equations import Shown
from parties.disclosure.history import History
from parties.disclosure.participants import ParticipantSet, persons_of
from parties.ledger.accounting import Account

MINIMUM = 3


def table_of(persons: np.ndarray, groups: int) -> Shown:
    """Counts of groups of equal size, and of all."""
    cells = np.arange(len(persons)) % groups
    opened = np.concatenate([np.eye(groups, dtype=bool), np.ones((1, groups), dtype=bool)])
    return Shown(persons, cells, opened)


def recorded(history: History, job: ParticipantSet) -> str:
    """Keep the persons of a job; their digest."""
    with history.record(job, bool) as digest:
        return digest


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=400)
    parser.add_argument("--rows", type=int, default=200, help="persons of each job")
    parser.add_argument("--sets", type=int, default=3, help="different sets of persons and tables")
    given = parser.parse_args()
    account, known = Account.of("patients"), Counter()
    spent: dict[str, list[float]] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        start = time.process_time()
        found = work()
        spent.setdefault(name, []).append(1e3 * (time.process_time() - start))
        return found

    with tempfile.TemporaryDirectory(prefix="duetto-") as folder:
        history = History(Path(folder))
        secret = history.secret()
        groups = [
            persons_of(identities([f"{turn} {name}" for name in range(given.rows)], secret))
            for turn in range(given.sets)
        ]
        for turn in range(given.jobs):
            persons = groups[turn % given.sets]
            job = ParticipantSet(
                secrets.token_hex(8), account, "patients", "south", persons, MINIMUM, Counter(known)
            )
            table = table_of(persons, 5)
            step("unlisted", lambda: history.unlisted_jobs(account, "south", lambda: known))
            step("check", lambda job=job: history.check(job))
            known[step("record", lambda job=job: recorded(history, job))] += 1
            allowed = step("allows", lambda job=job, table=table: history.allows(job, [table]))
            if not allowed:
                raise SystemExit("The tables of this measurement are refused: use other --rows or --sets.")
            step("record_tables", lambda job=job, table=table: history.record_tables(job, [table]))
        size = history.path.stat().st_size
    part = max(1, given.jobs // 10)
    means = {
        name: {
            "first": round(sum(times[:part]) / part, 3),
            "last": round(sum(times[-part:]) / part, 3),
        }
        for name, times in spent.items()
    }
    print(json.dumps({"jobs": given.jobs, "bytes": size, "milliseconds": means}, indent=2))


if __name__ == "__main__":
    main()
