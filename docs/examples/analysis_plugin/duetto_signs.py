"""The analysis `signs`: in how many rows x at Alice is above y at Bob, and in how many below.

Rows of both sides belong together by their position. Recipients learn both numbers, and a recipient that
chooses its own values learns of single rows by them: jobs say so, and policies have to allow it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from typing_extensions import override

from commons.settings.bounds import Between
from smc.analyses.disclosure.figures import Groups
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.records.paired_rows import agree_on_paired_rows, check_paired_rows
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.declared_analysis import DeclaredAnalysis
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.study import Leakage, Study
from smc.errors import UsageError
from smc.forms import Role
from smc.protocols.session import Session
from smc.secret.ints import SecretInts, concatenate
from smc.secret.sharing.bounds import Bounds

WIDEST: Final = 1 << 40


@dataclass(frozen=True, slots=True)
class SignsStudy(Study):
    """A job; its field is what may stand in `[parameters]`: how far x and y may differ and count as equal."""

    margin: Annotated[int, Between(0, WIDEST)] = 0
    gives = "signs"

    @property
    @override
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        return {Role.ALICE: ("x",), Role.BOB: ("y",)}

    @override
    def check_side(self, schemas: Mapping[str, Schema], role: Role) -> None:
        (name,) = self.columns[role]
        kind, lower, upper = schemas[name].kind, schemas[name].lower, schemas[name].upper
        if kind != "integer" or lower is None or upper is None or max(-lower, upper) > WIDEST:
            raise UsageError(f"Column {name} is no integer within 2**40.", "Declare type, lower and upper.")

    @override
    def facts(self, recipients: frozenset[Role]) -> Facts:
        return Facts(
            pairs_by_position=True,
            matches=False,
            lpn=True,  # comparisons may take silent transfers
            row_results=True,
            comparison_type=None,
            exact=ExactFigures(1, Whom.MATCHES),
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(),
        )

    @override
    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        gets = (
            "in how many rows x is above y, and in how many below, exactly",
            "by values of its choice: how a row of the other side compares, and in several jobs every value",
        )
        bit = "where the policies ask for a least group: whether each of these numbers is 0 or such a group"
        return Leakage.to(recipients, gets, ("the number of rows",), both=(bit,))

    @override
    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        rows = len(data[self.columns[role][0]])
        check_paired_rows(rows, rows)
        limits.check_persons(rows)

    @override
    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        own = data[self.columns[session.role][0]].array
        agree_on_paired_rows(session, len(own))
        held = {session.role: own}
        x, y = (
            SecretInts.from_plain(session, held.get(role), role, Bounds(-WIDEST, WIDEST), len(own))
            for role in Role
        )
        above, below = (SecretInts.from_bits(each > self.margin).sum() for each in (x - y, y - x))
        about = Groups([len(own)], apart=[above, below, len(own) - above - below])
        opened = release.open(concatenate([above, below]), recipients, about)
        return outcome(None if opened is None else opened.tolist())

    @override
    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        check_paired_rows(len(alice["x"]), len(bob["y"]))
        differences = [a - b for a, b in zip(alice["x"].integers, bob["y"].integers, strict=True)]
        found = [sum(sign * each > self.margin for each in differences) for sign in (1, -1)]
        first, second = (outcome(found if role in recipients else None) for role in Role)
        return first, second


def outcome(found: Sequence[int] | None) -> Outcome:
    """What a party gets; None is of no recipient."""
    if found is None:
        return Outcome.withhold("signs")
    return Outcome((Table("signs", {"above": [found[0]], "below": [found[1]]}),))


SIGNS: Final = DeclaredAnalysis("signs", SignsStudy)
