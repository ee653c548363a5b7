#!/usr/bin/env python3
"""Jobs of all kinds with faults among them: nothing may grow, slow down, or stand differently on both sides.

PYTHONPATH=. scripts/soak/year.py --jobs 1000

Two daemons on loopback take jobs of every kind from both sides. Meanwhile one of them, south, is killed and
started again, connections are cut, the disk of either takes nothing more for a while (by the limit of file
sizes of its process), jobs are cancelled, and some are refused by a policy. North is never killed: what its
process holds is measured whenever no job is open. Before and after, jobs of all kinds run without faults, one
after the other, and their times are compared. Prints one JSON object; exit status 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from random import Random  # noqa: TID251 - seeded: moments of faults
from typing import Any

from parties.client import Job
from parties.errors import JobError, PeerBusy, StorageError
from scripts.processes import NAMES, duetto
from scripts.soak.kills import decide, settle
from scripts.soak.kinds import furnish, kinds
from scripts.soak.seeds import add_seed, chosen
from scripts.soak.two_parties import TwoParties
from smc.errors import DuettoError

NORTH, SOUTH = NAMES
FAULTS = ("kill", "cut", "full disk")
ROWS = 200
HURRIED = (sys.executable, str(Path(__file__).with_name("hurried.py")))
SLOWER = 1.2
"""How much longer jobs may take at the end than at the start."""

_TICKS = os.sysconf("SC_CLK_TCK")
_SETTLE_SECONDS = 180.0


@dataclass(frozen=True)
class Holding:
    """What a process holds.

    Attributes:
        jobs: run so far.
        mebibytes: resident memory.
        descriptors: open files and sockets.
        threads: running ones.
    """

    jobs: int
    mebibytes: float
    descriptors: int
    threads: int

    @classmethod
    def of(cls, process: int, jobs: int) -> Holding:
        """What a process holds now."""
        status = dict(
            line.split(":", 1)
            for line in Path(f"/proc/{process}/status").read_text().splitlines()
            if ":" in line
        )
        descriptors = len(list(Path(f"/proc/{process}/fd").iterdir()))
        return cls(
            jobs,
            round(int(status["VmRSS"].split()[0]) / 1024, 1),
            descriptors,
            int(status["Threads"].strip()),
        )


@dataclass
class Soak:
    """The jobs and faults of one soak.

    Attributes:
        pair: both parties.
        jobs: to be run with faults.
        open_jobs: at once.
        seconds: after which no more are begun.
        pause: seconds between two faults, on average.
        chance: draws faults, kinds of jobs and moments.
        refused: what became of jobs that were never taken, by code.
        faults: how often each came.
        samples: what north held whenever no job was open.
        done: jobs submitted so far.
        problems: why a daemon did not start.
    """

    pair: TwoParties
    jobs: int
    open_jobs: int
    seconds: float
    pause: float
    chance: Random
    refused: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    samples: list[Holding] = field(default_factory=list)
    done: int = 0
    problems: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.kinds = kinds(NAMES)
        self.kinds["refused by south"] = _refused(self.kinds["matching, noisy sums"])

    def probe(self, times: int) -> dict[str, float]:
        """Seconds by the clock and of both processors for each job of all kinds, one after the other."""
        clock, processor = [], []
        for _ in range(times):
            for kind, job in self.kinds.items():
                if kind == "refused by south":
                    continue
                used, began = self._processor(), time.perf_counter()
                with self.pair.party(NORTH) as north:
                    self._wait(north.submit(job))
                clock.append(time.perf_counter() - began)
                processor.append(self._processor() - used)
        return {
            "jobs": len(clock),
            "seconds": round(statistics.mean(clock), 4),
            "processor_seconds": round(statistics.mean(processor), 4),
        }

    def _wait(self, job: Job) -> None:
        """Wait for the end of a job, as long as two persons who look at theirs every ten seconds."""
        for _ in range(11):
            try:
                job.wait(timeout=10)
            except JobError as late:
                if late.stable_code != "timeout":
                    raise
                decide(self.pair)
            else:
                return
        job.wait(timeout=10)

    def run(self) -> None:
        """All jobs, in stretches after each of which no job is open and north is measured."""
        stretch = max(1, self.jobs // 20)
        until = time.monotonic() + self.seconds
        while self.done < self.jobs and time.monotonic() < until:
            target = min(self.jobs, self.done + stretch)
            over = threading.Event()
            troubles = threading.Thread(target=self._trouble, args=(over,), daemon=True)
            troubles.start()
            workers = [threading.Thread(target=self._work, args=(target,)) for _ in range(self.open_jobs)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            over.set()
            troubles.join()
            settle(self.pair, _SETTLE_SECONDS)
            self.sample()
            print(self.done, dict(self.faults), self.samples[-1], file=sys.stderr, flush=True)

    def sample(self) -> None:
        """Measure what north holds."""
        self.samples.append(Holding.of(self.pair.processes[NORTH].pid, self.done))

    def _work(self, target: int) -> None:
        while True:
            with self.lock:
                if self.done >= target:
                    return
                self.done += 1
            self._one()

    def _one(self) -> None:
        """Submit a job of a random kind at a random side and wait for its end, or cancel it."""
        job = self.kinds[self.chance.choice([*self.kinds])]
        until = time.monotonic() + _SETTLE_SECONDS
        while time.monotonic() < until:
            try:
                with self.pair.party(self.chance.choice(NAMES)) as party:
                    submitted = party.submit(job)
                    if self.chance.random() < 0.05:
                        time.sleep(self.chance.uniform(0.0, 0.5))
                        submitted.cancel()
                    else:
                        self._wait(submitted)
            except PeerBusy:  # as many submit as may
                time.sleep(0.2)
                continue
            except StorageError:  # the disk takes nothing just now, and so did not take the job
                self.refused["storage"] += 1
            except DuettoError as error:
                self.refused[error.stable_code] += 1
            return

    def _trouble(self, over: threading.Event) -> None:
        """A fault every so often."""
        while not over.wait(self.chance.uniform(0.0, 2 * self.pause)):
            fault = self.chance.choice(FAULTS)
            self.faults[fault] += 1
            if fault == "kill":
                self.pair.kill(SOUTH)
                time.sleep(self.chance.uniform(0.0, 0.5))
                self._start_again()
            elif fault == "cut":
                for line in self.pair.lines.values():
                    line.cut(self.chance.uniform(0.0, 2.0))
            else:
                with full_disk(self.pair.processes[self.chance.choice(NAMES)].pid):
                    time.sleep(self.chance.uniform(0.1, 1.0))

    def _start_again(self) -> None:
        """Start south, which has to succeed at the first try."""
        try:
            self.pair.start(SOUTH)
        except SystemExit as problem:
            self.problems.append(str(problem))
            self.pair.start(SOUTH)

    def _processor(self) -> float:
        used = 0
        for process in self.pair.processes.values():
            fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            used += int(fields[11]) + int(fields[12])
        return used / _TICKS


@contextmanager
def full_disk(process: int) -> Iterator[None]:
    """Let a process write no file beyond its first 4 KiB, as if its disk were full."""
    before = resource.prlimit(process, resource.RLIMIT_FSIZE)
    resource.prlimit(process, resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(process, resource.RLIMIT_FSIZE, before)


def _refused(job: dict[str, Any]) -> dict[str, Any]:
    """A job whose epsilon is more than south allows for one, and less than north does."""
    return {**job, "parameters": {**job["parameters"], "epsilon": "8"}}


def homes(home: Path, number: int) -> None:
    """The data of both, and their policies, of which south's is the stricter one."""
    furnish(home, number, ROWS, epsilon_per_job=("10", "5")[number])


