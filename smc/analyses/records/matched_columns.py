"""Tables whose rows are matched: by which keys, and which columns each side brings beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from commons.settings.marks import Key, Length, Repeated, Wrong
from smc.analyses.records.key_parameters import KeyParameters
from smc.analyses.records.keying import DISTINCT
from smc.analyses.studies.neighbours import Neighbours
from smc.analyses.studies.parameters import Name
from smc.forms import Role

MAX_COLUMNS: Final = 1000

Names = Annotated[
    tuple[Name, ...],
    Length(maximum=MAX_COLUMNS),
    Repeated(),
    Wrong(f"is not a list of at most {MAX_COLUMNS} names", 'Write ["...", "..."].'),
]


@dataclass(frozen=True, slots=True)
class Vertical:
    """How the table comes about.

    Attributes:
        match: by which keys rows are matched.
        alice: Alice's columns that queries name, beside the keys.
        bob: Bob's.
    """

    match: KeyParameters
    alice: Annotated[Names, Key("alice_columns")] = ()
    bob: Annotated[Names, Key("bob_columns")] = ()

    def values(self, role: Role) -> tuple[str, ...]:
        """The columns of a side that queries name."""
        return self.alice if role is Role.ALICE else self.bob

    def columns(self, role: Role) -> tuple[str, ...]:
        """All columns that a side brings, keys first."""
        keys = self.match.columns
        return keys + tuple(name for name in self.values(role) if name not in keys)

    @property
    def neighbours(self) -> Neighbours:
        """What the guarantee is about: one row of a side, replaced, as the numbers of rows are public.

        Where the first of several rows with a key counts, another one takes its place when it is gone: that
        is two matched rows for one.
        """
        matched = 2 if self.match.duplicates == DISTINCT else 1
        return Neighbours(1, rows_public=True, matched_per_row=matched)
