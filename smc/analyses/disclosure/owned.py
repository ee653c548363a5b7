"""What limits are measured by, as a type: only the holder's own catalog and policy fill it.

A limit that is measured by a number of a job, or of the peer, is theirs to move: with a bound far below all
values nobody dominates a sum, and a smallest group that changes from job to job finds a secret number by
bisection. So whoever tests a limit on a side's persons asks for `Owned` values. They are made where
`tests/architecture/test_owned.py` says, and a number of a job cannot be passed for one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Owned(Generic[T_co]):
    """What the holder of data says in its own catalog or policy.

    Attributes:
        value: what it says.
    """

    value: T_co
