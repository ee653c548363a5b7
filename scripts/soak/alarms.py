#!/usr/bin/env python3
"""Noisy jobs from both sides at once: none may end by a false alarm about a ledger, or at all but finished.

PYTHONPATH=. scripts/soak/alarms.py --jobs 1000 --rtt-ms 20
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from parties.errors import PeerBusy
from scripts.processes import NAMES
from scripts.soak.two_parties import JOB, TwoParties
from smc.errors import DuettoError

ALARMS = ("older than what", "lacks entry", "peer-ledger")
"""What a daemon logs of a ledger that has gone back."""

OPEN = 100
"""Unfinished jobs of each side at once; a party takes 200."""


def soak(pair: TwoParties, jobs: int, seconds: float) -> dict[str, object]:
    """Run so many jobs, half of them from each side; what became of them."""
    refusals: Counter[str] = Counter()
    until = time.monotonic() + seconds
    room = {name: threading.BoundedSemaphore(OPEN) for name in NAMES}

    def run(name: str) -> None:
        with room[name], pair.party(name) as party:
            while True:
                try:
                    party.submit(JOB).wait(timeout=max(1.0, until - time.monotonic()))
                except PeerBusy:  # as many submit as may
                    time.sleep(0.2)
                    continue
                except DuettoError as error:
                    refusals[str(error)] += 1
                return

    started = time.monotonic()
    with ThreadPoolExecutor(2 * OPEN) as pool:
        list(pool.map(run, (NAMES[number % 2] for number in range(jobs))))
    states = {name: Counter(job.state.value for job in pair.jobs(name).values()) for name in NAMES}
    return {
        "jobs": jobs,
        "seconds": round(time.monotonic() - started, 1),
        "states": states,
        "errors": refusals,
        "alarms": {name: sum(pair.log(name).count(text) for text in ALARMS) for name in NAMES},
    }


def main() -> None:
    """Print one report; exit status 1 if there was an alarm or a job did not finish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--rtt-ms", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=600.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        pair = TwoParties(Path(folder), given.rtt_ms)
        try:
            for name in NAMES:
                pair.start(name)
            report = soak(pair, given.jobs, given.seconds)
        finally:
            pair.close()
    print(json.dumps({"rtt_ms": given.rtt_ms, **report}))
    finished = all(states == {"finished": given.jobs} for states in report["states"].values())  # type: ignore[attr-defined]
    raise SystemExit(not finished or any(report["alarms"].values()))  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
