"""The bounds that a party's own catalog declares of its columns, by which limits are measured."""

from __future__ import annotations

from smc.analyses.disclosure.owned import Owned
from smc.analyses.studies.columns import Column
from smc.errors import UsageError
from smc.secret.sharing.bounds import Bounds


def declared_bounds(column: Column, name: str) -> Owned[Bounds]:
    """The bounds that this party's catalog declares of a local column, in held units.

    Of a derived column they follow from the declared ones; jobs without noise have none of their own.

    Args:
        column: the local column.
        name: its name, for people.

    Raises:
        UsageError: it declares none.
    """
    lower, upper = column.schema.lower, column.schema.upper
    if lower is None or upper is None:
        raise UsageError(
            f"Column {name!r} has no declared bounds, by which exact sums are judged.",
            "Declare lower and upper in the catalog.",
        )
    return Owned(Bounds(lower, upper))
