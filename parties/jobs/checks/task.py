"""A job as its analysis understands it: its facts, its columns, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from commons.errors import near
from parties.contracts.contract import Schemas
from parties.contracts.spec import USUAL_LANES, JobSpec, Side
from parties.errors import JobError
from parties.jobs.checks.local_data import with_reading
from parties.lanes import LANE_MEMORY
from parties.speed import on_this_machine
from smc.analyses.disclosure.limits import Limits
from smc.analyses.studies.facts import Facts
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Leakage, Study
from smc.analyses.studies.traced import estimate_cost
from smc.forms import Role

SAME_COLUMNS: Final = (
    "which columns of the other side are the same as in its earlier covert jobs (equal commitments)"
)
"""What the contract of a covert job tells who does not bring the columns, see `parties.evidence.cells`."""


@dataclass(frozen=True, slots=True)
class Task:
    """A job as its analysis understands it.

    Attributes:
        spec: the job.
        role: this side's role.
        study: what the analysis made of its parameters.
    """

    spec: JobSpec
    role: Role
    study: Study

    @property
    def side(self) -> Side:
        """The local part."""
        return self.spec.side(self.role)

    @property
    def peer(self) -> str:
        """The other party."""
        return self.spec.side(self.role.other).party

    @property
    def facts(self) -> Facts:
        """What data and policies have to know of it."""
        return self.study.facts(self.spec.recipients)

    @property
    def leakage(self) -> Leakage:
        """Who learns what; of a covert job also what the commitments in its contract tell the other side."""
        found = self.study.leakage(self.spec.recipients)
        if self.spec.audit is None:
            return found
        alice, bob = (
            (SAME_COLUMNS,) if self.spec.side(role.other).columns else () for role in (Role.ALICE, Role.BOB)
        )
        return replace(found, alice=(*found.alice, *alice), bob=(*found.bob, *bob))

    @property
    def lane_memory(self) -> int:
        """Bytes that the processes of its lanes take at most, beside the daemon's own."""
        return 0 if self.spec.lanes == USUAL_LANES else self.spec.lanes * LANE_MEMORY

    def estimate(
        self,
        schemas: Schemas,
        rows: int,
        key_bits: int,
        limits: Limits,
        *,
        held: int | None = None,
        peer_rows: int = 0,
    ) -> Estimate:
        """What a run costs, by the local schemas and under known limits.

        Args:
            schemas: the declarations that are known.
            rows: of this side.
            key_bits: size of the Paillier keys.
            limits: of both policies.
            held: how many of the rows are in memory, by default all: it is 0 where they are added up as they
                are read; then only memory depends on how many they are.
            peer_rows: of the other side; 0 for as many as this one has in memory.
        """
        own = max(1, rows if held is None else held)
        counts = (own, peer_rows or own)
        setting = RunSetting(
            counts if self.role is Role.ALICE else counts[::-1],
            limits,
            key_bits,
            self.spec.network,
            self.spec.lanes,
        )
        found = with_reading(estimate_cost(self.study, schemas, self.spec.recipients, setting), rows, held)
        found = on_this_machine(found)
        return found if found.memory is None else replace(found, memory=found.memory + self.lane_memory)

    def columns(self, role: Role) -> frozenset[str]:
        """The names in the job of the columns that a party brings.

        Raises:
            JobError: the job file names too few or too many.
        """
        given = set(self.spec.side(role).columns)
        wanted = set(self.study.columns[role])
        if missing := sorted(wanted - given):
            raise JobError(
                f"The job names no column {missing[0]!r} for {role.value}.",
                f"Add it to columns below [{role.value}]. {near(missing[0], sorted(given))}",
            )
        if wanted and given - wanted:
            extra = sorted(given - wanted)[0]
            raise JobError(
                f"The job names a column {extra!r} for {role.value} that nothing uses.",
                f"Remove it. {near(extra, sorted(wanted))}",
            )
        return frozenset(given)
