"""Joint statistics: the program.

With noise, each side adds up its own rows; shares of noise that neither knows are added; the sums are
opened to the recipients only. Quantiles are chosen inside (`quantiles.py`), regressions and the like follow
from opened sums. Neighbouring tables differ by the rows of one person, added or removed, on one side; the
guarantee holds against the other party as well, which knows its own rows but not the noise. Towards the
parties it is computational (`smc.oblivious`). Without noise, counts and sums are opened as tables under the
limits of disclosure (`exact.py`).

A limit `minimum_group` of m persons holds for noisy results too: what is about fewer than m rows, by its
noisy count, is withheld (`suppression.py`); fewer than m times `rows_per_person`, where that is above 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.columns import Data, Schema
from smc.analyses.disclosure.limits import NO_LIMITS, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.disclosure.tables import PATTERN
from smc.analyses.memory import MEBI, Memory
from smc.analyses.outcome import Outcome
from smc.analyses.statistics.horizontal import noisy
from smc.analyses.statistics.horizontal.exact import Tables
from smc.analyses.statistics.outcome import (
    EXACT_DETAILS,
    Reported,
    kept_from,
    loss_text,
    noisy_details,
    told,
)
from smc.analyses.statistics.parameters import StatisticsParameters, parse
from smc.analyses.statistics.plan import check_alike, plan
from smc.analyses.statistics.rows import LocalRows
from smc.analyses.statistics.vertical import contract as vertical_contract
from smc.analyses.statistics.vertical import run as vertical
from smc.analyses.study import Estimate, Facts, Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.protocols.spec import Cost
from smc.protocols.transfer_costs import SETUP_COST

_SECONDS_PER_BYTE: Final = 2e-8
_SETUP_SECONDS: Final = 0.05
_MEMORY: Final = Memory(35 * MEBI, 50)


@dataclass(frozen=True, slots=True)
class StatisticsStudy:
    """A job; see `smc.analyses.study.Study` for what its methods say."""

    parameters: StatisticsParameters

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The columns that the queries name, the same for both; over matched rows keys and own columns."""
        return {role: self.parameters.columns_of(role) for role in Role}

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both sides' columns fit each other and the queries, and that nothing can wrap."""
        parameters = self.parameters
        if parameters.vertical is not None:
            vertical_contract.check(parameters, parameters.vertical, alice, bob)
            return
        for query in parameters.queries:
            check_alike(query, alice, bob)
        if parameters.is_exact:
            for schemas in (alice, bob):
                _tables(parameters, schemas)
        else:
            plan(parameters, alice)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to."""
        if not recipients:
            raise UsageError("Nobody receives the statistics.", "Name alice, bob or both as recipients.")

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Figures about all rows, or all that match; the loss is the total of the queries.

        Exact ones are about rows of which each side brings its own, so that whatever values a recipient
        chooses for its rows, it knows what they add.
        """
        parameters = self.parameters
        del recipients
        return Facts(
            pairs_by_position=False,
            matches=parameters.vertical is not None,
            row_results=False,
            comparison_type=None,
            exact=parameters.is_exact,
            sorts_by=parameters.sorts_by,
            loss=parameters.loss,
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn the results, the others nothing but what is withheld of exact ones."""
        parameters = self.parameters
        if parameters.vertical is not None:
            return vertical_contract.leakage(parameters, parameters.vertical, recipients)
        names = ", ".join(f'"{query.name}"' for query in parameters.queries)
        public: tuple[str, ...] = (
            "the queries, their bounds and bins",
            f"that each side has at most {parameters.maximum_rows} rows; not how many",
        )
        if parameters.is_exact:
            all_learn: tuple[str, ...] = (PATTERN,)
            gets = f"the exact results of: {names}; of sums and means the row counts too"
        else:
            loss = loss_text(parameters.loss)
            all_learn, public = (), (*public, loss)
            gets = (
                f"the noisy results of: {names}; under differential privacy with {loss}: "
                f"{parameters.neighbours}; neither party knows the noise"
            )
        first, second = ((gets, *all_learn) if role in recipients else all_learn for role in Role)
        return Leakage(first, second, public)

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Whether rows fit the queries and the limits, and keys are there where rows are matched."""
        parameters = self.parameters
        del peer

        def look() -> None:
            schemas = {name: column.schema for name, column in data.items()}
            if parameters.vertical is not None:
                vertical_contract.check_side(parameters, parameters.vertical, schemas, role)
                keyed = vertical.Brought.of(parameters, parameters.vertical, data, role).keyed
                limits.check_sets(len(keyed), len(keyed))
                return
            if not parameters.is_exact:
                plan(parameters, schemas, counted=limits.counts_groups)
            else:
                _tables(parameters, schemas)
                if len(parameters.queries) > 1:
                    limits.check_single_table()
            LocalRows.of(parameters, data)

        return Preview.of(look)

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """Exact rounds and bytes where no cell is withheld; rows matter where they are matched."""
        parameters = self.parameters
        del key_bits
        if parameters.vertical is not None:
            return vertical_contract.estimate(
                parameters, parameters.vertical, schemas, recipients, rows, limits
            )
        total = run_cost(parameters, schemas, recipients, limits)
        exact = "local sums; open to recipients as far as the limits allow"
        return Estimate(
            total.rounds,
            total.alice_bytes,
            total.bob_bytes,
            _SETUP_SECONDS + _SECONDS_PER_BYTE * (total.alice_bytes + total.bob_bytes),
            exact
            if parameters.is_exact
            else f"local sums; joint discrete {parameters.noise.capitalize()} noise by oblivious transfer; "
            "open to recipients",
            _MEMORY.at(rows),
        )

    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side.

        Raises:
            UsageError: the local columns do not fit; nothing was sent.
            DomainError: the local data do not; nothing was sent.
            DisclosureRefused: several exact queries under a limit on groups, and nothing was sent; or rows
                are matched and a limit stands against it, at both sides.
            ProtocolViolation: the peer sent something else than the protocol says.
        """
        parameters = self.parameters
        self.check_recipients(recipients)
        if parameters.vertical is not None:
            return vertical.run(session, parameters, parameters.vertical, data, recipients, release)
        schemas = {name: column.schema for name, column in data.items()}
        if parameters.is_exact:
            return _run_exact(session, parameters, data, recipients, release)
        plans = plan(parameters, schemas, counted=release.counts_groups)
        details = noisy_details(parameters, plans)
        rows = LocalRows.of(parameters, data)
        words = noisy.noisy_words(session, plans, [noisy.local(planned, rows) for planned in plans])
        seed = noisy.simulation_seed(session, plans)
        opened = noisy.opened(
            session, plans, words, recipients, release, rows_per_person=parameters.rows_per_person
        )
        if opened is None:
            return kept_from(details)
        reported: list[Reported] = [
            (planned.query, planned.statistic, *entry)
            for planned, entries in zip(plans, opened, strict=True)
            for entry in noisy.results(planned, entries, seed, noisy=True, limited=release.counts_groups)
        ]
        return told(parameters, reported, details, noisy=True)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The exact statistics, in the same tables."""
        parameters = self.parameters
        self.check_recipients(recipients)
        if parameters.vertical is not None:
            return vertical.reference(parameters, parameters.vertical, alice, bob, recipients)
        schemas = {name: column.schema for name, column in alice.items()}
        sides = [LocalRows.of(parameters, data) for data in (alice, bob)]
        reported: list[Reported] = []
        if parameters.is_exact:
            for tables in _tables(parameters, schemas):
                parts = [tables.local(rows) for rows in sides]
                reported += _reported(tables, tables.results(tables.plain(parts)))
        else:
            for planned in plan(parameters, schemas):
                entries = noisy.exact(planned, sides)
                reported += [
                    (planned.query, planned.statistic, *entry)
                    for entry in noisy.results(planned, entries, b"", noisy=False, limited=False)
                ]
        outcome = told(parameters, reported, EXACT_DETAILS, noisy=False)
        to_alice, to_bob = (outcome if role in recipients else kept_from(EXACT_DETAILS) for role in Role)
        return to_alice, to_bob


class Statistics:
    """The analysis `statistics`; see `smc.analyses.study.Analysis` for its methods' contracts."""

    name: Final = "statistics"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> StatisticsStudy:
        """Check the `[parameters]` of a job, see `smc.analyses.statistics.parameters`."""
        return StatisticsStudy(parse(parameters))


STATISTICS: Final = Statistics()
"""The analysis, for the registry."""


def run_cost(
    parameters: StatisticsParameters,
    schemas: Mapping[str, Schema],
    recipients: frozenset[Role],
    limits: Limits = NO_LIMITS,
) -> Cost:
    """The exact cost of a run in a fresh session, without what the gate sends.

    Without noise that is the cost where no cell has to be withheld.

    Args:
        parameters: as parsed.
        schemas: the declared columns.
        recipients: who gets the results.
        limits: of both policies.
    """
    if parameters.is_exact:
        every = _tables(parameters, schemas)
        total = SETUP_COST if any(tables.tested(limits) for tables in every) else Cost()
        for tables in every:
            total += tables.cost(limits, recipients)
        return total
    least = limits.minimum_group * parameters.rows_per_person
    plans = plan(parameters, schemas, counted=least > 0)
    computed = SETUP_COST + noisy.noise_cost(plans) + noisy.seed_cost(plans)
    return computed + noisy.opening_cost(plans, least, recipients)


def _tables(parameters: StatisticsParameters, schemas: Mapping[str, Schema]) -> list[Tables]:
    return [Tables.of(query, parameters, schemas) for query in parameters.queries]


def _reported(tables: Tables, results: Sequence[tuple[str | None, Any]]) -> list[Reported]:
    return [(tables.query, tables.statistic, group, result) for group, result in results]


def _run_exact(
    session: Session,
    parameters: StatisticsParameters,
    data: Data,
    recipients: frozenset[Role],
    release: Release,
) -> Outcome:
    if len(parameters.queries) > 1:
        release.single_table()
    asked = _tables(parameters, {name: column.schema for name, column in data.items()})
    rows = LocalRows.of(parameters, data)
    reported: list[Reported] = []
    for tables in asked:
        opened = tables.opened(session, release, tables.local(rows), parameters.maximum_rows, recipients)
        shown = [table for table in opened if table is not None]
        if shown:
            reported += _reported(tables, tables.results(shown))
    if session.role not in recipients:
        return kept_from(EXACT_DETAILS)
    return told(parameters, reported, EXACT_DETAILS, noisy=False)
