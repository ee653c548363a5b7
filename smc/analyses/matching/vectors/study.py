"""Matching of feature vectors: which rows of both sides lie close together, or point the same way.

All pairs of rows are compared, and recipients learn which are alike: those within a threshold, or for each of
Alice's rows the nearest of Bob's. What they learn of the other side's row is a number that stands for it in
this run alone. No vector and no score leaves a party.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.vectors.checks import check_counts, feature_schemas
from smc.analyses.matching.vectors.outcome import ROUTE
from smc.analyses.matching.vectors.parameters import VectorParameters
from smc.analyses.matching.vectors.reference import reference
from smc.analyses.matching.vectors.run import run
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.estimates import Pace
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview
from smc.analyses.studies.traced import TracedStudy
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session

_COMPARED: Final = ("kind", "scale", "lower", "upper", "unit")


_MEMORY: Final = Memory(55 * MEBI, 105_000)


@dataclass(frozen=True, slots=True)
class VectorStudy(TracedStudy):
    """A job; see `smc.analyses.studies.study.Study` for what its methods say."""

    parameters: VectorParameters

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The features, the same for both."""
        return dict.fromkeys(Role, self.parameters.columns)

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides declare the features alike, as bounded numbers."""
        for name in self.parameters.columns:
            for role, schemas in zip(Role, (alice, bob), strict=True):
                if name not in schemas:
                    raise UsageError(
                        f"{role.name.title()} declares no column {name!r}.", "Add it to the job."
                    )
            for what in _COMPARED:
                if getattr(alice[name], what) != getattr(bob[name], what):
                    raise UsageError(
                        f"Alice and Bob declare {what} of column {name!r} differently.",
                        "Declare the columns alike.",
                    )
        VectorMeasure.of(self.parameters, alice)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to."""
        if not recipients:
            raise UsageError("Nobody receives the matches.", "Name alice, bob or both as recipients.")

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are matched, and the pairs are about single rows."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=True,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(keys=frozenset(self.parameters.columns), named=frozenset({"method"}), likeness=True),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn pairs, by their own rows and numbers for the other side's."""
        if self.parameters.nearest:
            what = f"for each of Alice's rows the {self.parameters.nearest} nearest of Bob's and their order"
        else:
            what = "all pairs of rows that are alike by the threshold"
        gets = (
            f"{what}: of each pair its own row and a number that stands for the other side's row in this run "
            "alone; not how alike they are",
            "by rows of its choice: every value of the other side's columns, in one run",
        )
        public = (
            "how many rows each side has",
            "the features with their bounds, the precision, and the threshold or how many are nearest",
            f"where the policies ask for a least number of matches: whether there are as many; {ASKED}",
        )
        return Leakage(
            gets if Role.ALICE in recipients else (), gets if Role.BOB in recipients else (), public
        )

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Whether there are rows enough, and not too many pairs if the peer brings as many."""
        parameters = self.parameters
        del peer

        def look() -> None:
            local = len(VectorMeasure.of(parameters, feature_schemas(parameters, data)).whole(data))
            limits.check_sets(local, local)
            alice, bob = (
                (local, max(local, parameters.nearest, 1)) if role is Role.ALICE else (max(local, 1), local)
            )
            check_counts(parameters, alice, bob)

        return Preview.of(look)

    route = ROUTE
    pace = Pace(0.06, byte=5.5e-9)

    least_rows = 1

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured, by rows."""
        return _MEMORY.at(max(setting.rows))

    @override
    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side; see `smc.analyses.matching.vectors.run`."""
        self.check_recipients(recipients)
        return run(self.parameters, session, data, recipients, release)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The same rule in the clear; a partner's number is its row. Of equals it takes the earlier ones."""
        self.check_recipients(recipients)
        return reference(self.parameters, alice, bob, recipients)
