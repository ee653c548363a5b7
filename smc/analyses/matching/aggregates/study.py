"""Exact matching that keeps the intersection secret: what is checked, and who learns what.

Recipients get figures over the rows that both sides have, or both parties shares of their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_rows
from smc.analyses.matching.aggregates.leakage import leakage, shows_rows
from smc.analyses.matching.aggregates.parameters import (
    MAX_DELTA,
    SHARES,
    STATISTICS,
    UNKNOWN_VALUE,
    AggregateParameters,
    FigureParameters,
    declare_value,
    distributions,
)
from smc.analyses.matching.aggregates.precision import expected_precision
from smc.analyses.matching.aggregates.reference import reference
from smc.analyses.matching.aggregates.run import run
from smc.analyses.records.joint_keys import ALIGNED_MEMORY, KEYING_SECONDS, check_key_rows
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.estimates import Pace
from smc.analyses.studies.facts import Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Memory
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.precision import with_precision
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview
from smc.analyses.studies.traced import TracedStudy
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.sharing.bounds import Bounds
from smc.tracing.session import Trace

_SECONDS_PER_KEY: Final = 0.6e-6
_DIGIT_MEMORY: Final = 72


@dataclass(frozen=True, slots=True)
class AggregatesStudy(TracedStudy):
    """A job; see `smc.analyses.studies.study.Study` for what its methods say."""

    parameters: AggregateParameters

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The key columns, and the values."""
        return {role: self.parameters.columns(role) for role in Role}

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that keys can be keys, and that values are numbers with bounds, for which noise can be drawn.

        Raises:
            UsageError: says which column of which side and how to fix it.
        """
        schemas = {Role.ALICE: alice, Role.BOB: bob}
        for role in Role:
            check_keys(self.parameters.keys, schemas[role], role)
        every = [
            declare_value(value, schemas[value.side].get(value.column)) for value in self.parameters.values
        ]
        distributions(self.parameters, tuple(Bounds(each.lower, each.upper) for each in every))

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Shares go to both parties, figures to one at least.

        Raises:
            UsageError: the job names others.
        """
        if not recipients:
            raise UsageError("Nobody receives the result.", "Name alice, bob or both as recipients.")
        if self.parameters.output == SHARES and len(recipients) < len(Role):
            raise UsageError(
                "Shares are of use only if both parties get theirs.", "Name alice and bob as recipients."
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Figures over the intersection are exact, noisy or stay shared.

        Exact sums are about single rows where somebody gets the sum of its own column.
        """
        epsilon = self.parameters.epsilon
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=shows_rows(self.parameters, recipients),
            comparison_type=None,
            exact=self.parameters.exact_figures,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss() if epsilon is None else Loss(epsilon, MAX_DELTA),
            bounds=RowBounds(),
            asked=self.parameters.asked(self.parameters.keys.columns),
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
        """Whether keys are there and distinct, sets large enough, and rows persons where that counts.

        With epsilon it also says what precision to expect.
        """
        found: list[dict[str, Any]] = []

        def look() -> None:
            numbers = check_key_rows(self.parameters.keys, data, role, limits)
            noises = partial(distributions, self.parameters)
            check_rows(self.parameters, noises, numbers, data, role, limits, peer)
            found.extend(expected_precision(self.parameters, numbers, data, role, peer))

        preview = Preview.of(look)
        return with_precision(preview, found) if found else preview

    route = "rows aligned in secret by their keys; sums over the intersection"
    pace = Pace(KEYING_SECONDS, byte=4.5e-9)

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: of aligned rows, and of digits by which the value is found that most matches have."""
        given = self.parameters
        digits = 0
        if given.epsilon is None and given.output == STATISTICS and setting.limits.counts_groups:
            digits = sum(span_bits(given, schemas).values())
        return Memory(ALIGNED_MEMORY.fixed, ALIGNED_MEMORY.row + _DIGIT_MEMORY * digits).at(max(setting.rows))

    @override
    def seconds(self, found: Trace, rows: int) -> float:
        """Measured, by bytes and keys."""
        return self.pace.seconds(found) + _SECONDS_PER_KEY * rows

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts and values numbers of 32 bits, as far as it is not known."""
        keys = dict.fromkeys(self.parameters.keys.columns, Schema("text"))
        values = {value.column: UNKNOWN_VALUE for value in self.parameters.values}
        return {**keys, **values, **schemas}

    @override
    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side; see `smc.analyses.matching.aggregates.run`."""
        self.check_recipients(recipients)
        return run(self.parameters, session, data, recipients, release)

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """Exact figures; of shares, Alice has the values of the matches and Bob zeros."""
        self.check_recipients(recipients)
        return reference(self.parameters, alice, bob, recipients)


def span_bits(parameters: FigureParameters, schemas: Mapping[str, Schema]) -> dict[Role, int]:
    """Digits of the values of each side, by their declarations."""
    found = dict.fromkeys(Role, 0)
    for value in parameters.values:
        each = declare_value(value, schemas[value.column])
        found[value.side] += Bounds(each.lower, each.upper).span_bits
    return found
