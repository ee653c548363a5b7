"""What a look has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason not to release a table.

    Attributes:
        rule: the look that found it, a short word that `docs/anonymizer.md` explains.
        column: that it is about; None if it is about the whole release.
        what: was found, one sentence. It names columns and never holds a cell.
        mend: what to do about it, one sentence.
    """

    rule: str
    column: str | None
    what: str
    mend: str

    def __str__(self) -> str:
        return f"{self.what} {self.mend}".strip()

    def to_json(self) -> dict[str, str | None]:
        """As plain JSON values."""
        return {"rule": self.rule, "column": self.column, "what": self.what, "mend": self.mend}
