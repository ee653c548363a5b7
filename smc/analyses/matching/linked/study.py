"""Figures about the pairs of a tolerant matching: what is checked, and who learns what.

Recipients get exact figures; which rows were paired, and how alike they are, nobody learns. There is no
noise: one row can move too many pairs, see `smc.analyses.matching.linked.parameters`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_rows
from smc.analyses.matching.aggregates.leakage import shows_rows
from smc.analyses.matching.aggregates.parameters import declared
from smc.analyses.matching.linked.cost import estimate
from smc.analyses.matching.linked.leakage import leakage
from smc.analyses.matching.linked.parameters import LinkedParameters
from smc.analyses.matching.linked.reference import reference
from smc.analyses.matching.linked.run import run
from smc.analyses.matching.tolerant.records import count_rows
from smc.analyses.matching.tolerant.study import TolerantStudy
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.study import Estimate, Leakage, Preview
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session


@dataclass(frozen=True, slots=True)
class LinkedStudy:
    """A job; see `smc.analyses.studies.study.Study` for what its methods say."""

    parameters: LinkedParameters

    @property
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
            declared(value, schemas[value.side].get(value.column))

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to.

        Raises:
            UsageError: nobody does.
        """
        if not recipients:
            raise UsageError("Nobody receives the result.", "Name alice, bob or both as recipients.")

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

    def cost(
        self,
        schemas: Mapping[str, Schema],
        recipients: frozenset[Role],
        rows: int,
        key_bits: int,
        limits: Limits,
    ) -> Estimate:
        """Exact rounds and bytes, where the declarations of all values are known."""
        del key_bits
        return estimate(self.parameters, schemas, recipients, rows, limits)

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
