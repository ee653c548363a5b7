#!/usr/bin/env python3
"""Kills either daemon at random moments of jobs; afterwards no job may stand differently on the two sides.

PYTHONPATH=. scripts/soak/kills.py --kills 100
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random  # noqa: TID251 - seeded: moments of faults

from parties.contracts.state import State
from scripts.processes import NAMES
from scripts.soak.seeds import add_seed, chosen
from scripts.soak.two_parties import JOB, TwoParties
from smc.errors import DuettoError


def feed(pair: TwoParties, stopping: threading.Event, chance: Random) -> None:
    """Submit from either side, approve at south, and give some up, whoever is dead at the moment."""
    while not stopping.wait(chance.uniform(0.02, 0.2)):
        with suppress(DuettoError), pair.party(chance.choice(NAMES)) as party:
            party.submit(JOB)
        with suppress(DuettoError), pair.party("south") as south:
            for job in south.jobs(State.WAITING_OWN.value):
                decide = job.cancel if chance.random() < 0.1 else job.refresh().approve
                decide()


def decide(pair: TwoParties) -> None:
    """Approve what waits for a person.

    Such are jobs that were kept and not signed by a rule when their daemon was killed, and exact jobs after
    one that a full disk has ended between its persons and its entry in the ledger.
    """
    for name in NAMES:
        with suppress(DuettoError), pair.party(name) as party:
            for job in party.jobs(State.WAITING_OWN.value):
                job.refresh().approve()


def settle(pair: TwoParties, seconds: float) -> list[str]:
    """Wait until all jobs have ended and both sides agree; what is left of differences."""
    until = time.monotonic() + seconds
    while True:
        decide(pair)
        left = pair.differing()
        going = [job for name in NAMES for job in pair.jobs(name).values() if not job.state.is_final]
        if (not left and not going) or time.monotonic() > until:
            return left + [
                f"{job.id}: {job.state.value}, waits for {job.describe()['waits_for']}" for job in going
            ]
        time.sleep(1.0)


def main() -> None:
    """Print one report; exit status 1 if a job stands differently or has not ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=900.0, help="Kill no more after so long.")
    parser.add_argument("--settle", type=float, default=150.0, help="How long the outboxes may take.")
    add_seed(parser)
    given = parser.parse_args()
    seed = chosen(given.seed)
    chance = Random(seed)
    killed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        pair = TwoParties(Path(folder), approval=("auto", "person"))
        stopping = threading.Event()
        feeder = threading.Thread(target=feed, args=(pair, stopping, Random(f"{seed}/feed")), daemon=True)
        try:
            for name in NAMES:
                pair.start(name)
            feeder.start()
            until = time.monotonic() + given.seconds
            while sum(killed.values()) < given.kills and time.monotonic() < until:
                time.sleep(chance.uniform(0.0, 1.5))
                victim = chance.choice(NAMES)
                pair.kill(victim)
                killed[victim] += 1
                time.sleep(chance.uniform(0.0, 0.5))
                pair.start(victim)
            stopping.set()
            feeder.join()
            differing = settle(pair, given.settle)
            states = {name: Counter(job.state.value for job in pair.jobs(name).values()) for name in NAMES}
        finally:
            stopping.set()
            pair.close()
    print(json.dumps({"seed": seed, "kills": killed, "states": states, "differing": differing}))
    raise SystemExit(bool(differing))


if __name__ == "__main__":
    main()
