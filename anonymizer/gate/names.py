"""Columns that are called like identifiers, hold names of persons, or single out most rows.

What protects groups says nothing of them: sixty rows of one surname are alike, and all of one family.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import numpy as np
import tomli_w
from numpy.typing import NDArray

from anonymizer.gate.finding import Finding
from anonymizer.gate.traces import MIN_VALUES, NEARLY_ALL, looks_like_an_identifier
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import ANY, GAP, text_of
from anonymizer.tables.table import Table
from commons.tabular.column_names import direct, is_called
from commons.tabular.person_names import holds_names

Int = NDArray[np.int64]

RULE: Final = "named-like-identifier"
MOST: Final = 0.5
"""Part of the rows that have a value of their own from which on a column singles out most rows."""
MANY: Final = 60
"""Values from which on a column that is called a number or a key is taken for one."""

_OF_NAMES: Final = ("surname", "given_name", "full_name")
_NOTHING: Final = frozenset({"", ANY, GAP})
_TRUTHS: Final = frozenset(
    (
        *("0", "1", "true", "false", "t", "f", "yes", "no", "y", "n", "ja", "nein", "j", "wahr", "falsch"),
        *(
            "oui",
            "non",
            "o",
            "vrai",
            "faux",
            "si",
            "sì",
            "s",
            "vero",
            "falso",
            "nee",
            "はい",
            "いいえ",
            "有",
            "無",
        ),
    )
)
_READ: Final = 2_000
"""Different texts that are read at most, to see whether they are names."""


def names_persons(column: ColumnView) -> str | None:
    """Why the cells of a column would name persons, as the end of a sentence; None if nothing says so.

    By its name, whatever it holds, but for truth values (`phone`: yes or no) and, of names, numbers; or by
    its cells, if at least half of them are names of persons.
    """
    texts = [text_of(value).strip() for value in column.values]
    told = {text.casefold() for text in texts} - _NOTHING
    if not told or told <= _TRUTHS:
        return None
    kind = direct(column.name)
    if kind is not None and not (kind.name in _OF_NAMES and column.numbers is not None):
        return f"is called like one of {_PLURALS[kind.name]}"
    if column.is_text and holds_names(_some(column, texts)):
        return "holds names of persons"
    return None


def mostly_alone(counts: Int) -> bool:
    """Whether more than half of the rows have a value that no other row has.

    Args:
        counts: rows of each value. Of fewer than twenty rows nothing is said.
    """
    rows = int(counts.sum())
    return rows >= MIN_VALUES and int((counts == 1).sum()) > MOST * rows


def singles_out(column: ColumnView, *, has_role: bool = True, whole: Table | None = None) -> str | None:
    """Why the cells of a column find persons, though they name none; None if nothing says so.

    Args:
        column: of the original.
        has_role: whether somebody has said what the column is to an attacker. Where nobody has, values of any
            type count; else texts alone.
        whole: the original, if the column has a part of its rows: a value counts that is alone in all.
    """
    counts = np.bincount(column.codes[column.codes >= 0])
    rows = int(counts.sum())
    if rows < MIN_VALUES:
        return None
    different = len(column.values)
    if is_called(column.name, "identifier") and (different > MANY or different > NEARLY_ALL * rows):
        return "is called like a number or a key of persons, and has many values"
    if (has_role and not column.is_text) or not mostly_alone(counts):
        return None
    if whole is not None and len(whole) > len(column.codes):
        codes = ColumnView.of(whole, column.name).codes
        counts = np.bincount(codes[codes >= 0])
        if not mostly_alone(counts):
            return None
    what = "texts" if column.is_text else "values"
    return f"holds {what} that occur once, in {int((counts == 1).sum()):,} of {int(counts.sum()):,} rows"


def inspect_names(
    released: Collection[ColumnView],
    before: Mapping[str, ColumnView],
    fresh: Mapping[str, bool],
    known: Collection[str],
    sensitive: Collection[str] | None = None,
    whole: Table | None = None,
) -> Iterator[Finding]:
    """Look at the names of released columns and at names in them.

    Args:
        released: as read back, without identifiers.
        before: the same columns of the original.
        fresh: of each released column whether a step has changed it.
        known: quasi-identifiers, which may single out rows as far as the steps let them.
        sensitive: columns with that role; None where columns need no role.
        whole: the original, if `before` has a part of its rows.
    """
    for column in released:
        original = before.get(column.name)
        if original is None:
            continue
        left = {text_of(value) for value in column.values} & {text_of(value) for value in original.values}
        words = names_persons(original) if left - _NOTHING else None
        hint = _hint(column.name)
        if words is None and not fresh.get(column.name, False) and column.name not in known:
            has_role = sensitive is None or column.name in sensitive
            seen = looks_like_an_identifier(original) is not None
            words = None if seen else singles_out(original, has_role=has_role, whole=whole)
            hint = hint if original.is_text else _hint_of_values(column.name)
        if words is not None:
            yield Finding(RULE, column.name, f"Column {column.name} {words}.", hint)


def _some(column: ColumnView, texts: list[str]) -> dict[str, int]:
    """How often texts occur; of many every so manieth."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(texts)).tolist()
    step = max(1, len(texts) // _READ)
    return dict(zip(texts[::step], counts[::step], strict=True))


def _hint(name: str) -> str:
    return (
        f"Name {name} among the identifiers, which takes it out, or give it the role that it has ([roles]); "
        f"or, if it names and finds nobody, {_accept(name)}"
    )


def _hint_of_values(name: str) -> str:
    return (
        f"Give {name} the role that it has ([roles]): sensitive if nobody knows it beforehand, as of "
        "laboratory values, and it is released as it is; quasi_identifiers, with a hierarchy, if somebody "
        f"may; identifiers to take it out. Or, if it finds nobody, {_accept(name)}"
    )


def _accept(name: str) -> str:
    entry = tomli_w.dumps({"column": name}).strip()
    return f'accept that: [[accept]] with finding = "{RULE}", {entry} and why = "the reason".'


_PLURALS: Final[Mapping[str, str]] = {
    "surname": "surnames",
    "given_name": "first names",
    "full_name": "names",
    "mail": "mail addresses",
    "phone": "phone numbers",
    "street": "addresses",
    "account": "numbers of papers or accounts",
}
"""Of the direct kinds of `commons.tabular.column_names`."""
