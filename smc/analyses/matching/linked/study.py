"""Figures about the pairs of a tolerant matching: what is checked, and who learns what.

Recipients get exact figures; which rows were paired, and how alike they are, nobody learns. There is no
noise: one row can move too many pairs, see `smc.analyses.matching.linked.parameters`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.crowds import BESIDE_BOUNDS
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_rows
from smc.analyses.matching.aggregates.leakage import shows_rows
from smc.analyses.matching.aggregates.parameters import STATISTICS, UNKNOWN_VALUE, declare_value
from smc.analyses.matching.aggregates.study import span_bits
from smc.analyses.matching.linked.leakage import leakage
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.linked.reference import reference
from smc.analyses.matching.linked.run import run
from smc.analyses.matching.tolerant.outcome import route
from smc.analyses.matching.tolerant.pace import memory, pace
from smc.analyses.matching.tolerant.records import count_rows
from smc.analyses.matching.tolerant.study import TolerantStudy
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Memory
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview
from smc.analyses.studies.traced import TracedStudy
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.tracing.session import Trace

_COLUMN_MEMORY: Final = 72
"""Bytes a row of a secret column of values, marks or digits."""


@dataclass(frozen=True, slots=True)
class LinkedStudy(TracedStudy):
    """A job; see `smc.analyses.studies.study.Study` for what its methods say."""

    parameters: LinkedParameters

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """What is compared or blocks, under the same names on both sides, and each side's values."""
        return {role: self.parameters.columns(role) for role in Role}

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that records can be compared, and that values are numbers with bounds.

        Raises:
            UsageError: says which column of which side and how to fix it.
        """
        TolerantStudy(self.parameters.matching).check(alice, bob)
        schemas = {Role.ALICE: alice, Role.BOB: bob}
        for value in self.parameters.figures.values:
            declare_value(value, schemas[value.side].get(value.column))

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to.

        Raises:
            UsageError: nobody does.
        """
        if not recipients:
            raise UsageError("Nobody receives the result.", "Name alice, bob or both as recipients.")

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Figures are exact, and about single rows where somebody gets the sum of its own column."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=shows_rows(self.parameters.figures, recipients),
            comparison_type=None,
            exact=self.parameters.figures.exact_figures,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=self.parameters.figures.asked(self.parameters.matching.columns),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn figures."""
        return leakage(self.parameters, recipients)

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """What the matching leaves out, and whether rows are enough, persons where that counts, and fit."""

        def look() -> None:
            rows = np.arange(count_rows(self.parameters.matching, data))
            check_rows(self.parameters.figures, None, rows, data, role, limits, peer)

        compared = TolerantStudy(self.parameters.matching).preview(data, role, limits)
        found = compared if compared.refusal is not None else Preview.of(look)
        return compared if found.refusal is None else found

    @property
    @override
    def route(self) -> str:
        """How records are compared, in words."""
        return f"{route(self.parameters.matching)}; sums over the pairs"

    least_rows = 1

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: of the pairing, and of secret columns of values, marks and digits."""
        pairing, figures = memory(self.parameters.matching), self.parameters.figures
        sums = figures.output == STATISTICS
        columns = len(figures.values)
        if sums and setting.limits.weighs:
            columns += sum(declare_value(value, schemas[value.column]).lower < 0 for value in figures.values)
        if sums and setting.limits.counts_groups:
            columns += BESIDE_BOUNDS * len(figures.values) + sum(span_bits(figures, schemas).values())
        return Memory(pairing.fixed, pairing.row + _COLUMN_MEMORY * columns).at(max(setting.rows))

    @override
    def seconds(self, found: Trace, rows: int) -> float:
        """Measured, by bytes."""
        return pace(self.parameters.matching).seconds(found)

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """What is compared are texts and values numbers of 32 bits, as far as it is not known."""
        every = (name for role in Role for name in self.columns[role])
        values = {value.column: UNKNOWN_VALUE for value in self.parameters.figures.values}
        return {**dict.fromkeys(every, Schema("text")), **values, **schemas}

    @override
    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side; see `smc.analyses.matching.linked.run`."""
        self.check_recipients(recipients)
        return run(self.parameters, session, data, recipients, release)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The same pairs and figures in the clear."""
        self.check_recipients(recipients)
        return reference(self.parameters, alice, bob, recipients)
