"""Exact matching that keeps the intersection secret: what is checked, and who learns what.

Recipients get figures over the rows that both sides have, or both parties shares of their values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np
from typing_extensions import override

from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.aggregates.checks import check_rows
from smc.analyses.matching.aggregates.leakage import brief, leakage, shows_rows
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
from smc.analyses.matching.aggregates.run import run
from smc.analyses.matching.aggregates.tables import results, share_outcome
from smc.analyses.records.joint_keys import ALIGNED_MEMORY, KEYING_SECONDS, check_key_rows, plain_keys
from smc.analyses.records.key_parameters import check_keys
from smc.analyses.studies.brief import Brief
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import Memory, Pace
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.precision import with_precision
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview, Study
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.joins import majority
from smc.secret.sharing.bounds import Bounds

_DIGIT_MEMORY: Final = 72


@dataclass(frozen=True, slots=True)
class AggregatesStudy(Study):
    """A job."""

    parameters: AggregateParameters
    route = "rows aligned in secret by their keys; sums over the intersection"
    pace = Pace(KEYING_SECONDS, byte=4.5e-9, row=0.6e-6)

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The key columns, and the values."""
        return {role: self.parameters.columns(role) for role in Role}

    @override
    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that keys can be keys, and values are numbers with bounds, for which noise can be drawn."""
        schemas = {Role.ALICE: alice, Role.BOB: bob}
        for role in Role:
            check_keys(self.parameters.keys, schemas[role], role)
        every = [
            declare_value(value, schemas[value.side].get(value.column)) for value in self.parameters.values
        ]
        distributions(self.parameters, tuple(Bounds(each.lower, each.upper) for each in every))

    @override
    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Shares go to both parties, figures to one at least."""
        Study.check_recipients(self, recipients)
        if self.parameters.output == SHARES and len(recipients) < len(Role):
            raise UsageError(
                "Shares are of use only if both parties get theirs.", "Name alice and bob as recipients."
            )

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Figures over the intersection are exact, noisy or stay shared.

        Exact sums are about single rows, see `shows_rows`.
        """
        epsilon = self.parameters.epsilon
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=shows_rows(self.parameters, recipients),
            comparison_type=None,
            exact=self.parameters.exact_figures,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss() if epsilon is None else Loss(epsilon, MAX_DELTA),
            bounds=RowBounds(),
            asked=self.parameters.request(self.parameters.keys.columns),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        return leakage(self.parameters, recipients)

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        return brief(self.parameters, recipients, "match the rows of both by their keys")

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> Preview:
        """Whether keys are there and distinct, sets large enough, and rows persons where that counts.

        With epsilon it also says what precision to expect.
        """
        numbers = check_key_rows(self.parameters.keys, data, role, limits)
        noises = partial(distributions, self.parameters)
        check_rows(self.parameters, noises, numbers, data, role, limits, peer)
        found = expected_precision(self.parameters, numbers, data, role, peer)
        return with_precision(Preview(), found) if found else Preview()

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured: of aligned rows, and of digits by which the value is found that most matches have."""
        given = self.parameters
        digits = 0
        if given.epsilon is None and given.output == STATISTICS and setting.limits.counts_groups:
            digits = sum(count_digits(given, schemas).values())
        return Memory(ALIGNED_MEMORY.fixed, ALIGNED_MEMORY.row + _DIGIT_MEMORY * digits).at(max(setting.rows))

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts and values numbers of 32 bits, as far as it is not known."""
        keys = dict.fromkeys(self.parameters.keys.columns, Schema("text"))
        values = {value.column: UNKNOWN_VALUE for value in self.parameters.values}
        return {**keys, **values, **schemas}

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        return run(self.parameters, session, data, recipients, release)

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """Exact figures; of shares, Alice has the values of the matches and Bob zeros."""
        parameters, data = self.parameters, (alice, bob)
        sides = [plain_keys(parameters.keys, side, role) for role, side in zip(Role, data, strict=True)]
        keys, numbers = zip(*sides, strict=True)
        places = {key: place for place, key in enumerate(keys[1])}
        common = [(place, places[key]) for place, key in enumerate(keys[0]) if key in places]
        pairs = np.array(common, dtype=np.int64).reshape(-1, 2)
        every, values = [], []
        for value in parameters.values:
            side = list(Role).index(value.side)
            column = data[side][value.column]
            every.append(declare_value(value, column.schema))
            chosen = column.array[numbers[side][pairs[:, side]]]
            bounded = parameters.epsilon is not None
            values.append(np.clip(chosen, every[-1].lower, every[-1].upper) if bounded else chosen)
        if parameters.output == SHARES:
            columns = [np.ones(len(pairs), dtype=np.int64), *values]
            first, second = (
                share_outcome(
                    parameters, [column.view(np.uint64) * np.uint64(factor) for column in columns], every
                )
                for factor in (1, 0)
            )
            return first, second
        figures = [len(pairs), *(int(value.sum()) for value in values)]
        first, second = (
            results(parameters, every, figures if role in recipients else None, ()) for role in Role
        )
        return first, second


def count_digits(parameters: FigureParameters, schemas: Mapping[str, Schema]) -> dict[Role, int]:
    """Digits of the values of each side, by their declarations."""
    found = dict.fromkeys(Role, 0)
    for value in parameters.values:
        each = declare_value(value, schemas[value.column])
        found[value.side] += majority.count_digits(Bounds(each.lower, each.upper))
    return found
