"""Measures an analysis between two processes over the real network stack, on data that are made up."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

from parties.bench.case import Setting
from parties.bench.measurement import make_tasks, run_processes
from parties.bench.workloads import WORKLOADS, Workload
from parties.speed import on_this_machine
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.studies.columns import Column, Data
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.runner import run_study
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate
from smc.analyses.studies.traced import estimate_cost
from smc.ciphers.keys import generate
from smc.errors import UsageError
from smc.forms import Role
from smc.network import Network
from smc.numeric.random import Randomness
from smc.protocols.full_session import FullSession

KEY_BITS: Final = 2048
"""Of the parties' Paillier keys, which few analyses use."""

_DOMAIN: Final = b"duetto bench analysis\0"


@dataclass(frozen=True, slots=True)
class AnalysisCase:
    """A benchmark of an analysis.

    Attributes:
        name: of the workload.
        rows: rows of each side.
        rtt_ms: emulated round-trip time; 0 is that of loopback.
        mbit: emulated rate of each direction in 10**6 bits per second; 0 is that of loopback.
        repeat: runs in the same session.
        timeout: seconds after which connecting and running are given up.
        planned: whether protocols are chosen for that link, as by the `[network]` of a job.
        emulated: whether messages take as long as over that link; else they go over loopback.
        bob_rows: rows of Bob's side, the first ones of his data; 0 for as many as Alice has.
        minimum_group: the limit of that name in both policies, with a dominance of 9/10; 0 for no limits.
        lanes: into how many parts large batches are cut.
    """

    name: str
    rows: int
    rtt_ms: float = 0.0
    mbit: float = 0.0
    repeat: int = 1
    timeout: float = 600.0
    planned: bool = True
    emulated: bool = True
    bob_rows: int = 0
    minimum_group: int = 0
    lanes: int = 1

    @property
    def limits(self) -> Limits:
        """Those that the result is tested on."""
        if not self.minimum_group:
            return NO_LIMITS
        return Limits(minimum_group=self.minimum_group, dominance=Fraction(9, 10))

    def data(self) -> Mapping[Role, Data]:
        """The made-up data of both sides."""
        rows = {Role.ALICE: self.rows, Role.BOB: self.bob_rows or self.rows}
        made = self.workload.data(max(rows.values()))
        return {
            role: {
                name: Column(column.values[: rows[role]], column.schema)
                for name, column in made[role].items()
            }
            for role in Role
        }

    def estimate(self) -> Estimate:
        """What is stated of such a run."""
        from smc.analyses.registry import ANALYSES  # comparisons are measured without

        study = ANALYSES[self.workload.analysis].parse(self.workload.parameters)
        schemas = {name: column.schema for data in self.data().values() for name, column in data.items()}
        recipients = frozenset(Role(name) for name in self.workload.recipients)
        rows = self.rows, self.bob_rows or self.rows
        setting = RunSetting(rows, self.limits, KEY_BITS, self.network, self.lanes)
        return on_this_machine(estimate_cost(study, schemas, recipients, setting))

    @property
    def network(self) -> Network | None:
        """The link for which protocols are chosen; None where none is."""
        if not self.planned or not (self.rtt_ms or self.mbit):
            return None
        return Network(self.rtt_ms, self.mbit or math.inf)

    @property
    def setting(self) -> Setting:
        """The link, repetitions and timeout."""
        link = (self.rtt_ms, self.mbit) if self.emulated else (0.0, 0.0)
        return Setting(*link, self.repeat, self.timeout, self.lanes)

    @property
    def workload(self) -> Workload:
        """What is measured.

        Raises:
            UsageError: there is no such workload.
        """
        if self.name not in WORKLOADS:
            raise UsageError(f"There is no workload {self.name!r}.", f"Known are {', '.join(WORKLOADS)}.")
        return WORKLOADS[self.name]

    @property
    def digest(self) -> bytes:
        """SHA-256 of the case and the parameters."""
        text = json.dumps([asdict(self), dict(self.workload.parameters)], sort_keys=True)
        return hashlib.sha256(_DOMAIN + text.encode()).digest()


class Joint:
    """One side of an analysis; a `parties.bench.party.Program`.

    Args:
        case: what is measured.
        role: this side's role.
    """

    def __init__(self, case: AnalysisCase, role: Role) -> None:
        from smc.analyses.registry import ANALYSES  # comparisons are measured without

        workload = case.workload
        self._network = case.network
        self._study = ANALYSES[workload.analysis].parse(workload.parameters)
        self._recipients = frozenset(Role(name) for name in workload.recipients)
        self._data = case.data()[role]
        self._limits = case.limits
        self.setting = case.setting
        self.digest = case.digest

    def prepare(self, session: FullSession) -> None:
        """The base transfers, and the link."""
        session.network = self._network
        session.oblivious.setup()

    def run(self, session: FullSession) -> Outcome:
        """The joint run without a ledger."""
        return run_study(self._study, session, self._data, self._recipients, self._limits.of_both)

    def summarize(self, result: Outcome) -> Mapping[str, Any]:
        """How many rows each table has."""
        lengths = {table.name: len(next(iter(table.columns.values()), ())) for table in result.tables}
        return {"result_rows": lengths}


def measure_analysis(case: AnalysisCase) -> dict[str, Any]:
    """Run a benchmark of an analysis.

    Returns:
        The figures by stable names: seconds are medians over the runs, bytes and rounds those of the first.

    Raises:
        DuettoError: a process failed, or the time was up.
    """
    keys = {role: generate(KEY_BITS, Randomness()) for role in Role}
    task = {"workload": asdict(case)}
    found = run_processes(make_tasks(keys, dict.fromkeys(Role, task)), case.timeout)
    alice, bob = (found[role]["runs"] for role in Role)
    estimate, network = case.estimate(), case.network
    runs = [max(a["seconds"], b["seconds"]) for a, b in zip(alice, bob, strict=True)]
    sent = [side[0]["payload_bytes"] for side in (alice, bob)]
    return {
        **asdict(case),
        "analysis": case.workload.analysis,
        "seconds": statistics.median(runs),
        "seconds_of_runs": runs,
        "estimated_seconds": estimate.seconds
        + (
            network.seconds(estimate.rounds, estimate.alice_bytes, estimate.bob_bytes)
            if network is not None and case.emulated
            else 0.0
        ),
        "processor_seconds": statistics.median(
            max(a["processor_seconds"], b["processor_seconds"]) for a, b in zip(alice, bob, strict=True)
        ),
        "setup_seconds": max(found[role]["setup_seconds"] for role in Role),
        "rounds": max(alice[0]["rounds"], bob[0]["rounds"]),
        "payload_alice_to_bob": sent[0],
        "payload_bob_to_alice": sent[1],
        "payload_bytes_per_row": sum(sent) / max(1, case.rows),
        "bytes_alice_to_bob": alice[0]["frame_bytes"],
        "bytes_bob_to_alice": bob[0]["frame_bytes"],
        **{
            f"{name}_{role.value}": runs[0][name]
            for role, runs in zip(Role, (alice, bob), strict=True)
            for name in ("longest_stretch", "longest_stretch_before")
        },
        "peak_bytes_alice": alice[-1]["peak_bytes"],
        "peak_bytes_bob": bob[-1]["peak_bytes"],
        "result_rows_alice": alice[0]["result_rows"],
        "result_rows_bob": bob[0]["result_rows"],
    }
