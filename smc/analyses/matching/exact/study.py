"""Exact matching that shows keys: recipients learn which of their rows the other side has, and nothing else.

Keys are the normal forms of one or several columns, matched by private set intersection. A recipient learns
of each of its keys whether the other side has it. Where keys can be guessed, names and dates of birth for
instance, a party can put guesses among its rows; no protocol prevents that. What stands against it are the
limits of the policies: least sizes, the ratio of the sizes, the least intersection, and the number of runs.

[parameters]
method = "exact"
keys = ["insurance_number", "date_of_birth"]   # the same names on both sides
duplicates = "error"                           # or "multiset", "distinct"
output = "keys"                                # if missing, too
[parameters.normalization]                     # optional, per key column; ["trim"] if missing
insurance_number = ["trim", "digits-only", "strip-leading-zeros"]
date_of_birth = ["date"]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from commons.settings.bounds import OneOf
from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.exact.run import run
from smc.analyses.records.joint_keys import (
    ALIGNED_MEMORY,
    KEYING_SECONDS,
    check_key_rows,
    keyed_of,
    plain_keys,
)
from smc.analyses.records.key_parameters import KeyParameters, check_keys
from smc.analyses.records.keying import DISTINCT, MULTISET
from smc.analyses.studies.brief import LEAST_MATCHES, Brief
from smc.analyses.studies.columns import Column, Data, Schema
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import MEBI, Memory, Pace
from smc.analyses.studies.outcome import DATE, Outcome, Table, date_texts
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Study
from smc.forms import Role
from smc.numeric.shapes import of_shape
from smc.protocols.session import Session

KEYS: Final = "keys"
"""The output that shows which local keys the other side has."""


@dataclass(frozen=True, slots=True)
class ExactParameters(KeyParameters):
    """By which keys rows are matched, and what is shown.

    Attributes:
        output: always `KEYS`.
    """

    output: Annotated[str, OneOf((KEYS,))] = KEYS


@dataclass(frozen=True, slots=True)
class ExactKeysStudy(Study):
    """A job."""

    parameters: ExactParameters
    route = "private set intersection: vector OLE, key-value store"
    pace = Pace(KEYING_SECONDS, byte=0, row=1.3e-6)

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        return dict.fromkeys(Role, self.parameters.columns)

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        check_keys(self.parameters, schemas, role)

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        return Facts(
            pairs_by_position=False,
            matches=True,
            lpn=True,
            row_results=True,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(keys=frozenset(self.parameters.columns)),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        gets = "which of its own keys the other side has too, and so their number"
        bit = f"whether the intersection has as many keys as the policies ask for, where they ask; {ASKED}"
        rows = "distinct keys" if self.parameters.duplicates == DISTINCT else "rows"
        return Leakage.to(recipients, (gets,), (f"the number of {rows} of each side",), both=(bit,))

    @override
    def brief(self, recipients: frozenset[Role]) -> Brief:
        gets = ("which of its own keys the other side has too",)
        hides = "keys of the other side that it does not have itself"
        return Brief.to(recipients, "find the keys that both have", gets, hides, both=(LEAST_MATCHES,))

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        check_key_rows(self.parameters, data, role, limits)

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured; where the size is tested, of rows aligned in secret."""
        return (ALIGNED_MEMORY if setting.limits.counts_matches else Memory(10 * MEBI, 400)).at(
            max(setting.rows)
        )

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts, as far as it is not known."""
        return {name: schemas.get(name, Schema("text")) for name in self.parameters.columns}

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side; see `smc.analyses.matching.exact.run`."""
        session.report("keys", 0, 1)
        keyed = keyed_of(self.parameters, data, session.role)
        found = run(session, keyed, recipients, release)
        return self._outcome(data, None if found is None else keyed.numbers[found])

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The intersection of the normal forms."""
        sides = dict(zip(Role, (alice, bob), strict=True))
        keyed = {role: plain_keys(self.parameters, data, role) for role, data in sides.items()}
        common = set(keyed[Role.ALICE][0]) & set(keyed[Role.BOB][0])
        shown = {
            role: numbers[np.array([key in common for key in keys], dtype=np.bool_)]
            for role, (keys, numbers) in keyed.items()
            if role in recipients
        }
        first, second = (self._outcome(sides[role], shown.get(role)) for role in Role)
        return first, second

    @of_shape(lambda self, data, found: Outcome())
    def _outcome(self, data: Data, found: NDArray[np.int64] | None) -> Outcome:
        """The local rows that match by number, from 1, with their keys as they stand.

        Args:
            data: the local columns.
            found: the rows, from 0; None for a party that gets none.
        """
        names, duplicates = self.parameters.columns, self.parameters.duplicates
        details = {"route": self.route, "duplicates": duplicates}
        if found is None:
            return Outcome.withhold(details=details)
        columns = {"row": (found + 1).tolist(), **{name: _cells(data[name], found) for name in names}}
        kinds = {name: DATE for name in names if data[name].schema.is_date}
        notes: tuple[str, ...] = () if len(found) else ("The two sides have no key in common.",)
        if duplicates in _NOTES:
            notes += (_NOTES[duplicates],)
        size = Table("intersection", {"size": [len(found)]})
        return Outcome((Table("matches", columns, kinds), size), notes, details)


_NOTES: Final = {
    DISTINCT: "Rows with equal keys count once; the first of them is listed.",
    MULTISET: "The k-th row with a key matches the k-th row of the other side with that key.",
}


def _cells(column: Column, rows: NDArray[np.int64]) -> list[Any]:
    held = column.values
    cells: list[Any] = (
        held[rows].tolist() if isinstance(held, np.ndarray) else [held[row] for row in rows.tolist()]
    )
    if column.schema.kind == "category":
        return [column.schema.categories[number] for number in cells]
    return date_texts(cells) if column.schema.is_date else cells
