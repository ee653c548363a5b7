"""Joint k-means clustering of the rows of both parties.

Assignments, sizes and centres stay secret through all iterations; what is opened are the last centres, to the
recipients, with the sizes, the inertia and each recipient's labels, or, with an epsilon, noisy centres alone.
The notion is that of Bunn and Ostrovsky, Secure two-party k-means clustering, CCS 2007; the protocol is made
of oblivious transfer instead of homomorphic encryption, see `smc.secret.products.repeated` and
`smc.secret.products.grouped`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from smc.analyses.clustering import privacy
from smc.analyses.clustering.checks import likely_grid, look
from smc.analyses.clustering.leakage import brief, leakage, tells_members
from smc.analyses.clustering.memory import memory
from smc.analyses.clustering.parameters import ClusteringParameters, Layout, parse
from smc.analyses.clustering.reference import reference
from smc.analyses.clustering.run import run
from smc.analyses.clustering.scaled import scaled_columns
from smc.analyses.clustering.sides import check_sides
from smc.analyses.clustering.table import Shape
from smc.analyses.derived.study import KEY as DERIVED
from smc.analyses.derived.study import with_derived
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Stated, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class ClusteringStudy(Study):
    """A job."""

    parameters: ClusteringParameters
    gives = "clusters"
    route = "Lloyd's iterations over shared centres; assignments stay secret"
    pace = Pace(0.0, byte=4.2e-9, round=1.3e-3)

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The columns that the role brings."""
        return {role: self.parameters.columns(role) for role in Role}

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that all columns are bounded numbers, declared alike where both bring them, and fit."""
        parameters = self.parameters
        columns = scaled_columns(parameters, check_sides(parameters, alice, bob))
        columns.scale_centres(parameters.centres)
        privacy.plan(parameters, columns)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows of both sides are matched, or belong together by position unless each has rows of its own.

        Without an epsilon centres, sizes and inertia are exact, and labels are about single rows; so are
        centres of rows that both sides hold parts of (`smc.analyses.clustering.leakage`). With an epsilon, a
        recipient takes the labels of its own rows from the noisy centres.
        """
        parameters = self.parameters
        keys = frozenset(() if parameters.match is None else parameters.match.columns)
        matches = parameters.match is not None
        return Facts(
            pairs_by_position=parameters.layout is not Layout.HORIZONTAL and not matches,
            matches=matches,
            lpn=matches,
            row_results=parameters.epsilon is None and (parameters.labels or tells_members(parameters)),
            comparison_type=None,
            exact=_exact_figures(parameters),
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss() if parameters.epsilon is None else Loss(parameters.epsilon, privacy.MAX_DELTA),
            bounds=RowBounds(per_person=None if parameters.epsilon is None else parameters.rows_per_person),
            asked=Asked(
                keys=keys,
                values=keys & frozenset(parameters.names),
                states=frozenset({Stated.CENTRES} if parameters.centres else ()),
            ),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        return leakage(self.parameters, recipients)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        return brief(self.parameters, recipients)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Whether rows, keys, persons and sums fit, if the peer's rows and columns are like the local ones.

        Where each side brings rows of its own and the local ones are too few alone, a note says how many are
        needed: the peer may bring the rest.
        """
        return look(self.parameters, data, role, limits, peer)

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured, by the shape of the table."""
        shape = Shape.of(self.parameters, likely_grid(self.parameters, schemas), *setting.rows)
        return memory(self.parameters, shape, setting)

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts, and values like a known one, as far as it is not known."""
        given = self.parameters
        other = next(schemas[name] for name in given.names if name in schemas)
        every = {name: other for role in Role for name in self.columns[role]}
        keys = dict.fromkeys(given.match.columns if given.match is not None else (), Schema("text"))
        return {**every, **keys, **schemas}

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local data do not fit; nothing but row counts and declarations was sent.
            DomainError: keys are missing or repeated, or columns have different lengths; as above.
            DisclosureRefused: all rows together are fewer than the smallest group, or the sets that are
                matched, or the matches, fewer than the policies ask.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return run(self.parameters, session, data, recipients, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """Without limits too; random starts are drawn anew."""
        return reference(self.parameters, alice, bob, recipients)


def _exact_figures(parameters: ClusteringParameters) -> ExactFigures | None:
    """Clusters without noise; of rows that one side holds whole, the lines between them tell persons."""
    if parameters.epsilon is not None:
        return None
    if parameters.layout is not Layout.HORIZONTAL:
        return ExactFigures(1, Whom.MATCHES)
    return ExactFigures(1, Whom.CLUSTERS, frozenset(parameters.names))


class Clustering:
    """The analysis `clustering`; see `smc.analyses.studies.study.Analysis` for its methods' contracts."""

    name: Final = "clustering"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> Study:
        """Check the `[parameters]` of a job, see `smc.analyses.clustering.parameters`.

        Columns may be derived, see `smc.analyses.derived.columns`.
        """
        if DERIVED in parameters and parameters.get("layout") == Layout.ARBITRARY.value:
            raise UsageError(
                "parameters.derived does not go with layout 'arbitrary': values are sums of two cells.",
                "Derive the column in the data, or use another layout.",
            )
        return with_derived(parameters, lambda others: ClusteringStudy(parse(others)))


CLUSTERING: Final = Clustering()
"""The analysis, for the registry."""
