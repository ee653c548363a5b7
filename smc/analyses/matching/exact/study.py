"""Exact matching that shows keys: what is checked, and who learns what.

Keys are the normal forms of one or several columns. Recipients learn which of their rows the other side has,
and nothing else: by private set intersection.

A recipient learns of each of its keys whether the other side has it. Where keys can be guessed, names and
dates of birth for instance, a party can put guesses among its rows; no protocol prevents that. What stands
against it are the limits of the policies: least sizes, the ratio of the sizes, the least intersection, and
the number of runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from smc.analyses.disclosure.limits import ASKED, Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.matching.exact.outcome import ROUTE, matches
from smc.analyses.matching.exact.reference import reference
from smc.analyses.matching.exact.run import run
from smc.analyses.records.joint_keys import ALIGNED_MEMORY, KEYING_SECONDS, check_key_rows, keyed_of
from smc.analyses.records.key_parameters import KeyParameters, check_keys
from smc.analyses.records.keying import DISTINCT
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, Facts, RowBounds
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.memory import MEBI, Memory
from smc.analyses.studies.outcome import Outcome
from smc.analyses.studies.setting import RunSetting
from smc.analyses.studies.study import Leakage, Preview
from smc.analyses.studies.traced import TracedStudy
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.tracing.session import Trace

_SECONDS_PER_KEY: Final = 1.3e-6
_MEMORY: Final = Memory(10 * MEBI, 400)


@dataclass(frozen=True, slots=True)
class ExactKeysStudy(TracedStudy):
    """A job; see `smc.analyses.studies.study.Study` for what its methods say."""

    parameters: KeyParameters

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """The key columns, the same for both."""
        return dict.fromkeys(Role, self.parameters.columns)

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check the kinds of keys.

        Raises:
            UsageError: says which column of which side cannot be a key.
        """
        for role, schemas in zip(Role, (alice, bob), strict=True):
            check_keys(self.parameters, schemas, role)

    def check_recipients(self, recipients: frozenset[Role]) -> None:
        """Anyone may receive; somebody has to.

        Raises:
            UsageError: nobody does.
        """
        if not recipients:
            raise UsageError("Nobody receives the result.", "Name alice, bob or both as recipients.")

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        """Rows are matched, and keys are about single rows."""
        return Facts(
            pairs_by_position=False,
            matches=True,
            row_results=True,
            comparison_type=None,
            exact=None,
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(keys=frozenset(self.parameters.columns)),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn which of their keys the other side has."""
        gets = "which of its own keys the other side has too, and so their number"
        bit = f"whether the intersection has as many keys as the policies ask for, where they ask; {ASKED}"
        rows = "distinct keys" if self.parameters.duplicates == DISTINCT else "rows"
        return Leakage(
            (*((gets,) if Role.ALICE in recipients else ()), bit),
            (*((gets,) if Role.BOB in recipients else ()), bit),
            (f"the number of {rows} of each side",),
        )

    def preview(
        self,
        data: Data,
        role: Role,
        limits: Limits,
        peer: Mapping[str, Schema] | None = None,
    ) -> Preview:
        """Whether keys are there and distinct, and sets large enough."""
        del peer

        def look() -> None:
            check_key_rows(self.parameters, data, role, limits)

        return Preview.of(look)

    route = ROUTE

    @override
    def memory(self, schemas: Mapping[str, Schema], setting: RunSetting) -> int:
        """Measured; where the size is tested, of rows aligned in secret."""
        return (ALIGNED_MEMORY if setting.limits.counts_matches else _MEMORY).at(max(setting.rows))

    @override
    def seconds(self, found: Trace, rows: int) -> float:
        """Measured, by keys."""
        return KEYING_SECONDS + _SECONDS_PER_KEY * rows

    @override
    def likely(self, schemas: Mapping[str, Schema]) -> Mapping[str, Schema]:
        """Keys are texts, as far as it is not known."""
        return {name: schemas.get(name, Schema("text")) for name in self.parameters.columns}

    @override
    def run(
        self,
        session: Session,
        data: Data,
        recipients: frozenset[Role],
        release: Release,
    ) -> Outcome:
        """The joint run, one side; see `smc.analyses.matching.exact.run`."""
        self.check_recipients(recipients)
        session.report("keys", 0, 1)
        keyed = keyed_of(self.parameters, data, session.role)
        found = run(session, keyed, recipients, release)
        return matches(self.parameters, data, None if found is None else keyed.numbers[found])

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The intersection of the normal forms."""
        self.check_recipients(recipients)
        return reference(self.parameters, alice, bob, recipients)
