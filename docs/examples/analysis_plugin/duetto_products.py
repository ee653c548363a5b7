"""The analysis `products`: the sum of x * y over rows of the same position, x at Alice and y at Bob.

Recipients learn the exact sum. Rows of both sides belong together by their position, so none may be left out,
and the sum is about as many persons as there are rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from smc.analyses.disclosure.figures import Groups, Sum
from smc.analyses.disclosure.limits import Limits
from smc.analyses.disclosure.release import Release
from smc.analyses.studies.columns import Data, Schema
from smc.analyses.studies.facts import Asked, ExactFigures, Facts, RowBounds, Whom
from smc.analyses.studies.loss import Loss
from smc.analyses.studies.outcome import Outcome, Table
from smc.analyses.studies.parameters import reject_unknown
from smc.analyses.studies.study import Leakage, Study
from smc.errors import DomainError, UsageError
from smc.forms import Role
from smc.protocols.exchange.bounds import Declared, exchange_declarations
from smc.protocols.exchange.row_counts import exchange_counts
from smc.protocols.session import Session
from smc.secret.ints import SecretInts
from smc.secret.sharing.bounds import Bounds

NAMES: Final = {Role.ALICE: "x", Role.BOB: "y"}
WIDEST: Final = 1 << 20
"""The largest bound of a column: sums of a million products of such numbers fit the arithmetic."""


@dataclass(frozen=True, slots=True)
class ProductsStudy(Study):
    """A job; it has no parameters."""

    @property
    def columns(self) -> Mapping[Role, tuple[str, ...]]:
        """X at Alice, y at Bob."""
        return {role: (name,) for role, name in NAMES.items()}

    def check(self, alice: Mapping[str, Schema], bob: Mapping[str, Schema]) -> None:
        """Check that both columns are whole numbers from 0 on, with an upper bound."""
        for role, schemas in zip(Role, (alice, bob), strict=True):
            _bounds(schemas[NAMES[role]], NAMES[role])

    def facts(self, recipients: frozenset[Role]) -> Facts:
        """One exact figure about all rows, which are paired by their position."""
        del recipients
        return Facts(
            pairs_by_position=True,
            matches=False,
            row_results=False,
            comparison_type=None,
            exact=ExactFigures(1, Whom.MATCHES),
            sorts_by=frozenset(),
            keeps_missing=frozenset(),
            loss=Loss(),
            bounds=RowBounds(),
            asked=Asked(),
        )

    def leakage(self, recipients: frozenset[Role]) -> Leakage:
        """Recipients learn the sum."""
        gets = ("the exact sum of x * y over all rows",)
        return Leakage.to(recipients, gets, ("the number of rows", "the declared bounds of x and y"))

    def look(self, data: Data, role: Role, limits: Limits, peer: Mapping[str, Schema] | None) -> None:
        """Check that there are rows, and as many as the policies ask for."""
        del peer
        column = data[NAMES[role]]
        _bounds(column.schema, NAMES[role])
        _check_rows(len(column), len(column))
        limits.check_persons(len(column))

    route = "products by oblivious transfer"

    def run(self, session: Session, data: Data, recipients: frozenset[Role], release: Release) -> Outcome:
        """The joint run, one side.

        Raises:
            DomainError: the sides have different numbers of rows, or none.
            DisclosureRefused: a limit stands against the sum, at both sides.
        """
        own = data[NAMES[session.role]]
        bounds = _bounds(own.schema, NAMES[session.role])
        (peer,) = exchange_counts(session, [len(own)])
        _check_rows(len(own), peer)
        (theirs,) = exchange_declarations(session, [Declared(bounds.lower, bounds.upper, 0)], 1)
        sides = {session.role: bounds, session.role.other: Bounds(theirs.lower, theirs.upper)}
        x, y = (
            SecretInts.from_plain(
                session, own.array if session.role is role else None, role, sides[role], (len(own),)
            )
            for role in Role
        )
        each = x * y
        total = each.sum()
        sums = [Sum(total, each)] if release.weighs else []
        found = release.open(total, recipients, Groups([len(own)], sums))
        if found is None:
            return Outcome((), ("The sum went to the other party only.",))
        return Outcome((Table("products", {"sum": [int(found.sum())]}),))

    def reference(self, alice: Data, bob: Data, recipients: frozenset[Role]) -> tuple[Outcome, Outcome]:
        """The sum in the clear."""
        _check_rows(len(alice["x"]), len(bob["y"]))
        total = sum(a * b for a, b in zip(alice["x"].integers, bob["y"].integers, strict=True))
        kept = Outcome((), ("The sum went to the other party only.",))
        gets = Outcome((Table("products", {"sum": [total]}),))
        first, second = (gets if role in recipients else kept for role in Role)
        return first, second


class Products:
    """The analysis."""

    name: Final = "products"
    always_matches: Final = False

    def parse(self, parameters: Mapping[str, Any]) -> ProductsStudy:
        """There are no parameters.

        Raises:
            UsageError: there is one.
        """
        reject_unknown(parameters, (), "[parameters]")
        return ProductsStudy()


PRODUCTS: Final = Products()
"""What the entry point names."""


def _bounds(schema: Schema, name: str) -> Bounds:
    if schema.kind != "integer" or schema.lower is None or schema.upper is None:
        raise UsageError(f"Column {name} is not a bounded integer.", "Declare type, lower and upper.")
    if schema.lower < 0 or schema.upper > WIDEST:
        raise UsageError(f"Column {name} goes beyond 0 to {WIDEST}.", "Declare bounds within.")
    return Bounds(schema.lower, schema.upper)


def _check_rows(alice: int, bob: int) -> None:
    if alice != bob or not alice:
        raise DomainError(
            f"Alice has {alice} rows and Bob has {bob}.", "Bring the same rows in the same order."
        )
