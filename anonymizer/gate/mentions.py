"""Texts that hold the identifier of their row, as a note, an address or a remark may.

A text may hold a word of an identifier by chance, as a trade has the name of a school. So it must hold more
of its own row's than of other rows', and those of several persons: a column of few values, such as an
education that is among the identifiers, is compared as a category by the other looks, and not as a name.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.gate.finding import Finding
from anonymizer.gate.views import ColumnView
from anonymizer.tables.table import Table

_ROWS: Final = 5_000
_LONG: Final = 4
"""Letters from which on a word is looked for inside of others too."""
_SHORT: Final = 2
_PERSONS: Final = 3
"""Different identifiers that texts must hold."""
_SHIFTS: Final = 20
_BY_CHANCE: Final = 1e-5
_RARE: Final = 0.05
"""The same for a warning."""
_FEW: Final = 20
"""Rows by value from which on a quasi-identifier counts as categories."""

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
_WORD: Final = re.compile(r"[^\W\d_]+")
UNCASED: Final = re.compile("[\u3005\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Scripts without capital letters, in which a name may stand without a space: Chinese, Japanese, Korean."""


@dataclass(frozen=True)
class _Name:
    """An identifier as texts may hold it: parts that are looked for anywhere, and short words."""

    parts: frozenset[str]
    words: frozenset[str]

    @classmethod
    def of(cls, value: str) -> _Name:
        text = folded(value).strip()
        whole = text.casefold()
        parts = {whole} if len(whole) >= _LONG else set()
        words = set()
        for run in UNCASED.findall(text):
            # of a name without a space the family name and the given name, mostly of two characters
            parts |= {run, run[:_SHORT], run[-_SHORT:]} if len(run) >= _SHORT else set()
        for word in _WORD.findall(UNCASED.sub(" ", whole)):
            if len(word) >= _LONG:
                parts.add(word)
            elif len(word) >= _SHORT:
                words.add(word)
        return cls(frozenset(parts), frozenset(words))

    def stands_in(self, text: _Text) -> bool:
        return any(part in text.folded for part in self.parts) or bool(self.words and self.words & text.names)


@dataclass(frozen=True)
class _Text:
    """A cell of a released column."""

    cell: str

    @cached_property
    def folded(self) -> str:
        """Without differences of capitals, accents and widths."""
        return folded(self.cell).casefold()

    @cached_property
    def names(self) -> frozenset[str]:
        """Its short words with a capital letter, as names are written."""
        found = _WORD.findall(folded(self.cell))
        return frozenset(word.casefold() for word in found if len(word) < _LONG and word[0].isupper())


def mentions(
    columns: Sequence[ColumnView], identifiers: Sequence[ColumnView], quasi: Collection[str]
) -> Iterator[Finding]:
    """Look for texts that hold the identifier of their row.

    Words of four letters and more are looked for anywhere in the texts, those of two and three as words
    with a capital letter, and two characters of scripts that have none.

    Args:
        columns: released, by rows of known origin.
        identifiers: for the same rows.
        quasi: the quasi-identifiers: those with few values count in the classes.
    """
    for identifier, column, there, whose, cells in _held(columns, identifiers, quasi):
        if len(set(there)) >= _PERSONS and _beyond_chance(
            len(there), whose, cells, *_read(identifier, column)
        ):
            yield Finding(
                "disguise",
                column.name,
                f"Column {column.name} holds the {identifier.name} of the row in its texts, in "
                f"{len(there):,} of {len(whose):,} rows.",
                f"Name {column.name} among the identifiers, which takes it out.",
            )


def few_mentions(original: Table, released: Table, origin: NDArray[np.int64] | None) -> Iterator[str]:
    """Warn of the texts of one or two persons that hold their identifier, as a word may by chance.

    Args:
        original: with roles.
        released: made of it.
        origin: of each released row that of the original, -1 where there is none; None if it is not known.
    """
    if origin is None:
        return
    known = np.flatnonzero(origin >= 0)
    roles = original.roles
    names = [name for name in released.names if name not in roles.identifiers]
    after, before = released.taken(known), original.taken(origin[known])
    columns = [ColumnView.of(after, name) for name in names]
    identifiers = [ColumnView.of(before, name) for name in roles.identifiers]
    for identifier, column, there, whose, cells in _held(columns, identifiers, roles.quasi_identifiers):
        count = len(there)
        if (
            0 < len(set(there)) < _PERSONS
            and not _is_category(identifier)
            and _beyond_chance(count, whose, cells, *_read(identifier, column), _RARE)
        ):
            yield (
                f"Column {column.name} holds a word of the {identifier.name} of the row in its texts, in "
                f"{count:,} of {len(whose):,} rows. It may be chance, or the person: read the texts, or name "
                f"{column.name} among the identifiers, which takes it out."
            )


def _read(identifier: ColumnView, column: ColumnView) -> tuple[list[_Name], list[_Text]]:
    return [_Name.of(str(value)) for value in identifier.values], [_Text(str(one)) for one in column.values]


def _held(
    columns: Sequence[ColumnView], identifiers: Sequence[ColumnView], quasi: Collection[str]
) -> Iterator[tuple[ColumnView, ColumnView, list[int], list[int], list[int]]]:
    """Each identifier with each column of texts.

    Beside them the identifiers of rows whose text holds them, those of all rows looked at, and their texts.
    """
    texts = {
        column.name: [_Text(str(value)) for value in column.values]
        for column in columns
        if column.is_text and not (column.name in quasi and _is_category(column))
    }
    for identifier in identifiers:
        names = [_Name.of(str(value)) for value in identifier.values]
        for column in columns:
            if column.name == identifier.name or column.name not in texts:
                continue
            both = np.flatnonzero((column.codes >= 0) & (identifier.codes >= 0))
            both = both[:: max(1, len(both) // _ROWS)]
            whose, cells = identifier.codes[both].tolist(), column.codes[both].tolist()
            yield identifier, column, _hits(whose, cells, names, texts[column.name]), whose, cells


def _is_category(column: ColumnView) -> bool:
    return _FEW * len(column.values) <= int((column.codes >= 0).sum())


def folded(text: str) -> str:
    """Letters of one width and without accents; the marks of kana stay."""
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", plain))


def _hits(
    whose: Sequence[int], cells: Sequence[int], names: Sequence[_Name], texts: Sequence[_Text]
) -> list[int]:
    """The identifiers of the rows whose text holds them, or a word of them."""
    return [one for one, cell in zip(whose, cells, strict=True) if names[one].stands_in(texts[cell])]


def _beyond_chance(
    there: int,
    whose: Sequence[int],
    cells: Sequence[int],
    names: Sequence[_Name],
    texts: Sequence[_Text],
    limit: float = _BY_CHANCE,
) -> bool:
    """Whether so many texts would hardly hold the identifier of another row of the table."""
    other = 0
    for turn in range(1, _SHIFTS + 1):
        by = max(1, turn * len(whose) // (_SHIFTS + 1))
        other += len(_hits([*whose[by:], *whose[:by]], cells, names, texts))
        if there <= 3 * other / _SHIFTS:
            return False
    return _at_least(there, (other + 0.5) / _SHIFTS) < limit


def _at_least(count: int, mean: float) -> float:
    """The probability of so many rare events or more, if that many are expected (Poisson), from above.

    Args:
        count: above the mean.
        mean: positive.
    """
    first = math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
    return first / (1 - mean / (count + 1))
