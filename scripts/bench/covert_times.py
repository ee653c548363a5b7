"""Measures what the record of a covert run costs, with and without it, and what the audit of a side takes.

Both parties run in threads of one process, over memory. Recorded runs keep digests of both directions, and
the frames that came in sealed in a file, as a daemon does. Processor time is that of the process, both sides
together; runs with and without a record take turns, and an audit makes one side again.

With `--jobs` two daemons run whole jobs of silent comparisons by turns, covert ones and others, from files to
certificates. Processor time is that of both daemons and the processes below them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from measuring import figure, machine, print_table

from parties.client import job_text
from parties.contracts.state import State
from parties.evidence.store import FRAMES, EvidenceStore, FrameFile, Standing
from scripts.processes import NAMES, duetto
from scripts.soak.kinds import furnish, kinds
from scripts.soak.two_parties import TwoParties
from smc.channel.channel import Channel
from smc.channel.memory import memory_pair
from smc.evidence.record import Recorder
from smc.evidence.replay import replay
from smc.evidence.verdict import judge
from smc.forms import Role
from smc.numeric.random import Randomness
from smc.protocols.full_session import FullSession

_JOBS: Final = {Role.ALICE: "0" * 16, Role.BOB: "1" * 16}
_HEAD: Final = ("engine", "comparisons", "plain s", "recorded s", "ratio", "bytes each on disk", "audit s")


class Comparison:
    """One batch of comparisons of 32 bits.

    Args:
        count: how many.
        silent: by silent transfers.
        random: draws the numbers.
    """

    def __init__(self, count: int, *, silent: bool, random: Randomness) -> None:
        drawn = np.frombuffer(random.bytes(8 * count), dtype=np.uint32).astype(np.uint64)
        self._values = dict(zip(Role, (drawn[:count], drawn[count:]), strict=True))
        self._silent = silent

    def __call__(self, session: FullSession) -> Any:
        """One side."""
        values, engine = self._values[session.role], session.oblivious
        if session.role is Role.ALICE:
            return engine.greater_equal_x(values, 32, silent=self._silent)
        return engine.greater_equal_y(values, 32, silent=self._silent)


def side(program: Comparison, role: Role, transport: Any, seed: bytes) -> None:
    """Run one side to its end."""
    with ThreadPoolExecutor(1) as executor:
        session = FullSession(role, Channel(transport), executor, Randomness.of_run(seed))
        program(session)
        session.channel.finish()
        session.close()


def run(program: Comparison, store: EvidenceStore | None) -> tuple[float, dict[Role, Recorder]]:
    """Both sides; processor time, and the records if there is a store for them."""
    transports: dict[Role, Any] = dict(zip(Role, memory_pair(600), strict=True))
    records, files = {}, list[FrameFile]()
    begun = time.process_time()
    if store is not None:
        for role in Role:
            files.append(store.begin(Standing(_JOBS[role], "peer")))
            transports[role] = records[role] = Recorder(transports[role], files[-1])
    with ThreadPoolExecutor(2) as sides:
        for done in [
            sides.submit(side, program, role, transports[role], role.value.encode() * 4) for role in Role
        ]:
            done.result()
    for file in files:
        file.flush()
    return time.process_time() - begun, records


def audit(program: Comparison, store: EvidenceStore, records: dict[Role, Recorder]) -> float:
    """Processor time of the audit of Alice."""
    begun = time.process_time()
    made = replay(program, Role.ALICE, b"alice" * 4, store.read_frames(_JOBS[Role.ALICE]), workers=1)
    if not judge(records[Role.ALICE].sent, made).is_cleared:
        raise SystemExit("An honest side was convicted.")
    return time.process_time() - begun


def measure(count: int, *, silent: bool, repeat: int, store: EvidenceStore) -> dict[str, Any]:
    """The medians of runs by turns."""
    program = Comparison(count, silent=silent, random=Randomness.from_seed(b"covert", "bench"))
    run(program, None)  # loads what is loaded once
    plain, recorded, audits = [], [], []
    for _ in range(repeat):
        plain.append(run(program, None)[0])
        seconds, records = run(program, store)
        recorded.append(seconds)
        audits.append(audit(program, store, records))
    size = (store.path / _JOBS[Role.ALICE] / FRAMES).stat().st_size
    return {
        "engine": "silent" if silent else "oblivious",
        "comparisons": count,
        "plain_seconds": statistics.median(plain),
        "recorded_seconds": statistics.median(recorded),
        "ratio": statistics.median(recorded) / statistics.median(plain),
        "bytes_on_disk": size / count,
        "audit_seconds": statistics.median(audits),
    }


def used(process: int) -> float:
    """Seconds that a process and those below it have had of the processors."""
    parents, ticks = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents[int(entry.name)] = int(fields[1])
                ticks[int(entry.name)] = sum(map(int, fields[11:15]))
    found = {process}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return sum(ticks.get(one, 0) for one in found) / os.sysconf("SC_CLK_TCK")


def measure_jobs(rows: int, repeat: int) -> dict[str, Any]:
    """The medians of whole jobs of two daemons by turns; each job compares all rows, by silent transfers."""
    with tempfile.TemporaryDirectory(prefix="covert-") as folder:
        made = duetto("evidence", "auditor", "make", Path(folder) / "office", "--name", "office", "--json")
        key = json.loads(made)["key"]

        def give(home: Path, number: int) -> None:
            furnish(home, number, rows, auditors={"office": key})

        plain = kinds(NAMES)["comparison, plain result"] | {
            "parameters": {"type": "PN-NP-PN", "bits": 32, "engine": "silent"},
            "network": {"rtt_ms": 0, "mbit": 100},
        }
        covert = plain | {"audit": {"auditor": "office", "key": key, "rate": "1"}}
        covert["job"] = {**plain["job"], "security": "covert"}
        seconds: dict[str, list[float]] = {"plain": [], "covert": []}
        parties = TwoParties(Path(folder) / "homes", furnish=give)
        try:
            for name in NAMES:
                parties.start(name)
            with parties.party("north") as party:
                for number in range(repeat + 1):  # the first of each loads what is loaded once
                    for name, document in (("plain", plain), ("covert", covert)):
                        before = sum(used(one.pid) for one in parties.processes.values())
                        job = party.job(party.submit(job_text(document)).id).wait()
                        if job.state is not State.FINISHED:
                            raise SystemExit(f"The job ended with {job.error_code}.")
                        if number:
                            after = sum(used(one.pid) for one in parties.processes.values())
                            seconds[name].append(after - before)
        finally:
            parties.close()
    medians = {f"{name}_seconds": statistics.median(each) for name, each in seconds.items()}
    ratio = medians["covert_seconds"] / medians["plain_seconds"]
    return {"comparisons": rows, **medians, "ratio": ratio, **seconds}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=1_000_000, help="comparisons of a run")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each kind")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--jobs", action="store_true", help="measure whole jobs of two daemons")
    given = parser.parse_args()
    if given.jobs:
        print(json.dumps({"machine": machine(), "jobs": measure_jobs(given.batch, given.repeat)}, indent=2))
        return
    with tempfile.TemporaryDirectory(prefix="covert-") as folder:
        store = EvidenceStore(Path(folder))
        found = [
            measure(given.batch, silent=silent, repeat=given.repeat, store=store) for silent in (True, False)
        ]
    if given.json:
        print(json.dumps({"machine": machine(), "runs": found}))
        return
    rows = [[figure(value) for value in one.values()] for one in found]
    print_table(
        "Comparisons of 32 bits, both sides in one process; seconds of its processor time", _HEAD, rows
    )


if __name__ == "__main__":
    main()
