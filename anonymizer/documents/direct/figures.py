"""How well the first pass finds identifiers in kinds of text that were measured: the one record of it.

`figures.csv` is written by scripts/score_documents; the tables of docs/documents-direct.md and what reports
say come from it, so that they cannot differ.

Texts of one template are one text, filled several times. What is missed in one is missed in most of them, so
that they are no independent trials, and an interval over identifiers would be far too narrow. Of single kinds
none is given; of a language there is one that counts each kind of text once.
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
        templates: that the texts were filled from.
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
    templates: int
    texts: int
    direct_whole: int
    direct: int
    quasi_whole: int
    quasi: int
    right: int
    words: int

    def cells(self) -> str:
        """Recalls with their counts, and the token precision, as cells of a table of the documents."""
        found = []
        for whole, spans in ((self.direct_whole, self.direct), (self.quasi_whole, self.quasi)):
            found += [f"{whole / spans:.3f}", f"{whole:,}/{spans:,}"]
        return " | ".join([*found, f"{self.right / self.words:.3f}"])

    def sentence(self) -> str:
        """What is known, for people."""
        return (
            f"Of {self.texts} invented {LANGUAGE_NAMES[self.language]} texts of the kind {self.kind!r}, "
            f"which are {_filled(self.templates, self.texts)}, the first pass alone hides "
            f"{self.direct_whole} of {self.direct} direct identifiers and {self.quasi_whole} of {self.quasi} "
            f"quasi-identifiers; {self.right / self.words:.2f} of the words that it hides belong to one. "
            "In other texts of this kind more can be missed than these can show: real texts will have lower "
            "figures."
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
    """Figures as the tables of the documents: languages in disguises, kinds without a miss, and each kind."""
    given = list(figures)
    head = "DIRECT whole | | QUASI whole | | token precision |\n|"
    rows = [
        f"| {one.language} | {one.templates} | {one.texts} | {one.disguise} | {one.cells()} |"
        for one in given
        if one.kind == ALL_KINDS
    ]
    kinds = [one for one in given if one.kind != ALL_KINDS]
    languages = dict.fromkeys(one.language for one in kinds)
    return "\n".join(
        [
            f"| language | templates | texts | disguise | {head}{'---|' * 9}",
            *rows,
            "",
            f"| language | kinds | without a miss | 95 % interval |\n|{'---|' * 4}",
            *(_without_a_miss(one, kinds) for one in languages),
            "",
            f"| language | kind of text | templates | {head}{'---|' * 8}",
            *(f"| {one.language} | {one.kind} | {one.templates} | {one.cells()} |" for one in kinds),
        ]
    )


def _without_a_miss(language: Language, figures: Iterable[FirstPassFigure]) -> str:
    """Of how many kinds every direct identifier was found, with the Clopper-Pearson interval over kinds."""
    whole = [one.direct_whole == one.direct for one in figures if one.language == language]
    low, high = clopper_pearson(sum(whole), len(whole), _WRONG)
    return f"| {language} | {len(whole)} | {sum(whole)} | [{low:.2f}, {high:.2f}] |"


def _filled(templates: int, texts: int) -> str:
    """How texts came from templates."""
    if templates == texts:
        return "each written for itself"
    each = texts // templates
    many = f"{templates} templates filled {each} times each"
    return f"one template filled {each} times" if templates == 1 else many


def kinds_of_text(language: Language | None = None) -> tuple[str, ...]:
    """The kinds of text that were measured in a language; in any, if none is given."""
    found = (one for one in known_figures() if one.kind and language in {None, one.language})
    return tuple(dict.fromkeys(one.kind for one in found))


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
