"""Matching of feature vectors: which rows of both sides lie close together, or point the same way.

All pairs of rows are compared, and recipients learn which are alike: those within a threshold, or for each of
Alice's rows the nearest of Bob's. What they learn of the other side's row is a number that stands for it in
this run alone. No vector and no score leaves a party.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.vectors import pairs as vector_pairs
from smc.analyses.matching.vectors.parameters import EUCLIDEAN, VectorParameters
from smc.analyses.matching.vectors.scores import VectorMeasure
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import MEBI, Memory, Pace
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Study
from smc.errors import DomainError, TooManyRowsError, UsageError
from smc.forms import Role
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.bits import SecretBits

MAX_PAIRS: Final = 1 << 28
"""Most pairs of one job, each rank counted."""

_COMPARED: Final = ("kind", "scale", "lower", "upper", "unit")
_NUMBERS: Final = (
    "Rows count from 1. A pair has the same number in the tables of both recipients; a partner's number "
    "stands for a row of the other side in this run alone.",
)


@dataclass(frozen=True, slots=True)
class VectorStudy(Study):
    """A job."""

    parameters: VectorParameters
    gives = "matches"
    route = "inner products of all pairs and comparisons by oblivious transfer"
    pace = Pace(0.06, byte=5.5e-9)
    least_rows = 1

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        return dict.fromkeys(Role, self.parameters.columns)

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides declare the features alike, as bounded numbers."""
        for role, schemas in zip(Role, (alice, bob), strict=True):
            self.check_side(schemas, role)
        for name in self.parameters.columns:
            for what in _COMPARED:
                if getattr(alice[name], what) != getattr(bob[name], what):
                    raise UsageError(
                        f"Alice and Bob declare {what} of column {name!r} differently.",
                        "Declare the columns alike.",
                    )
        VectorMeasure.of(self.parameters, alice)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are matched, and the pairs are about single rows."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=False,
            row_results=True,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(keys=frozenset(self.parameters.columns), named=frozenset({"method"}), likeness=True),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
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
        return Leakage.to(recipients, gets, public)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        gets = (
            "which of its own rows have alike ones, by passing numbers",
            "with chosen rows: every value of the other side's columns",
        )
        return Brief.to(recipients, "find rows that are alike by their features", gets, "how alike they are")

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """Check that there are rows enough, and not too many pairs if the peer brings as many."""
        local = len(self._measure(data).whole(data))
        limits.check_sets(local, local)
        enough = max(local, self.parameters.nearest if role is Role.ALICE else 0, 1)
        self._check_counts(*((local, enough) if role is Role.ALICE else (enough, local)))

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        return Memory(55 * MEBI, 105_000).at(max(setting.rows))

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """Compare all pairs, and give recipients those that are alike.

        Raises:
            DomainError: the local columns do not fit, or there are too many pairs or too few rows.
            DisclosureRefused: the limits stand against it.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        measure = self._measure(data)
        local = measure.whole(data)
        (peer,) = exchange_counts(session, [len(local)])
        release.sets(len(local), peer)
        alice, bob = (len(local), peer) if session.role is Role.ALICE else (peer, len(local))
        self._check_counts(alice, bob)
        numbers = session.random.permutation(len(local))
        bits = vector_pairs.alike(session, measure, local[numbers], alice, bob)
        release.intersection(lambda: vector_pairs.count_matched(session, bits, bob))
        found = release.open(SecretBits(session, bits.reshape(alice, -1)), recipients, Rows())
        details = self._details(measure, alice, bob)
        if found is None:
            return Outcome.withhold(self.gives, details)
        links = links_of(found, bob)
        side = 0 if session.role is Role.ALICE else 1
        return self._pairs(numbers[links[:, side]], links[:, 1 - side], links[:, 2], details)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The same rule; a partner's number is its row. Of equals it takes the earlier ones."""
        measure = self._measure(alice)
        first, second = measure.whole(alice), measure.whole(bob)
        self._check_counts(len(first), len(second))
        links = links_of(vector_pairs.plain_alike(measure, first, second), len(second))
        details = self._details(measure, len(first), len(second))
        one, other = (
            self._pairs(links[:, side], links[:, 1 - side], links[:, 2], details)
            if role in recipients
            else Outcome.withhold(self.gives, details)
            for side, role in enumerate(Role)
        )
        return one, other

    def _measure(self, data: Data) -> VectorMeasure:
        """How likeness is measured, by the declarations of the features."""
        return VectorMeasure.of(
            self.parameters, {name: data[name].schema for name in self.parameters.columns}
        )

    def _check_counts(self, alice: int, bob: int) -> None:
        """Check the numbers of rows.

        Raises:
            DomainError: a side has too few.
            TooManyRowsError: both together have too many.
        """
        needed = max(1, self.parameters.nearest)
        if not alice or bob < needed:
            short = (
                "Alice has no rows" if not alice else f"Bob has {bob} rows of the {needed} that are needed"
            )
            raise DomainError(
                f"{short}; there is nothing to match with.",
                "Use data sets with rows on both sides, and at least parameters.nearest of Bob's.",
            )
        if alice * bob * needed > MAX_PAIRS:
            raise TooManyRowsError(
                f"{alice} times {bob} rows make too many pairs: each pair is compared.",
                "Match fewer rows in one job.",
            )

    def _pairs(
        self,
        rows: NDArray[np.int64],
        partners: NDArray[np.int64],
        ranks: NDArray[np.int64],
        details: Mapping[str, Any],
    ) -> Outcome:
        """The table of a recipient.

        Args:
            rows: the local rows of the matches, from 0, shape (k,).
            partners: numbers that stand for the peer's rows, from 0, shape (k,).
            ranks: from 0, shape (k,).
            details: of the run.
        """
        columns = {
            "pair": list(range(1, len(rows) + 1)),
            "row": (rows + 1).tolist(),
            "partner": (partners + 1).tolist(),
        }
        if self.parameters.nearest:
            columns["rank"] = (ranks + 1).tolist()
        return Outcome((Table("pairs", columns),), _NUMBERS, details)

    def _details(self, measure: VectorMeasure, alice: int, bob: int) -> dict[str, Any]:
        """What results say of the run; `alice` and `bob` are their numbers of rows."""
        given = self.parameters
        return {
            "route": self.route,
            "engine": "oblivious",
            "similarity": given.similarity,
            "threshold": None if given.threshold is None else str(given.threshold),
            "nearest": given.nearest,
            "precision_bits": given.precision,
            "score_bits": measure.width,
            "compared": alice * bob,
            "scaling": given.scaling.value if given.similarity == EUCLIDEAN else "length",
        }


def links_of(bits: NDArray[np.bool_], bob: int) -> NDArray[np.int64]:
    """Matches from bits of shape (alice, ranks * bob), in order of Alice's numbers and ranks.

    Returns:
        Alice's row, Bob's row and the rank, shape (k, 3).
    """
    rows, places = np.nonzero(bits)
    return np.stack([rows, places % bob, places // bob], axis=1).astype(np.int64)