def entries(pair: TwoParties, name: str) -> dict[str, set[str]]:
    """The jobs for which a party's ledger has a loss or an exact release, by event."""
    found: dict[str, set[str]] = {"spent": set(), "exact": set()}
    for entry in json.loads(duetto("ledger", "log", "--config", pair.homes[name], "--json"))["entries"]:
        if entry["event"] in found:
            found[entry["event"]].add(entry["job"])
    return found


def ledgers(pair: TwoParties) -> dict[str, Any]:
    """Whether both ledgers are whole, and for which jobs only one of them has an entry."""
    verified = {
        name: json.loads(duetto("ledger", "verify", "--config", pair.homes[name], "--json")) for name in NAMES
    }
    north, south = (entries(pair, name) for name in NAMES)
    finished = {digest for name in NAMES for digest in _finished(pair, name)}
    alone = {event: north[event] ^ south[event] for event in north}
    return {
        "entries": {name: found["entries"] for name, found in verified.items()},
        "problems": {name: found["problems"] for name, found in verified.items()},
        "on_both": {event: len(north[event] & south[event]) for event in north},
        "on_one_side": {event: len(found) for event, found in alone.items()},
        "on_one_side_and_finished": sorted(finished & set().union(*alone.values())),
    }


def _finished(pair: TwoParties, name: str) -> set[str]:
    """The digests of the contracts of all finished jobs of a party."""
    with pair.party(name) as party:
        return {job.shown for job in party.jobs("finished")}


