"""The one notion of neighbours: which inputs a guarantee makes hard to distinguish.

Two inputs are neighbours if they differ in the rows of one person on one side, of whom there are at most r:

    rows          public number            secret number
    may be        replaced by others       added, removed
    changes       2 r                      r

A change is a row that is added or removed. Where the number of rows of each side is public, nobody can be in
one of two neighbours and missing in the other: what the person can do is bring other values, which removes
rows and adds as many. A guarantee for replaced rows then holds for added and removed ones as well, the public
number apart; one for added and removed rows holds for replaced ones with twice the epsilon (four times the
rho). Losses of both add up in the ledger for what they have in common, that is for added and removed rows.

Reference: Dwork and Roth, The algorithmic foundations of differential privacy, 2014, section 2.3; Kifer and
Machanavajjhala, No free lunch in data privacy, SIGMOD 2011 (unbounded and bounded differential privacy).
"""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Which inputs are neighbours in one analysis.

    Attributes:
        rows_per_person: r, at least 1: the most rows of one person on one side.
        rows_public: whether both parties know how many rows each side has.
        matched_per_row: the most matched rows that one added or removed row adds, removes or changes; 1
            where rows are not matched.
    """

    rows_per_person: int
    rows_public: bool
    matched_per_row: int = 1

    @property
    def changes(self) -> int:
        """The most rows that are added or removed between neighbours, in the table that is evaluated.

        A sum to which every row adds at most s in absolute value differs by at most `changes` times s; so
        do, together, the counts of disjoint groups, for s = 1.
        """
        return self.rows_per_person * self.matched_per_row * (2 if self.rows_public else 1)

    @override
    def __str__(self) -> str:
        """The notion in words, for the statement of a guarantee."""
        if self.rows_per_person == 1:
            rows, person = "one row of either side", "one person is one row; "
        else:
            rows, person = f"all rows of one person on one side, at most {self.rows_per_person},", ""
        if self.rows_public:
            change = "added, removed or replaced (how many rows each side has is public)"
        else:
            change = "added or removed (a changed row counts as two)"
        return f"{rows} {change}; {person}a person on both sides counts as two"
