"""The analysis `preparation`: fill a pool for later comparisons of plain numbers with the same peer.

The job names no data sets and no columns, and its result has no tables: each party keeps its half of the
pool, random numbers that say nothing about anybody's data. What is prepared is used up by a job `comparison`
with `pool = true`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.preparation.cost import estimate
from smc.analyses.preparation.parameters import PreparationParameters, parse
from smc.analyses.preparation.reference import reference
from smc.analyses.preparation.run import run
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Estimate, Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class PreparationStudy:
    """A job; see `smc.analyses.studies.study.Study` for what its methods say."""

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
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(),
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
        self, schemas: Mapping[str, Schema], recipients: frozenset[Role], setting: RunSetting
    ) -> Estimate:
        """See `smc.analyses.preparation.cost.estimate`; rows do not matter."""
        del schemas, recipients
        return estimate(self.parameters, setting.key_bits)

    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """See `smc.analyses.preparation.run.run`."""
        del data
        self.check_recipients(recipients)
        return run(session, self.parameters, release)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """See `smc.analyses.preparation.reference.reference`."""
        del alice, bob
        self.check_recipients(recipients)
        return reference(self.parameters)


class Preparation:
    """See the module; fulfils `smc.analyses.studies.study.Analysis`."""

    name = "preparation"
    always_matches = False

    def parse(self, parameters: Mapping[str, Any]) -> PreparationStudy:
        """See `smc.analyses.preparation.parameters.parse`."""
        return PreparationStudy(parse(parameters))


PREPARATION: Final = Preparation()
"""The analysis, as the registry lists it."""
