"""Columns that are called like identifiers, hold names or numbers of persons, or single out most rows.

What protects groups says nothing of them: sixty rows of one surname are alike, and all of one family.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

import numpy as np
import tomli_w
from numpy.typing import NDArray

from anonymizer.gate.finding import Finding
from anonymizer.gate.forms import name_form, name_number
from anonymizer.gate.kept import believed_rows
from anonymizer.gate.nested import parts_of
from anonymizer.gate.persons import FEW_PERSONS, numbers_person
from anonymizer.gate.traces import MIN_VALUES, NEARLY_ALL, looks_like_an_identifier
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import ANY, GAP, text_of
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table
from commons.tabular.column_names import direct, is_called, is_of_persons
from commons.tabular.person_names import holds_names, names_bearers

Int = NDArray[np.int64]
Bool = NDArray[np.bool_]

RULE: Final = "named-like-identifier"
MOST: Final = 0.5
"""Part of the rows that have a value of their own from which on a column singles out most rows."""
MANY: Final = 60
"""Values beyond which a column that is called a number or a key is taken for one."""
OF_NAMES: Final = "holds names of persons"
"""What is said of a column by names in its cells, of which several equal ones need not be one person."""
_OF_NAMES: Final = ("surname", "given_name", "full_name")
_LEFT: Final = 0.01
"""Part of the rows in which a quasi-identifier that is a number of persons may leave as it was."""
_ALL: Final[Mapping[str, Bool]] = {}
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
_SEARCHED: Final = 20_000
"""Different texts that are searched at most for addresses, accounts and the like."""


def names_persons(column: ColumnView) -> str | None:
    """Why the cells of a column would name persons, as the end of a sentence; None if nothing says so.

    By its name, whatever it holds, but for truth values (`phone`: yes or no) and, of names, numbers; or by
    its cells: if half of them are names of persons, or nothing else in a column that is called like persons
    (`Hausarzt`); or if mail addresses, accounts, phone numbers and the like stand in them.
    """
    texts = [text_of(value).strip() for value in column.values]
    told = {text.casefold() for text in texts} - _NOTHING
    if not told or told <= _TRUTHS:
        return None
    kind = direct(column.name)
    if kind is not None and not (kind.name in _OF_NAMES and column.numbers is not None):
        return f"is called like one of {_PLURALS[kind.name]}"
    if not column.is_text:
        number = name_number(_some(column, texts, _SEARCHED)) if column.days is None else None
        return f"holds {number}" if number is not None else None
    some = _some(column, texts, _READ)
    inner = parts_of(some)
    if inner is None:
        form = name_form(_some(column, texts, _SEARCHED))
        return f"holds {form}" if form is not None else _of_names(column.name, some)
    told_inside = ((name, _of_part(name, counts)) for name, counts in inner.items())
    return next((f"{words}, in its part {name!r}" for name, words in told_inside if words), None)


def _of_part(name: str, counts: Mapping[str, int]) -> str | None:
    """The same of a part of cells that are records, which is named in them."""
    if {text.casefold() for text in counts} <= _NOTHING | _TRUTHS:
        return None
    kind = direct(name)
    if kind is not None:
        return f"holds {_PLURALS[kind.name]}"
    form = name_form(counts)
    return f"holds {form}" if form is not None else _of_names(name, counts)


def _of_names(name: str, counts: Mapping[str, int]) -> str | None:
    """Why texts would name persons, by lists of names or for want of a sign that they do not."""
    return OF_NAMES if holds_names(counts) or (is_of_persons(name) and names_bearers(counts)) else None


def mostly_alone(counts: Int, most: int = 1) -> bool:
    """Whether more than half of the rows have a value that no other row has.

    Args:
        counts: rows of each value. Of fewer than twenty rows nothing is said.
        most: rows that a value may have to be counted.
    """
    rows = int(counts.sum())
    return rows >= MIN_VALUES and int(counts[counts <= most].sum()) > MOST * rows


def singles_out(
    column: ColumnView,
    kept: Bool | None = None,
    *,
    has_role: bool = True,
    whole: Table | None = None,
    most: int = 1,
) -> str | None:
    """Why the cells of a column find persons, though they name none; None if nothing says so.

    Args:
        column: of the original.
        kept: of its rows whether they are released with the cell that they had, shape (n,); None if all are.
        has_role: whether the column is sensitive, so that somebody has said that nobody knows its cells: then
            texts alone count. Else values of any type do.
        whole: the original, if the column has a part of its rows: a value counts that is alone in all.
        most: rows that a value may have to find somebody: two, where persons may have two rows. Of twenty
            values or fewer this says nothing.
    """
    known = column.codes >= 0
    stays = known if kept is None else kept & known
    counts = np.bincount(column.codes[known])
    rows = int(counts.sum())
    if rows < MIN_VALUES or int(stays.sum()) <= MOST * rows:
        return None
    different = len(column.values)
    many = FEW_PERSONS if is_called(column.name, "person") else MANY
    if is_called(column.name, "identifier") and (different > many or different > NEARLY_ALL * rows):
        return "is called like a number or a key of persons, and has many values"
    if has_role and not column.is_text:
        return None
    codes = ColumnView.of(whole, column.name).codes if whole is not None and len(whole) > len(known) else None
    what = "texts" if column.is_text else "values"
    for few, words in ((1, "once"), (2, "once or twice"))[: most if different > MIN_VALUES else 1]:
        alone = int((stays & (counts[column.codes] <= few)).sum())
        if alone <= MOST * rows:
            continue
        if codes is not None:
            counts = np.bincount(codes[codes >= 0])
            if not mostly_alone(counts, few):
                return None
            alone, rows = int(counts[counts <= few].sum()), int(counts.sum())
        return f"holds {what} that occur {words}, in {alone:,} of {rows:,} rows"
    return None


def inspect_names(
    released: Collection[ColumnView],
    before: Mapping[str, ColumnView],
    roles: Roles | None = None,
    whole: Table | None = None,
    kept: Mapping[str, Bool] = _ALL,
) -> Iterator[Finding]:
    """Look at the names of released columns and at names in them.

    Args:
        released: as read back, without identifiers.
        before: the same columns of the original, row by row.
        roles: of the original; None where its rows are not released, so that no cell singles one out.
        whole: the original, if `before` has a part of its rows.
        kept: of each column which cells are released as they were, shape (n,); of others all are.
    """
    quasi = frozenset(roles.quasi_identifiers if roles is not None else ())
    # Alone, as in the first table of anatomy, they tell of a person who is found by them nothing else.
    tell = any(column.name in before and column.name not in quasi for column in released)
    for column in released:
        original, name = before.get(column.name), column.name
        if original is None:
            continue
        left = {text_of(value) for value in column.values} & {text_of(value) for value in original.values}
        words = names_persons(original) if left - _NOTHING else None
        hint = _hint(name)
        known = name in quasi
        looked = tell if known else looks_like_an_identifier(original) is None
        has_role = roles is not None and name in roles.sensitive
        if words is None and roles is not None and looked:
            most = 1 if known or has_role else 2  # two rows that a step made alike are k = 2, and no person
            words = singles_out(original, kept.get(name), has_role=has_role, whole=whole, most=most)
            if known:
                hint = _hint_of_unchanged(name)
            elif not original.is_text:
                hint = _hint_of_values(name)
        if words is None and roles is not None and (looked or has_role):
            words = _of_person(column, original, before, roles, kept)
            hint = _hint_of_number(name)
        if words is not None:
            yield Finding(RULE, name, f"Column {name} {words}.", hint)


def _of_person(
    column: ColumnView,
    original: ColumnView,
    before: Mapping[str, ColumnView],
    roles: Roles,
    kept: Mapping[str, Bool],
) -> str | None:
    """Why a column of no role, a sensitive one or a quasi-identifier is a number of persons.

    A quasi-identifier counts if it is left in few rows too: of five rows of one person a step that joins
    rows alike leaves the number. Where `person` is given, no step joins them.
    """
    name, known = column.name, column.name in roles.quasi_identifiers
    if known and roles.person:
        return None
    left = original.codes >= 0
    if name in kept:
        left &= believed_rows(column, kept[name])
    if int(left.sum()) <= (_LEFT if known else MOST) * len(left):
        return None
    return numbers_person(original, before.values(), is_measured=name in roles.sensitive)


def _some(column: ColumnView, texts: list[str], most: int) -> dict[str, int]:
    """How often texts occur; of more than so many every so manieth."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(texts)).tolist()
    step = -(-len(texts) // most) or 1
    return dict(zip(texts[::step], counts[::step], strict=True))


def _hint(name: str) -> str:
    return (
        f"Name {name} among the identifiers, which takes it out, or give it the role that it has ([roles]); "
        f"or, if it names and finds nobody, {describe_acceptance(name)}"
    )


def _hint_of_values(name: str) -> str:
    return (
        f"Give {name} the role that it has ([roles]): sensitive if nobody knows it beforehand, as of "
        "laboratory values, and it is released as it is; quasi_identifiers, with a hierarchy, if somebody "
        f"may; identifiers to take it out. Or, if it finds nobody, {describe_acceptance(name)}"
    )


def _hint_of_number(name: str) -> str:
    return (
        f"Name {name} among the identifiers, which takes it out: no other role protects it. Or, if it "
        f"finds nobody, {describe_acceptance(name)}"
    )


def _hint_of_unchanged(name: str) -> str:
    return (
        f"Most cells of {name}, which somebody may know, are released as they are: add a step that changes "
        "them ([[steps]]), such as generalization with a hierarchy, or name it among the identifiers, which "
        f"takes it out. Or, if it finds nobody, {describe_acceptance(name)}"
    )


def describe_acceptance(name: str) -> str:
    """How to accept a finding of a column, as the end of a sentence."""
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
