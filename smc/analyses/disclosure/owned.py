"""What limits are measured by, as a type: only the holder's own catalog and policy fill it.

A limit that is measured by a number of a job, or of the peer, is theirs to move: with a bound far below all
values nobody dominates a sum, and a smallest group that changes from job to job finds a secret number by
bisection. So whoever tests a limit on a side's persons asks for `Owned` values. They are made here and where
`tests/architecture/test_owned.py` says, and a number of a job cannot be passed for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from smc.analyses.studies.columns import Column
from smc.errors import UsageError
from smc.secret.bounds import Bounds

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Owned(Generic[T_co]):
    """What the holder of data says in its own catalog or policy.

    Attributes:
        value: what it says.
    """

    value: T_co


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
