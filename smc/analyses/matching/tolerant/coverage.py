"""How many of a side's rows the passes of a tolerant matching compare at all, which only this side learns.

A row is left out of a pass where its bucket is full, or the ranks of its key are taken, or its key has an
empty part. Of a pair, both rows have
to be in a pass: where a share f of both sides finds its bucket full, 2 f - f**2 of the pairs with equal keys
are missed unless they meet in another pass. Rows in no pass at all match nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np

from smc.analyses.matching.tolerant.blocking import EMPTY, BucketLayout
from smc.analyses.matching.tolerant.parameters import TolerantParameters
from smc.analyses.matching.tolerant.ranks import RankLayout
from smc.errors import DomainError

MAX_FULL: Final = Fraction(1, 5)
"""The largest share of rows with a key that may find their bucket full, over all passes together: one pass
may leave out more, as far as the others make up for it."""

MAX_MISSED: Final = Fraction(1, 20)
"""The largest share of all rows that may be compared in no pass."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What becomes of one side's rows.

    Attributes:
        names: the key of each pass, as in the job.
        rows: all of them, at least 1.
        full: rows that find their bucket full, pass by pass.
        keyless: rows without a key, pass by pass.
        missed: rows that no pass compares.
        crowded: what is said of rows that are too many for their bucket or key.
    """

    names: tuple[str, ...]
    rows: int
    full: tuple[int, ...]
    keyless: tuple[int, ...]
    missed: int
    crowded: str

    @classmethod
    def of(
        cls, parameters: TolerantParameters, layouts: Sequence[BucketLayout | RankLayout], rows: int
    ) -> Coverage:
        """Count.

        Args:
            parameters: of the job.
            layouts: one for each pass.
            rows: of this side, at least 1.
        """
        compared = np.zeros(rows, dtype=np.bool_)
        for layout in layouts:
            compared[layout.rows[layout.rows != EMPTY]] = True
        return cls(
            tuple("+".join(map(str, key)) for key in parameters.blocking),
            rows,
            tuple(layout.full for layout in layouts),
            tuple(layout.keyless for layout in layouts),
            rows - int(compared.sum()),
            "are past the last rank of their key" if parameters.ranks else "find their bucket full",
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each pass, and one for the rows that none compares."""
        shares = zip(self.names, self.full, self.keyless, strict=True)
        return (
            *(
                f"Pass {number} ({name}): {self._percent(full)} of this side's rows {self.crowded}, "
                f"{self._percent(keyless)} have no key."
                for number, (name, full, keyless) in enumerate(shares, 1)
            ),
            f"Own rows that no pass compares: {self._percent(self.missed)}.",
        )

    @property
    def details(self) -> dict[str, Any]:
        """The counts, as plain JSON values."""
        passes = [
            {"key": name, "full": full, "keyless": keyless}
            for name, full, keyless in zip(self.names, self.full, self.keyless, strict=True)
        ]
        return {"rows": self.rows, "passes": passes, "compared_in_no_pass": self.missed}

    @property
    def refusal(self) -> DomainError | None:
        """Why so many rows are left out that the result would not be what its name says; or None."""
        wrong = []
        keyed = [self.rows - keyless for keyless in self.keyless]
        if sum(self.full) > MAX_FULL * sum(keyed):
            worst = [
                f"{self._percent(full)} in pass {number} ({name})"
                for number, (name, full) in enumerate(zip(self.names, self.full, strict=True), 1)
                if full > MAX_FULL * keyed[number - 1]
            ]
            share = _percent(Fraction(sum(self.full), sum(keyed)))
            listed = ", ".join(worst)
            wrong.append(f"{share} of this side's rows {self.crowded} over all passes, {listed}")
        if self.missed > MAX_MISSED * self.rows:
            wrong.append(f"{self._percent(self.missed)} of this side's rows are compared in no pass")
        if not wrong:
            return None
        return DomainError(
            f"Tolerant matching: {'; '.join(wrong)}.",
            "Give these passes finer keys, of several parts, and rows without a key a pass by other columns; "
            f"at most {_percent(MAX_FULL)} may be left out so and {_percent(MAX_MISSED)} be in no "
            'pass. overflow = "accept" in the parameters goes on without these rows.',
            code="overflow",
        )

    def _percent(self, count: int) -> str:
        return _percent(Fraction(count, self.rows))


def _percent(share: Fraction) -> str:
    """A share as people read it; only 0 is printed as 0."""
    percent = float(100 * share)
    return "0 %" if not percent else f"{percent:.0f} %" if percent >= 10 else f"{max(percent, 0.01):.2g} %"
