"""How well the first pass finds identifiers in kinds of text that were measured: the one record of it.

`figures.csv` is written by scripts/score_documents; the tables of docs/documents-direct.md and what reports
say come from it, so that they cannot differ.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import resources
from typing import Any, Final

from anonymizer.documents.texts.text import LANGUAGES, Language
from anonymizer.dp.audit import clopper_pearson

FILE: Final = "figures.csv"
ALL_KINDS: Final = ""
"""The kind of a row about the texts of all kinds together."""
AS_WRITTEN: Final = "none"
"""The disguise of texts that are not disguised."""

LANGUAGE_NAMES: Final[Mapping[Language, str]] = {
    "en": "English",
    "ja": "Japanese",
    "de": "German",
    "fr": "French",
}
_WRONG: Final = 0.025


@dataclass(frozen=True, slots=True)
class FirstPassFigure:
    """What was measured of some invented texts, by the recognizers that come with duetto, without names.

    Attributes:
        language: of the texts.
        kind: of the texts, such as "hospital letter"; `ALL_KINDS` for all together.
        disguise: of their direct identifiers; `AS_WRITTEN` for none.
        texts: how many there are.
        direct_whole: direct identifiers masked whole.
        direct: direct identifiers.
        quasi_whole: quasi-identifiers masked whole.
        quasi: quasi-identifiers.
        right: masked words that touch an identifier.
        words: masked words.
    """

    language: Language
    kind: str
    disguise: str
    texts: int
    direct_whole: int
    direct: int
    quasi_whole: int
    quasi: int
    right: int
    words: int

    @property
    def least(self) -> float:
        """The lower end of the 95 % confidence interval (Clopper-Pearson) of the direct identifiers found."""
        return clopper_pearson(self.direct_whole, self.direct, _WRONG)[0]

    def cells(self) -> str:
        """Recalls with their counts, and the token precision, as cells of a table of the documents."""
        found = []
        for whole, spans in ((self.direct_whole, self.direct), (self.quasi_whole, self.quasi)):
            found += [f"{whole / spans:.3f}", f"{whole:,}/{spans:,}"]
        return " | ".join([*found, f"{self.right / self.words:.3f}"])

    def sentence(self) -> str:
        """What is known, for people."""
        return (
            f"Of {self.texts} invented {LANGUAGE_NAMES[self.language]} texts of the kind {self.kind!r}, the "
            f"first pass alone hides {self.direct_whole} of {self.direct} direct identifiers "
            f"({self.direct_whole / self.direct:.3f}, at least {self.least:.3f} with 95 % confidence) and "
            f"{self.quasi_whole} of {self.quasi} quasi-identifiers ({self.quasi_whole / self.quasi:.3f}); "
            f"{self.right / self.words:.2f} of the words that it hides belong to one. Real texts will have "
            "lower figures."
        )

    def to_values(self) -> dict[str, Any]:
        """Its counts, as plain values."""
        return asdict(self)


@cache
def known_figures() -> tuple[FirstPassFigure, ...]:
    """All figures that were measured, in their order."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return tuple(_read(row) for row in csv.DictReader(text.splitlines()))


def _read(row: Mapping[str, str]) -> FirstPassFigure:
    language = next(one for one in LANGUAGES if one == row["language"])
    counts = (int(row[one.name]) for one in fields(FirstPassFigure)[3:])
    return FirstPassFigure(language, row["kind"], row["disguise"], *counts)


def as_csv(figures: Iterable[FirstPassFigure]) -> str:
    """Figures as `known_figures` reads them."""
    names = [one.name for one in fields(FirstPassFigure)]
    rows = (",".join(str(getattr(one, name)) for name in names) for one in figures)
    return "\n".join([",".join(names), *rows]) + "\n"


def tables(figures: Iterable[FirstPassFigure]) -> str:
    """Figures as the two tables of the documents: languages in disguises, and kinds of text as written."""
    given = list(figures)
    head = "DIRECT whole | | QUASI whole | | token precision |\n|"
    rows = [
        f"| {one.language} | {one.texts} | {one.disguise} | {one.cells()} |"
        for one in given
        if one.kind == ALL_KINDS
    ]
    kinds = [f"| {one.language} | {one.kind} | {one.cells()} |" for one in given if one.kind != ALL_KINDS]
    return "\n".join(
        [
            f"| language | texts | disguise | {head}{'---|' * 8}",
            *rows,
            "",
            f"| language | kind of text | {head}{'---|' * 7}",
            *kinds,
        ]
    )


def kinds_of_text() -> tuple[str, ...]:
    """The kinds of text that were measured in any language."""
    return tuple(dict.fromkeys(one.kind for one in known_figures() if one.kind))


def figure_of(language: Language, kind: str) -> FirstPassFigure | None:
    """What is known of a kind of text as written; None if nothing is.

    Args:
        language: of the text.
        kind: of `kinds_of_text`; "" where nobody has said it, of which nothing is known.
    """
    found = (
        one
        for one in known_figures()
        if kind and (one.language, one.kind, one.disguise) == (language, kind, AS_WRITTEN)
    )
    return next(found, None)
