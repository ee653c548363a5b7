"""The analysis `preparation`: fill a pool for later comparisons of plain numbers with the same peer.

The job names no data sets and no columns, and its result has no tables: each party keeps its half of the
pool, random numbers that say nothing about anybody's data. What is prepared is used up by a job `comparison`
with `pool = true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

from typing_extensions import override

from commons.settings.bounds import Between
from commons.settings.marks import Wrong
from smc.analyses.disclosure.figures import Shares
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.brief import Brief, count_of
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Leakage, Study
from smc.errors import UsageError
from smc.forms import Role
from smc.levels import level_of
from smc.network import LOOPBACK
from smc.oblivious.cost import comparison_transfers, preparation
from smc.oblivious.pool import PoolInfo
from smc.planning.cost import estimate_seconds
from smc.planning.route import MAX_BITS
from smc.protocols.full_session import FullSession
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters
from smc.protocols.transfer_costs import SETUP_COST, cost_of

MAX_COMPARISONS: Final = 1 << 22
"""Of one pool: at 32 bits 100 MB on either disk."""

MAX_BITS_OF_POOL: Final = MAX_BITS + 2
"""Shares of 128 bits are compared by wider numbers inside."""

_MEMORY: Final = Memory(12 * MEBI, 2.1)
"""Of each bit of each comparison."""


@dataclass(frozen=True, slots=True)
class PreparationStudy(Study):
    """A job; its parameters.

    Attributes:
        count: comparisons.
        bits: of the numbers to compare.
        x_at: who will hold x.
    """

    count: Annotated[int, Between(1, MAX_COMPARISONS)]
    bits: Annotated[int, Between(1, MAX_BITS_OF_POOL)] = 32
    x_at: Annotated[Role, Wrong("is neither alice nor bob", 'Write x_at = "alice".')] = Role.ALICE
    route = "oblivious transfers for later"

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        return dict.fromkeys(Role, ())

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        if schemas:
            raise UsageError(
                "A preparation uses no columns.", "Remove dataset and columns below [alice] and [bob]."
            )

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        if recipients != frozenset(Role):
            raise UsageError(
                "Each party gets its half of a pool, and the job names other recipients.",
                'Write recipients = ["alice", "bob"].',
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """No data are touched, and nothing is released."""
        return Facts(
            pairs_by_position=False,
            matches=False,
            lpn=False,
            row_results=False,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        return Leakage((), (), (f"the number of comparisons, {self.count}, and their {self.bits} bits",))

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        comparisons = count_of(self.count, "comparison")
        return Brief(f"prepare {comparisons} for later jobs, without reading any data", (), ())

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """No rows are used."""

    def cost(
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """The exact bytes and rounds, and the likely time; rows do not matter."""
        del schemas, recipients
        cost = cost_of(preparation(self.count, self.bits))
        transfers = {"ot": self.count * sum(comparison_transfers(self.bits))}
        cost += Cost(alice_operations=transfers, bob_operations=transfers)
        cost = SETUP_COST + (cost if self.x_at is Role.ALICE else cost.mirror)
        seconds = estimate_seconds(
            cost, Parameters(self.count, self.bits, setting.key_bits, setting.key_bits), LOOPBACK
        )
        memory = _MEMORY.at(self.count * self.bits)
        sent = cost.alice_bytes, cost.bob_bytes
        return Estimate(
            cost.rounds, *sent, seconds, self.route, memory, against=level_of(PoolInfo.__module__)
        )

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """Make the local half and give it to the session's pools.

        Raises:
            UsageError: the session keeps no pools.
        """
        session = FullSession.check(session)
        if session.precomputed is None:
            raise UsageError("This session keeps no pools.", "Run the job by the daemons of both parties.")
        release.admit(Shares())
        session.report("prepare", 0, 1)
        holds_x = session.role is self.x_at
        pool = session.oblivious.fill_pool(self.count, self.bits, holds_x=holds_x)
        info = PoolInfo.of(pool)
        session.precomputed.put(info, pool.export())
        session.report("prepare", 1, 1)
        return self._outcome(info.comparisons)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """A trusted third party has nothing to prepare."""
        return self._outcome(0), self._outcome(0)

    def _outcome(self, prepared: int) -> Outcome:
        """The outcome of either party, without a table; `prepared` comparisons are in the pool."""
        note = f"{prepared} comparisons of {self.bits} bits are prepared."
        given = {"bits": self.bits, "x_at": self.x_at.value}
        return Outcome(notes=(note,), details={"route": self.route, "comparisons": prepared, **given})


PREPARATION: Final = DeclaredAnalysis("preparation", PreparationStudy)
"""The analysis, as the registry lists it."""
