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

from smc.analyses.columns import Data, Schema
from smc.analyses.disclosure.costs import cost_test
from smc.analyses.disclosure.figures import Rows
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.matching.vectors import pairs as vector_pairs
from smc.analyses.matching.vectors.parameters import EUCLIDEAN, VectorParameters, parse
from smc.analyses.matching.vectors.scores import Measure
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome, Table
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.protocols.exchange.row_counts import counts_cost, exchange_counts
from smc.protocols.session import Session
from smc.protocols.transfer_costs import SETUP_COST
from smc.secret import opening
from smc.secret.bits import SecretBits
from smc.secret.bounds import Bounds

Links = NDArray[np.int64]
"""Matches: Alice's row, Bob's row and the rank, shape (k, 3)."""

MAX_PAIRS: Final = 1 << 28

_SECONDS_PER_BYTE: Final = 8e-9
_MEMORY: Final = Memory(60 * MEBI, 90_000)
_ROUTE: Final = "inner products of all pairs and comparisons by oblivious transfer"
_KEPT: Final = ("The matches went to the other party only.",)
_NUMBERS: Final = (
    "Rows count from 1. A pair has the same number in the tables of both recipients; a partner's number "
    "stands for a row of the other side in this run alone.",
)
_COMPARED: Final = ("kind", "scale", "lower", "upper", "unit")


@dataclass(frozen=True, slots=True)
class VectorStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: VectorParameters

    @property
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
        Measure.of(self.parameters, alice)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to."""
        if not recipients:
            raise UsageError("Nobody receives the matches.", "Name alice, bob or both as recipients.")

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are matched, and the pairs are about single rows."""
        del recipients
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=True,
            comparison_type=None,
            exact=False,
            sorts_by=frozenset(),
            loss=Loss(),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn pairs, by own rows and numbers for the other side's."""
        if self.parameters.nearest:
            what = f"for each of Alice's rows the {self.parameters.nearest} nearest of Bob's and their order"
        else:
            what = "all pairs of rows that are alike by the threshold"
        gets = (
            f"{what}: of each pair its own row and a number that stands for the other side's row in this run "
            "alone; not how alike they are",
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
            own = len(Measure.of(parameters, _schemas(parameters, data)).whole(data))
            limits.check_sets(own, own)
            alice, bob = (own, max(own, parameters.nearest, 1)) if role is Role.ALICE else (max(own, 1), own)
            _check(parameters, alice, bob)

        return Preview.of(look)

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """Exact rounds and bytes."""
        del key_bits
        measure, count = Measure.of(self.parameters, schemas), max(1, rows)
        cost = SETUP_COST + counts_cost(1) + vector_pairs.cost(measure, count, count)
        if limits.counts_matches:
            cost += vector_pairs.cost_matched(measure, count, count)
            most = Bounds(0, count)
            cost += cost_test([(most, limits.minimum_intersection)] * len(Role))
        cost += opening.cost_bits(count * count * max(1, self.parameters.nearest), recipients)
        seconds = _SECONDS_PER_BYTE * (cost.alice_bytes + cost.bob_bytes)
        return Estimate(cost.rounds, cost.alice_bytes, cost.bob_bytes, seconds, _ROUTE, _MEMORY.at(count))

    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side.

        Raises:
            DomainError: the local columns do not fit, or there are too many pairs or too few rows.
            DisclosureRefused: the limits stand against it.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        measure = Measure.of(parameters, _schemas(parameters, data))
        own = measure.whole(data)
        (peer,) = exchange_counts(session, [len(own)])
        release.sets(len(own), peer)
        alice, bob = (len(own), peer) if session.role is Role.ALICE else (peer, len(own))
        _check(parameters, alice, bob)
        numbers = session.random.permutation(len(own))
        bits = vector_pairs.alike(session, measure, own[numbers], alice, bob)
        release.intersection(lambda: vector_pairs.matched(session, bits, bob))
        found = release.open(SecretBits(session, bits.reshape(alice, -1)), recipients, Rows())
        details = _details(parameters, measure, alice, bob)
        if found is None:
            return Outcome((), _KEPT, details)
        links = _links(found, bob)
        side = 0 if session.role is Role.ALICE else 1
        return _outcome(parameters, numbers[links[:, side]], links[:, 1 - side], links[:, 2], details)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The same rule in the clear; a partner's number is its row. Of equals it takes the earlier ones."""
        parameters = self.parameters
        self.check_recipients(recipients)
        measure = Measure.of(parameters, _schemas(parameters, alice))
        first, second = measure.whole(alice), measure.whole(bob)
        _check(parameters, len(first), len(second))
        links = _links(vector_pairs.plain_alike(measure, first, second), len(second))
        details = _details(parameters, measure, len(first), len(second))
        outcomes = [
            _outcome(parameters, links[:, side], links[:, 1 - side], links[:, 2], details)
            if role in recipients
            else Outcome((), _KEPT, details)
            for side, role in enumerate(Role)
        ]
        return outcomes[0], outcomes[1]


class Vectors:
    """The method `vectors`; see `smc.analyses.study.Analysis` for its methods' contracts."""

    name: Final = "vectors"
    always_matches: Final = True

    def parse(self, parameters: Mapping[str, Any]) -> VectorStudy:
        """Check the parameters, see `smc.analyses.matching.vectors.parameters`."""
        return VectorStudy(parse(parameters))


VECTORS: Final = Vectors()
"""The method, for `smc.analyses.matching.analysis`."""


def _schemas(parameters: VectorParameters, data: Data) -> dict[str, Schema]:
    return {name: data[name].schema for name in parameters.columns}


def _check(parameters: VectorParameters, alice: int, bob: int) -> None:
    """Check the numbers of rows.

    Raises:
        DomainError: a side has too few or both together too many.
    """
    if not alice or bob < max(1, parameters.nearest):
        raise DomainError(
            f"Alice has {alice} rows and Bob has {bob}; there is nothing to match with.", "Bring more rows."
        )
    if alice * bob * max(1, parameters.nearest) > MAX_PAIRS:
        raise DomainError(
            f"{alice} times {bob} rows make too many pairs; all are compared.", "Match smaller sets."
        )


def _links(bits: NDArray[np.bool_], bob: int) -> Links:
    """Matches from bits of shape (alice, ranks * bob), in order of Alice's numbers and ranks."""
    rows, places = np.nonzero(bits)
    return np.stack([rows, places % bob, places // bob], axis=1).astype(np.int64)


def _outcome(
    parameters: VectorParameters,
    rows: NDArray[np.int64],
    partners: NDArray[np.int64],
    ranks: NDArray[np.int64],
    details: Mapping[str, Any],
) -> Outcome:
    columns = {
        "pair": list(range(1, len(rows) + 1)),
        "row": (rows + 1).tolist(),
        "partner": (partners + 1).tolist(),
    }
    if parameters.nearest:
        columns["rank"] = (ranks + 1).tolist()
    return Outcome((Table("pairs", columns),), _NUMBERS, details)


def _details(parameters: VectorParameters, measure: Measure, alice: int, bob: int) -> dict[str, Any]:
    return {
        "route": _ROUTE,
        "engine": "oblivious",
        "similarity": parameters.similarity,
        "threshold": None if parameters.threshold is None else str(parameters.threshold),
        "nearest": parameters.nearest,
        "precision_bits": parameters.precision,
        "score_bits": measure.width,
        "compared": alice * bob,
        "scaling": parameters.scaling.value if parameters.similarity == EUCLIDEAN else "length",
    }
