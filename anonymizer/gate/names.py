"""Columns that are called like identifiers, hold names of persons, or single out most rows.

What protects groups says nothing of them: sixty rows of one surname are alike, and all of one family.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import numpy as np
import tomli_w

from anonymizer.gate.finding import Finding
from anonymizer.gate.traces import MIN_VALUES, NEARLY_ALL, looks_like_an_identifier
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import ANY, GAP, text_of
from commons.tabular.column_names import direct, is_called
from commons.tabular.person_names import holds_names

RULE: Final = "named-like-identifier"
MOST: Final = 0.5
"""Part of the rows that have a text of their own from which on a column singles out most rows."""
MANY: Final = 60
"""Values from which on a column that is called a number or a key is taken for one."""

_KNOWN: Final = ("birth_date", "date", "income", "postcode")
"""Kinds of columns whose values others know of a person."""
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


def singles_out(column: ColumnView, *, has_role: bool = True) -> str | None:
    """Why the cells of a column find persons, though they name none; None if nothing says so.

    Args:
        column: of the original.
        has_role: whether somebody has said what the column is to an attacker. Where nobody has, dates and
            incomes count like texts, as others know them of a person. Measured numbers are left to a warning.
    """
    rows = int((column.codes >= 0).sum())
    if rows < MIN_VALUES:
        return None
    different = len(column.values)
    if is_called(column.name, "identifier") and (different > MANY or different > NEARLY_ALL * rows):
        return "is called like a number or a key of persons, and has many values"
    alone = int((np.bincount(column.codes[column.codes >= 0]) == 1).sum())
    is_known = not has_role and (column.days is not None or is_called(column.name, *_KNOWN))
    if (column.is_text or is_known) and alone > MOST * rows:
        what = "texts" if column.is_text else "values"
        return f"holds {what} that occur once, in {alone:,} of {rows:,} rows"
    return None


def inspect_names(
    released: Collection[ColumnView],
    before: Mapping[str, ColumnView],
    fresh: Mapping[str, bool],
    known: Collection[str],
    sensitive: Collection[str] | None = None,
) -> Iterator[Finding]:
    """Look at the names of released columns and at names in them.

    Args:
        released: as read back, without identifiers.
        before: the same columns of the original.
        fresh: of each released column whether a step has changed it.
        known: quasi-identifiers, which may single out rows as far as the steps let them.
        sensitive: columns with that role; None where columns need no role.
    """
    for column in released:
        original = before.get(column.name)
        if original is None:
            continue
        left = {text_of(value) for value in column.values} & {text_of(value) for value in original.values}
        words = names_persons(original) if left - _NOTHING else None
        if words is None and not fresh.get(column.name, False) and column.name not in known:
            has_role = sensitive is None or column.name in sensitive
            seen = looks_like_an_identifier(original) is not None
            words = None if seen else singles_out(original, has_role=has_role)
        if words is not None:
            yield Finding(RULE, column.name, f"Column {column.name} {words}.", _hint(column.name))


def _some(column: ColumnView, texts: list[str]) -> dict[str, int]:
    """How often texts occur; of many every so manieth."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(texts)).tolist()
    step = max(1, len(texts) // _READ)
    return dict(zip(texts[::step], counts[::step], strict=True))


def _hint(name: str) -> str:
    entry = tomli_w.dumps({"column": name}).strip()
    return (
        f"Name {name} among the identifiers, which takes it out, or give it the role that it has ([roles]); "
        f"or, if it names and finds nobody, accept "
        f'that: [[accept]] with finding = "{RULE}", {entry} and why = "the reason".'
    )


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
