"""Joint differentially private statistics: the program.

Each side adds up its own rows; shares of noise that neither knows are added; the sums are opened to the
recipients only. Neighbouring tables differ by one row, added or removed, on either side: one person is one
row. The guarantee holds against the other party as well, which knows its own rows but not the noise; towards
the parties it is computational (`smc.oblivious`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from smc.analyses.base import Data, Estimate, Leakage, Outcome, Schema, Table
from smc.analyses.disclosure.release import Release
from smc.analyses.loss import Loss
from smc.analyses.statistics.parameters import StatisticsParameters, parse
from smc.analyses.statistics.plan import MOST_DELTA, Noisy, check_alike, plan
from smc.analyses.statistics.queries import Estimated
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.protocols.comparison.oblivious import SETUP_COST
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.secret import noise, opening
from smc.secret.laplace import DiscreteLaplace

_NEIGHBOURS: Final = "one row added to or removed from either side's table; one person is one row"
_SECONDS_PER_BYTE: Final = 6e-9
_SETUP_SECONDS: Final = 0.05


class Statistics:
    """The analysis `statistics`; see `smc.analyses.base.Analysis` for its methods' contracts."""

    name: Final = "statistics"

    def parse(self, parameters: Mapping[str, Any]) -> StatisticsParameters:
        """Check the `[parameters]` of a job, see `smc.analyses.statistics.parameters`."""
        return parse(parameters)

    def columns(self, parameters: StatisticsParameters, role: Role) -> tuple[str, ...]:
        """The columns that the queries name: the same for both."""
        del role
        return parameters.columns

    def check_schema(
        self, parameters: StatisticsParameters, alice: Mapping[str, Schema], bob: Mapping[str, Schema]
    ) -> None:
        """Check that both sides declare the columns alike, that queries fit and that nothing can wrap."""
        for query in parameters.queries:
            if query.column:
                check_alike(query, alice, bob)
        plan(parameters, alice)

    def check_recipients(self, parameters: StatisticsParameters, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to."""
        del parameters
        if not recipients:
            raise UsageError("Nobody receives the statistics.", "Name alice, bob or both as recipients.")

    def loss(self, parameters: StatisticsParameters) -> Loss:
        """The job's total, with the delta that its plan may need at most."""
        return Loss(parameters.epsilon, Fraction(MOST_DELTA))

    def exact(self, parameters: StatisticsParameters) -> bool:
        """Never: everything is noisy."""
        del parameters
        return False

    def leakage(self, parameters: StatisticsParameters, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn the noisy results, the others nothing."""
        names = ", ".join(query.name for query in parameters.queries)
        gets = (
            f"the noisy results of: {names}; under differential privacy with epsilon "
            f"{_text(parameters.epsilon)} for every row of the other side, as neither knows the noise",
        )
        public = (
            f"the queries, their bounds and bins, and epsilon {_text(parameters.epsilon)}",
            f"that each side has at most {parameters.max_rows} rows; not how many",
        )
        return Leakage(
            gets if Role.ALICE in recipients else (), gets if Role.BOB in recipients else (), public
        )

    def estimate(
        self,
        parameters: StatisticsParameters,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
    ) -> Estimate:
        """Exact rounds and bytes; neither rows nor keys matter."""
        del rows, key_bits
        total = run_cost(parameters, schemas, recipients)
        return Estimate(
            total.rounds,
            total.alice_bytes,
            total.bob_bytes,
            _SETUP_SECONDS + _SECONDS_PER_BYTE * (total.alice_bytes + total.bob_bytes),
            "local sums; joint discrete Laplace noise by oblivious transfer; open to recipients",
        )

    def run(
        self,
        session: Session,
        parameters: StatisticsParameters,
        data: Data,
        recipients: frozenset[Role],
        release: Release | None = None,
    ) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the own columns do not fit; nothing was sent.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        self.check_recipients(parameters, recipients)
        plans = plan(parameters, {name: column.schema for name, column in data.items()})
        sums = _local(parameters, plans, data)
        session.report("noise", 0, 1)
        shares = noise.draw(session, _laws(plans))
        shares += np.array(sums, dtype=np.int64).view(np.uint64)
        session.report("noise", 1, 1)
        opened = (release or Release()).words(session, shares, recipients)
        return _outcome(plans, None if opened is None else _signed(opened), noisy=True)

    def run_plain(
        self, parameters: StatisticsParameters, alice: Data, bob: Data, recipients: frozenset[Role]
    ) -> tuple[Outcome, Outcome]:
        """The exact statistics, in the same tables."""
        self.check_recipients(parameters, recipients)
        plans = plan(parameters, {name: column.schema for name, column in alice.items()})
        both = zip(_local(parameters, plans, alice), _local(parameters, plans, bob), strict=True)
        total = [a + b for a, b in both]
        first, second = (_outcome(plans, total if role in recipients else None, noisy=False) for role in Role)
        return first, second


STATISTICS: Final = Statistics()
"""The analysis, for the registry."""


def run_cost(
    parameters: StatisticsParameters, schemas: Mapping[str, Schema], recipients: frozenset[Role]
) -> Cost:
    """The exact cost of a run in a fresh session, without what the gate sends."""
    laws = _laws(plan(parameters, schemas))
    return SETUP_COST + noise.cost(laws) + opening.cost(len(laws), recipients)


def _laws(plans: Sequence[Noisy]) -> list[DiscreteLaplace]:
    return [law for noisy in plans for law in noisy.laws]


def _local(parameters: StatisticsParameters, plans: Sequence[Noisy], data: Data) -> list[int]:
    """The own sums of all statistics, after the checks that keep them from wrapping."""
    lengths = {len(data[name]) for name in parameters.columns}
    if len(lengths) != 1:
        raise DomainError("The columns of this side have different lengths.", "Correct the data set.")
    rows = lengths.pop()
    if rows > parameters.max_rows:
        raise DomainError(
            "This side has more rows than parameters.max_rows allows.",
            "Raise max_rows in the job, which both sides see, or use fewer rows.",
        )
    first = parameters.columns[0]
    return [
        total
        for noisy in plans
        for total in noisy.statistic.local(data[noisy.statistic.column or first].integers)
    ]


def _signed(words: NDArray[np.uint64]) -> list[int]:
    return [int(word) for word in words.view(np.int64)]


def _outcome(plans: Sequence[Noisy], totals: Sequence[int] | None, *, noisy: bool) -> Outcome:
    details = _details(plans) if noisy else {"guarantee": "none: exact values"}
    if totals is None:
        return Outcome((), ("The results went to the other party only.",), details)
    rows: list[tuple[Any, ...]] = []
    extra: list[Table] = []
    start = 0
    for planned in plans:
        statistic, laws = planned.statistic, planned.laws if noisy else ()
        words = totals[start : start + len(planned.laws)]
        start += len(planned.laws)
        rows.append(_row(planned, statistic.estimated(words, laws), noisy=noisy))
        table = statistic.table(words, laws)
        if table is not None:
            extra.append(table)
    columns = dict(zip(_HEADINGS, map(list, zip(*rows, strict=True)), strict=True))
    return Outcome((Table("results", columns), *extra), _notes(plans, noisy=noisy), details)


_HEADINGS: Final = (
    "query", "kind", "column", "value", "lower_95", "upper_95", "epsilon", "noise_scale", "unit"
)  # fmt: skip


def _row(planned: Noisy, result: Estimated, *, noisy: bool) -> tuple[Any, ...]:
    statistic = planned.statistic
    return (
        statistic.name,
        statistic.kind,
        statistic.column or None,
        result.value,
        result.lower,
        result.upper,
        _text(statistic.epsilon) if noisy else None,
        float(statistic.noise_scale) if noisy else 0.0,
        statistic.unit,
    )


def _notes(plans: Sequence[Noisy], *, noisy: bool) -> tuple[str, ...]:
    kinds = {planned.statistic.kind for planned in plans}
    notes: list[str] = []
    if kinds & {"sum", "mean"}:
        notes.append("Values outside a query's bounds were clamped to them before adding.")
    if "histogram" in kinds:
        notes.append("Rows outside all bins of a histogram are counted in none.")
    if not noisy:
        return tuple(notes)
    notes.append(
        "The 95 % intervals cover the exact statistic of the joined table, from the exact quantiles of the "
        "noise, each taken alone; they do not speak of sampling."
    )
    notes.append("Counts are not clamped after the noise: a small one can come out negative.")
    if "mean" in kinds:
        notes.append(
            "A mean is the noisy sum about the centre of its bounds over the noisy count, each with half of "
            "the query's epsilon; its interval follows from the 97.5 % intervals of both."
        )
    return tuple(notes)


def _details(plans: Sequence[Noisy]) -> dict[str, Any]:
    total = sum((planned.statistic.epsilon for planned in plans), Fraction(0))
    return {
        "guarantee": "(epsilon, delta)-differential privacy, by sequential composition of the queries; "
        "computational towards the two parties, as 128-bit oblivious transfer hides the noise from them",
        "neighbours": _NEIGHBOURS,
        "mechanism": "discrete Laplace, drawn jointly; neither party knows the noise",
        "epsilon": _text(total),
        "delta": float(sum((planned.delta for planned in plans), Decimal(0))),
        "engine": "oblivious",
        "queries": [_detail(planned) for planned in plans],
    }


def _detail(planned: Noisy) -> dict[str, Any]:
    statistic = planned.statistic
    return {
        "query": statistic.name,
        "kind": statistic.kind,
        "epsilon": _text(statistic.epsilon),
        "sensitivity": _text(Fraction(statistic.sensitivity, _divisor(planned))),
        "noise_scale": _text(statistic.noise_scale),
        "delta": float(planned.delta),
    }


def _divisor(planned: Noisy) -> int:
    """What turns the statistic's held units into those of its result."""
    summed = planned.statistic.kind in ("sum", "mean")
    return 10**planned.statistic.schema.scale if summed else 1


def _text(value: Fraction) -> str:
    """A fraction as a decimal where that is exact, else as numerator/denominator."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest > 1:
        return str(value)
    digits = value.denominator.bit_length()
    scaled = value * 10**digits
    text = format(Decimal(scaled.numerator).scaleb(-digits), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
