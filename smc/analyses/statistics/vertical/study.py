"""Statistics over matched rows: a job in which each side has other columns about the same persons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.records.keying import DISTINCT
from smc.analyses.records.matched_columns import Vertical
from smc.analyses.statistics.plans.outcome import conditions_text, loss_text
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.vertical.checks import check, check_side, precision_of
from smc.analyses.statistics.vertical.likely import assume
from smc.analyses.statistics.vertical.reference import reference
from smc.analyses.statistics.vertical.run import Brought, plan_queries, run
from smc.analyses.statistics.vertical.sums import FeatureLayout
from smc.analyses.statistics.vertical.terms import pairs
from smc.analyses.studies.brief import LEAST_MATCHES, Brief, count_of
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts, RowBounds
from smc.analyses.studies.memory import MEBI, Memory, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.forms import Role
from smc.protocols.session import Session

_FEATURE_MEMORY: Final = 64
_FEATURE_BIT_MEMORY: Final = 3


@dataclass(frozen=True, slots=True)
class VerticalStudy(Study):
    """A job.

    Attributes:
        parameters: as parsed.
        vertical: how rows are matched, and which columns each side brings.
    """

    parameters: StatisticsParameters
    vertical: Vertical
    gives = "statistics"

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The keys, and of the columns that the queries name those of the role."""
        return {role: self.vertical.columns(role) for role in Role}

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts, and values as the queries would have them, as far as it is not known."""
        values = (*self.vertical.alice, *self.vertical.bob)
        found = {name: schemas.get(name) or assume(name, self.parameters.queries) for name in values}
        return {**dict.fromkeys(self.vertical.match.columns, Schema("text")), **schemas, **found}


@dataclass(frozen=True, slots=True)
class NoisyVerticalStudy(VerticalStudy):
    """A job with noise."""

    route = "rows aligned in secret by their keys; secret products; joint noise; open to recipients"
    pace = Pace(0.07, byte=6.2e-9, numpy=1.2)

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check keys and columns of both sides, that the queries fit, and that nothing can wrap."""
        check(self.parameters, self.vertical, alice, bob)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Noisy figures about all rows that match; the loss is the total of the queries."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=False,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=self.parameters.loss,
            bounds=RowBounds(self.parameters.maximum_rows),
            asked=self.parameters.asked,
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn noisy results; nobody learns which rows match."""
        names = ", ".join(query.name for query in self.parameters.queries)
        loss = loss_text(self.parameters.loss)
        gets = (
            f"the noisy results over the matched rows of: {names}; under differential privacy with {loss}: "
            f"{self.vertical.neighbours}; neither party knows the noise"
        )
        bit = (
            "where the policies ask for a least intersection: whether its noisy size reaches that, one bit; "
            "this count has a tenth of the loss"
        )
        rows = "distinct keys" if self.vertical.match.duplicates == DISTINCT else "rows"
        public = (
            f"the number of {rows} of each side",
            "the queries, their bounds and bins, and how keys are matched",
            *conditions_text(self.parameters),
            f"the declarations of {', '.join((*self.vertical.alice, *self.vertical.bob)) or 'no columns'}",
            loss,
        )
        return Leakage.to(recipients, (gets,), public, both=(bit,))

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        names = self.parameters.names
        figures = count_of(len(names), "figure")
        gets = (f"{figures} over the matched rows, with noise",)
        does = f"match the rows of both by their keys, and compute {figures} over the matches, with noise"
        hides = "which rows match, and the figures without noise"
        return Brief.to(recipients, does, gets, hides, both=(LEAST_MATCHES,), figures=names)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Whether keys are there, and columns fit the queries that are about this side alone.

        Of these it also says what precision to expect.
        """
        schemas = {name: column.schema for name, column in data.items()}
        check_side(self.parameters, self.vertical, schemas, role)
        brought = Brought.of(self.parameters, self.vertical, data, role)
        count = len(brought.keyed)
        limits.check_sets(count, count)
        return precision_of(self.parameters, self.vertical, brought, schemas, role, limits)

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: by rows, and by the features of the party that does not own the table of keys."""
        plans = plan_queries(self.parameters, schemas, counts_matches=False, counts_groups=False)
        wanted = [pair for each in plans for pair in pairs(each, self.vertical.alice)]
        features = max(
            sum(_FEATURE_MEMORY + _FEATURE_BIT_MEMORY * feature.span_bits for feature in layout)
            for layout in (FeatureLayout.of(wanted, owner).other_bounds for owner in Role)
        )
        return Memory(20 * MEBI, 400 + features).at(max(setting.rows))

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        return run(session, self.parameters, self.vertical, data, recipients, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The exact statistics of the joined table."""
        return reference(self.parameters, self.vertical, alice, bob, recipients)
