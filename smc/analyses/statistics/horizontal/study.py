"""Joint statistics over rows of both, each side with the same columns.

With noise, each side adds up its rows; shares of noise that neither knows are added; the sums are
opened to the recipients only. Quantiles are chosen inside (`quantiles.py`), regressions and the like follow
from opened sums. Neighbouring tables differ by the rows of one person, added or removed, on one side; the
guarantee holds against the other party as well, which knows its own rows but not the noise. Towards the
parties it is computational (`smc.oblivious`). Without noise, counts and sums are opened as tables under the
limits of disclosure (`exact.py`).

A limit `minimum_group` of m persons holds for noisy results too: what is about fewer than m rows, by its
noisy count, is withheld (`suppression.py`); fewer than m times `rows_per_person`, where that is above 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.tables import GOES_ON, WITHHELD
from smc.analyses.statistics.horizontal.asked_exactly import exact_queries
from smc.analyses.statistics.horizontal.outcomes import run_exact, run_noisy
from smc.analyses.statistics.horizontal.reference import reference
from smc.analyses.statistics.plans import noisy, noisy_results
from smc.analyses.statistics.plans.advice import advise
from smc.analyses.statistics.plans.longer_steps import advise_steps
from smc.analyses.statistics.plans.outcome import conditions_text, loss_text, names_text, pooled_text
from smc.analyses.statistics.plans.plan import check_alike, plan
from smc.analyses.statistics.plans.precision import expected_precision
from smc.analyses.statistics.queries.parameters import StatisticsParameters
from smc.analyses.statistics.queries.rows import LocalRows
from smc.analyses.studies.brief import Brief, count_of
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import MEBI, Memory, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.precision import with_precision
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.analyses.studies.totals import SummedRows
from smc.forms import Role
from smc.protocols.session import Session

_MEMORY: Final = Memory(30 * MEBI, 50)
_BIT_MEMORY: Final = 95
_BATCH_BIT_MEMORY: Final = 300
_BATCH_BITS: Final = 1 << 17
"""Bytes for each biased bit that noise is drawn from, and for each of a batch of this size at most."""


@dataclass(frozen=True, slots=True)
class HorizontalStudy(Study):
    """A job over rows of both, of which each side brings its own."""

    parameters: StatisticsParameters
    gives = "statistics"
    pace = Pace(0.015, byte=4e-9, round=0.4e-3, numpy=2.2)

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The columns that the queries name, the same for both."""
        return {role: self.parameters.columns_of(role) for role in Role}

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured, by rows."""
        return _MEMORY.at(max(setting.rows))

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The exact statistics, in the same tables."""
        return reference(self.parameters, alice, bob, recipients)


