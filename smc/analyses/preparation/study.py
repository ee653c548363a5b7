"""The analysis `preparation`: fill a pool for later comparisons of plain numbers with the same peer.

The job names no data sets and no columns, and its result has no tables: each party keeps its half of the
pool, random numbers that say nothing about anybody's data. What is prepared is used up by a job `comparison`
with `pool = true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.columns import Data, Schema
from smc.analyses.disclosure.figures import Shares
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome
from smc.analyses.parameters import reject_unknown, take
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.oblivious.cost import comparison_transfers, preparation
from smc.oblivious.pool import PoolInfo
from smc.planning.cost import estimate_seconds
from smc.planning.route import MAX_BITS
from smc.protocols.session import Session
from smc.protocols.spec import Cost, Parameters
from smc.protocols.transfer_costs import SETUP_COST, cost_of

MAX_COMPARISONS: Final = 1 << 22
"""Of one pool: at 32 bits 100 MB on either disk."""

MAX_BITS_OF_POOL: Final = MAX_BITS + 2
"""Shares of 128 bits are compared by wider numbers inside."""

_PLACE: Final = "[parameters]"
_ROUTE: Final = "oblivious transfers for later"
_MEMORY: Final = Memory(12 * MEBI, 2.1)
"""Of each bit of each comparison."""


@dataclass(frozen=True, slots=True)
class PreparationParameters:
    """Parsed parameters of a preparation.

    Attributes:
        count: comparisons.
        bits: of the numbers to compare.
        x_at: who will hold x.
    """

    count: int
    bits: int
    x_at: Role


@dataclass(frozen=True, slots=True)
class PreparationStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: PreparationParameters

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """None."""
        return dict.fromkeys(Role, ())

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that the job names no columns.

        Raises:
            UsageError: it does.
        """
        if alice or bob:
            raise UsageError(
                "A preparation uses no columns.", "Remove dataset and columns below [alice] and [bob]."
            )

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Check that both parties are recipients: each gets its half.

        Raises:
            UsageError: one is not.
        """
        if recipients != frozenset(Role):
            raise UsageError(
                "Each party gets its half of a pool, and the job names other recipients.",
                'Write recipients = ["alice", "bob"].',
            )

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """No data are touched, and nothing is released."""
        del recipients
        return Facts(
            pairs_by_position=False,
            matches=False,
            row_results=False,
            comparison_type=None,
            exact=False,
            sorts_by=frozenset(),
            loss=Loss(),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Nobody learns anything."""
        del recipients
        public = f"the number of comparisons, {self.parameters.count}, and their {self.parameters.bits} bits"
        return Leakage((), (), (public,))

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """No rows are used."""
        del data, role, limits, peer
        return Preview()

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """The exact bytes and rounds, and the likely time; rows do not matter."""
        parameters = self.parameters
        del schemas, recipients, rows, limits
        cost = cost_of(preparation(parameters.count, parameters.bits))
        transfers = {"ot": parameters.count * sum(comparison_transfers(parameters.bits))}
        cost += Cost(alice_operations=transfers, bob_operations=transfers)
        cost = SETUP_COST + (cost if parameters.x_at is Role.ALICE else cost.mirror)
        given = Parameters(parameters.count, parameters.bits, key_bits, key_bits)
        seconds = estimate_seconds(cost, given)
        memory = _MEMORY.at(parameters.count * parameters.bits)
        return Estimate(cost.rounds, cost.alice_bytes, cost.bob_bytes, seconds, _ROUTE, memory)

    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side: make the local half and give it to the session's pools.

        Raises:
            UsageError: the session keeps no pools.
        """
        parameters = self.parameters
        del data
        self.check_recipients(recipients)
        if session.precomputed is None:
            raise UsageError("This session keeps no pools.", "Run the job by the daemons of both parties.")
        release.admit(Shares())
        session.report("prepare", 0, 1)
        holds_x = session.role is parameters.x_at
        pool = session.oblivious.fill_pool(parameters.count, parameters.bits, holds_x=holds_x)
        stored = PoolInfo.of(pool)
        session.precomputed.put(stored, pool.export())
        session.report("prepare", 1, 1)
        return _outcome(parameters, stored.comparisons)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The reference: a trusted third party has nothing to prepare."""
        del alice, bob
        self.check_recipients(recipients)
        return _outcome(self.parameters, 0), _outcome(self.parameters, 0)


def _outcome(parameters: PreparationParameters, prepared: int) -> Outcome:
    details = {
        "route": _ROUTE,
        "comparisons": prepared,
        "bits": parameters.bits,
        "x_at": parameters.x_at.value,
    }
    return Outcome(
        notes=(f"{prepared} comparisons of {parameters.bits} bits are prepared.",), details=details
    )


class Preparation:
    """See the module; fulfils `smc.analyses.study.Analysis`."""

    name = "preparation"
    always_matches = False

    def parse(self, parameters: Mapping[str, Any]) -> PreparationStudy:
        """Check the parameters: count, bits, x_at.

        Raises:
            UsageError: with the key that is wrong.
        """
        reject_unknown(parameters, ("count", "bits", "x_at"), _PLACE)
        count = take(parameters, "count", int, _PLACE)
        if not 1 <= count <= MAX_COMPARISONS:
            raise UsageError(f"{_PLACE}, count = {count} is out of range.", f"Use 1 to {MAX_COMPARISONS}.")
        bits = take(parameters, "bits", int, _PLACE, 32)
        if not 1 <= bits <= MAX_BITS_OF_POOL:
            raise UsageError(f"{_PLACE}, bits = {bits} is out of range.", f"Use 1 to {MAX_BITS_OF_POOL}.")
        x_at = take(parameters, "x_at", str, _PLACE, Role.ALICE.value)
        if x_at not in {role.value for role in Role}:
            raise UsageError(f"{_PLACE}, x_at is neither alice nor bob.", 'Write x_at = "alice".')
        return PreparationStudy(PreparationParameters(count, bits, Role(x_at)))


PREPARATION: Final = Preparation()
"""The analysis, as the registry lists it."""