def judged(report: dict[str, Any]) -> dict[str, bool]:
    """Which bars are reached."""
    before, after, samples = report["before"], report["after"], report["north"]
    half = len(samples) // 2
    early, late = (
        {name: statistics.median(sample[name] for sample in part) for name in samples[0]}
        for part in (samples[:half], samples[half:])
    )
    return {
        "time": after["processor_seconds"] <= SLOWER * before["processor_seconds"],
        "memory": late["mebibytes"] <= 1.1 * early["mebibytes"],
        "descriptors": late["descriptors"] <= early["descriptors"] + 2,
        "threads": late["threads"] <= early["threads"] + 2,
        "starts": not report["problems"],
        "jobs": not report["differing"],
        "ledgers": not any(report["ledgers"]["problems"].values())
        and not report["ledgers"]["on_one_side_and_finished"],
    }


def report_of(soak: Soak, probes: int) -> dict[str, Any]:
    """Run the soak."""
    pair = soak.pair
    for name in NAMES:
        pair.start(name)
    soak.probe(1)  # the daemons' tables and caches
    before = soak.probe(probes)
    began = time.monotonic()
    soak.run()
    seconds = time.monotonic() - began
    differing = settle(pair, _SETTLE_SECONDS)
    after = soak.probe(probes)
    states = {name: Counter(job.state.value for job in pair.jobs(name).values()) for name in NAMES}
    for name in NAMES:
        pair.kill(name, 15)
    for name in NAMES:
        pair.start(name)
    return {
        "jobs": soak.done,
        "seconds": round(seconds, 1),
        "open": soak.open_jobs,
        "faults": soak.faults,
        "problems": soak.problems,
        "ended_otherwise": soak.refused,
        "states": states,
        "differing": differing,
        "before": before,
        "after": after,
        "north": [asdict(sample) for sample in soak.samples],
        "ledgers": ledgers(pair),
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
        "python": platform.python_version(),
    }


def main() -> None:
    """Print one report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--open", type=int, default=4, help="Jobs at once; a party takes 200 of a peer.")
    parser.add_argument("--seconds", type=float, default=3600.0, help="Begin no job after so long.")
    parser.add_argument("--pause", type=float, default=5.0, help="Seconds between two faults, on average.")
    parser.add_argument("--probes", type=int, default=3, help="Jobs of each kind before and after.")
    add_seed(parser)
    given = parser.parse_args()
    seed = chosen(given.seed)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        make: Callable[..., TwoParties] = partial(TwoParties, furnish=homes, lines=True, command=HURRIED)
        pair = make(Path(folder))
        try:
            soak = Soak(pair, given.jobs, given.open, given.seconds, given.pause, Random(seed))
            report = {"seed": seed, **report_of(soak, given.probes)}
        finally:
            pair.close()
    report["reached"] = judged(report)
    print(json.dumps(report))
    raise SystemExit(not all(report["reached"].values()))


if __name__ == "__main__":
    main()