@dataclass(frozen=True, slots=True)
class NoisyStudy(HorizontalStudy):
    """A job with noise."""

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides' columns fit each other and the queries, and that nothing can wrap."""
        for query in self.parameters.queries:
            check_alike(query, alice, bob, noisy=True)
        for schemas in (alice, bob):
            plan(self.parameters, schemas)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Noisy figures about all rows; the loss is the total of the queries."""
        return Facts(
            pairs_by_position=False,
            matches=False,
            lpn=False,
            row_results=False,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=self.parameters.keeps_missing,
            loss=self.parameters.loss,
            bounds=RowBounds(self.parameters.maximum_rows),
            asked=self.parameters.asked,
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        parameters = self.parameters
        loss = loss_text(parameters.loss)
        gets = (
            f"the noisy results of: {names_text(parameters)}; under differential privacy with {loss}: "
            f"{parameters.neighbours}; neither party knows the noise"
        )
        return Leakage.to(recipients, (gets,), (*public_text(parameters), loss))

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        names = self.parameters.names
        figures = count_of(len(names), "figure")
        gets = (f"{figures}, with noise that neither side can remove",)
        does = f"compute {figures} over the rows of both, and add noise that neither knows"
        hides = "the rows themselves, how many each side has, or the figures without noise"
        return Brief.to(recipients, does, gets, hides, figures=names)

    def totals(self, pieces: Iterable[Data]) -> SummedRows:
        """The sums that are all that this study needs, see `smc.analyses.studies.totals.AddsUp`."""
        return noisy_results.totals(self.parameters, pieces)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Whether rows fit the queries, and the precision to expect, see `expected_precision`."""
        schemas = {name: column.schema for name, column in data.items()}
        plans = plan(self.parameters, schemas, counted=limits.counts_groups)
        own = noisy.local_entries(self.parameters, plans, data)
        rows = data.rows if isinstance(data, SummedRows) else len(next(iter(data.values())))
        both = zip(plans, own, strict=True)
        found = [expected_precision(planned, each, len(Role), rows) for planned, each in both]
        advice = advise(plans, own, len(Role), rows, found)
        preview = advice.preview(*advise_steps(plans, own, len(Role)))
        return with_precision(preview, [row for of_each in found for row in of_each])

    @property
    @override
    def route(self) -> str:
        """With the noise that is drawn."""
        noise = self.parameters.noise.capitalize()
        return f"local sums; joint discrete {noise} noise by oblivious transfer; open to recipients"

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: by rows, and by the biased bits that noise is drawn from."""
        bits = noisy.biased_bits(plan(self.parameters, schemas, counted=setting.limits.minimum_group > 0))
        return _MEMORY.at(max(setting.rows)) + _BIT_MEMORY * bits + _BATCH_BIT_MEMORY * min(bits, _BATCH_BITS)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local columns do not fit; nothing was sent.
            DomainError: the local data do not; nothing was sent.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return run_noisy(session, self.parameters, data, recipients, release)


@dataclass(frozen=True, slots=True)
class ExactStudy(HorizontalStudy):
    """A job without noise."""

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Exact figures, about rows of which each side brings its own.

        Whatever values a recipient chooses for its rows, it knows what they add.
        """
        return Facts(
            pairs_by_position=False,
            matches=False,
            lpn=False,
            row_results=False,
            comparison_type=None,
            exact=ExactFigures(len(self.parameters.queries), Whom.CELLS),
            sorts_by=self.parameters.sorts_by,
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(self.parameters.maximum_rows),
            asked=self.parameters.asked,
        )

    def describe_learnt(
        self, recipients: frozenset[Role], gets: tuple[str, ...], of_the_other: str
    ) -> Leakage:
        """What recipients learn, and of the other side's part with its name for `{other}`."""
        alice, bob = (
            (*gets, of_the_other.format(other=role.other.value.capitalize())) if role in recipients else ()
            for role in Role
        )
        return Leakage(alice, bob, public_text(self.parameters))


@dataclass(frozen=True, slots=True)
class ExactTablesStudy(ExactStudy):
    """Its queries are tables."""

    route = "local sums; each side's part opened to recipients as far as its limits allow"

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides' columns fit each other and the queries, and that nothing can wrap."""
        for query in self.parameters.queries:
            check_alike(query, alice, bob, noisy=False)
        for schemas in (alice, bob):
            exact_queries(self.parameters, schemas)

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        names, pooled = names_text(self.parameters), pooled_text(self.parameters)
        tables = (f"the exact results of: {names}; of sums and means the row counts too", WITHHELD)
        return self.describe_learnt(recipients, (*(tables if names else ()), *pooled), GOES_ON)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        names = self.parameters.names
        figures = count_of(len(names), "exact figure")
        gets = (f"{figures}, without noise", "which cells, or whose part, the limits withhold")
        does = f"compute {figures} over the rows of both"
        return Brief.to(recipients, does, gets, "the rows themselves, and withheld cells", figures=names)

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """Check that rows fit the queries.

        What is withheld of the local part, or whether all of it is, is settled in the run: by this party's
        own limits alone, and only where the other party receives the table.
        """
        exact_queries(self.parameters, {name: column.schema for name, column in data.items()})
        LocalRows.of(self.parameters, data)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local columns do not fit; nothing was sent.
            DomainError: the local data do not; nothing was sent.
            DisclosureRefused: a side does not let its part of a table be opened; no cell of it was.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        return run_exact(session, self.parameters, data, recipients, release)


def public_text(parameters: StatisticsParameters) -> tuple[str, ...]:
    """What both parties know of a job over rows of both, in words."""
    return (
        "the queries, their bounds and bins",
        *conditions_text(parameters),
        f"that each side has at most {parameters.maximum_rows} rows; not how many",
    )
