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
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_rows
from smc.analyses.matching.aggregates.leakage import CHOSEN, brief, shows_rows
from smc.analyses.matching.aggregates.parameters import SIZE, STATISTICS, UNKNOWN_VALUE, declare_value
from smc.analyses.matching.aggregates.study import count_digits
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.linked.run import outcome, run
from smc.analyses.matching.tolerant.leakage import public
from smc.analyses.matching.tolerant.outcome import route
from smc.analyses.matching.tolerant.pace import memory, pace
from smc.analyses.matching.tolerant.plain import plain_links
from smc.analyses.matching.tolerant.preview import preview_rows
from smc.analyses.matching.tolerant.records import count_rows, prepare, read_texts
from smc.analyses.matching.tolerant.study import TolerantStudy
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Memory, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.forms import Role
from smc.protocols.session import Session

_COLUMN_MEMORY: Final = 72
"""Bytes a row of a secret column of values, marks or digits."""


@dataclass(frozen=True, slots=True)
class LinkedStudy(Study):
    """A job."""

    parameters: LinkedParameters
    least_rows = 1

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """What is compared or blocks, under the same names on both sides, and each side's values."""
        return {role: self.parameters.columns(role) for role in Role}

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that records can be compared, and that values are numbers with bounds."""
        TolerantStudy(self.parameters.matching).check(alice, bob)
        schemas = {Role.ALICE: alice, Role.BOB: bob}
        for value in self.parameters.figures.values:
            declare_value(value, schemas[value.side].get(value.column))

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Figures are exact, and sums are about single rows, see `shows_rows`."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=shows_rows(self.parameters.figures, recipients),
            comparison_type=None,
            exact=self.parameters.figures.exact_figures,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=self.parameters.figures.request(self.parameters.matching.columns),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn exact figures, and nobody which rows were paired or how alike they are."""
        asked = self.parameters.figures
        names = ", ".join(f"{value.side.value}'s {value.column}" for value in asked.values)
        figures = "how many rows were paired"
        if asked.output != SIZE:
            figures += f", and over the pairs the sum and the mean of {names}"
        figures += "; exactly, and not which rows"
        gets = {
            role: (figures, CHOSEN) if shows_rows(asked, frozenset((role,))) else (figures,)
            for role in recipients
        }
        bit = (
            f"whether the limits of disclosure hold, one bit, where the policies set any that apply; {ASKED}"
        )
        alice, bob = ((*gets.get(role, ()), bit) for role in Role)
        bounds = (f"bounds and scales of {names}",) if names else ()
        return Leakage(alice, bob, (*public(self.parameters.matching), *bounds))

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        return brief(self.parameters.figures, recipients, "pair records that are alike")

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """What the matching leaves out, and whether rows are enough, persons where that counts, and fit."""
        compared = TolerantStudy(self.parameters.matching).preview(data, role, limits)
        if compared.refusal is None:
            rows = np.arange(count_rows(self.parameters.matching, data))
            check_rows(self.parameters.figures, None, rows, data, role, limits, peer)
        return compared

    @property
    @override
    def route(self) -> str:
        """How records are compared, in words."""
        return f"{route(self.parameters.matching)}; sums over the pairs"

    @property
    @override
    def pace(self) -> Pace:
        return pace(self.parameters.matching)

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: of the pairing, and of secret columns of values, marks and digits."""
        pairing, figures = memory(self.parameters.matching), self.parameters.figures
        sums = figures.output == STATISTICS
        columns = len(figures.values)
        if sums and setting.limits.weighs:
            columns += sum(declare_value(value, schemas[value.column]).lower < 0 for value in figures.values)
        if sums and setting.limits.counts_groups:
            columns += BESIDE_BOUNDS * len(figures.values) + sum(count_digits(figures, schemas).values())
        return Memory(pairing.fixed, pairing.row + _COLUMN_MEMORY * columns).at(max(setting.rows))

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """What is compared are texts and values numbers of 32 bits, as far as it is not known."""
        every = (name for role in Role for name in self.columns[role])
        values = {value.column: UNKNOWN_VALUE for value in self.parameters.figures.values}
        return {**dict.fromkeys(every, Schema("text")), **values, **schemas}

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        return run(self.parameters, session, data, recipients, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The same pairs in the clear, and the figures about them."""
        matching, sides = self.parameters.matching, dict(zip(Role, (alice, bob), strict=True))
        counts = {role: count_rows(matching, data) for role, data in sides.items()}
        texts = {role: read_texts(matching, data) for role, data in sides.items()}
        for role in Role:
            preview_rows(matching, texts[role], counts[role]).require()
        links = np.empty((0, 2), dtype=np.int64)
        if all(counts.values()):
            buckets = matching.buckets(tuple(counts.values()))
            first, second = (prepare(matching, texts[role], buckets) for role in Role)
            links = plain_links(matching, first, second)
        rows = dict(zip(Role, links.T, strict=True))
        every, figures = [], [len(links)]
        for value in self.parameters.figures.values:
            column = sides[value.side][value.column]
            every.append(declare_value(value, column.schema))
            figures.append(int(column.array[rows[value.side]].sum()))
        one, other = (
            outcome(self.parameters, counts, every, figures if role in recipients else None) for role in Role
        )
        return one, other
