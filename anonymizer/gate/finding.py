"""What a look has found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from typing_extensions import override

from anonymizer.errors import list_names

_EACH: Final = 3
"""Findings of one rule that are said one by one."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason not to release a table.

    Attributes:
        rule: the look that found it, a short word that `docs/anonymizer.md` explains.
        column: that it is about; None if it is about the whole release.
        what: was found, one sentence. It names columns and never holds a cell.
        hint: what to do about it, one sentence.
        decisions: of documents, each word that is to be decided and how; for the terminal of the
            person who has the originals alone, since it holds words of them.
        together: columns that it is about if only several of them tell it.
    """

    rule: str
    column: str | None
    what: str
    hint: str
    decisions: tuple[str, ...] = field(default=(), repr=False)
    together: tuple[str, ...] = ()

    @override
    def __str__(self) -> str:
        return f"{self.what} {self.hint}".strip()

    def to_json(self) -> dict[str, str | None]:
        """As plain JSON values; without the decisions."""
        return {"rule": self.rule, "column": self.column, "what": self.what, "hint": self.hint}


def sentences(findings: Iterable[Finding]) -> list[str]:
    """Findings for people: of a rule that finds much, the first ones and the columns of the others."""
    by_rule: dict[str, list[Finding]] = {}
    for one in findings:
        by_rule.setdefault(one.rule, []).append(one)
    said: list[str] = []
    for rule, found in by_rule.items():
        said += map(str, found[:_EACH])
        others = [one.column or "the release" for one in found[_EACH:]]
        if others:
            said.append(f"The same ({rule}) was found of {list_names(others)}.")
    return said
