"""Numbers of persons under any heading: by what they decide, and by the form of their cells.

A heading says nothing for certain: `glucose sensor` may be a number of a device. Two signs are looked for. A
column that says the same of all rows of each person, and differs between persons, is that person's number:
it decides the age, the sex or the birth of whose rows they are, which diagnoses, towns and amounts do not.
And a code of six digits and more of one form, which few of all such codes are, was given out. What is
measured stays: decimals, days, and amounts that persons share.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from anonymizer.errors import list_names
from anonymizer.gate.relations import dense_codes, determines, join_codes, rises
from anonymizer.gate.traces import MIN_VALUES, lie_densely
from anonymizer.gate.views import ColumnView
from anonymizer.hierarchies.hierarchy import text_of
from commons.tabular.column_names import is_called

Int = NDArray[np.int64]

FEW_PERSONS: Final = 10
"""Values up to which nothing is taken for a number of persons by what it decides."""
OF_EACH_PERSON: Final = "says the same of all rows of each person"
"""How what is said of a column begins by which rows are known to be of one person."""
_OF_PERSON: Final = ("birth_date", "birth_year", "age", "sex", "race")
"""Kinds of columns that are constant in a person, and differ between persons."""
_OF_PLACE: Final = ("postcode", "town", "region")
"""Kinds of columns whose long codes are of many persons, but of which decimals may be those of a home."""
_NEARLY: Final = 0.97
_KINDS: Final = 8
"""What a number must tell apart: of a site of a tumour the sex is known too."""
_READ: Final = 5_000
_ONE_FORM: Final = 0.9
_DIGITS: Final = 6.5
_DIGITS_BESIDE_LETTERS: Final = 5.5
"""Digits that vary; a digit that takes two values counts 0.3."""
_SEVERAL: Final = 3.0
_UNEVEN: Final = 2.5
"""How often the mean of the rows of a value exceeds their median where few codes have most rows, as drugs."""
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")


def numbers_person(
    column: ColumnView, others: Collection[ColumnView], *, is_measured: bool = False
) -> str | None:
    """Why a column is a number of persons, as the end of a sentence; None if nothing says so.

    Args:
        column: of which more than one value has several rows, or none.
        others: the columns of the same rows, among which those are found that are constant in persons.
        is_measured: whether the name, or somebody, says that nobody knows it beforehand: then whole numbers
            count only if they were given out, as amounts may tell persons apart too.
    """
    if not _may_be_given_out(column):
        return None
    decided = decided_by(column, others)
    if decided and not (is_measured and column.numbers is not None and not _was_given_out(column)):
        return f"{OF_EACH_PERSON}: it decides {list_names(decided)}, as a number of persons does"
    return by_form(column)


def by_form(column: ColumnView) -> str | None:
    """Why cells are codes that were given out, one by one; None if nothing says so."""
    counts = np.bincount(column.codes[column.codes >= 0])
    if len(column.values) < MIN_VALUES or is_called(column.name, *_OF_PLACE):
        return None
    if counts.mean() > _SEVERAL and counts.mean() > _UNEVEN * np.median(counts):
        return None
    texts = _texts(column)
    if not texts:
        return None
    [(form, fit)] = Counter(map(_form, texts)).most_common(1)
    least = _DIGITS_BESIDE_LETTERS if "a" in form else _DIGITS
    if fit < _ONE_FORM * len(texts) or form.count("9") < least:
        return None
    alike = [text for text in texts if _form(text) == form]
    places = [place for place, sign in enumerate(form) if sign == "9"]
    kinds = np.array([len({text[place] for text in alike}) for place in places])
    if float(np.log10(kinds).sum()) < least:
        return None
    return f"holds codes of {len(places)} digits in one form, as numbers of persons and papers are"


def decided_by(column: ColumnView, others: Collection[ColumnView]) -> list[str]:
    """The columns that are constant in persons, and in the rows of each value of this one; often none."""
    counts = np.bincount(column.codes[column.codes >= 0])
    rows = int(counts.sum())
    if len(counts) <= FEW_PERSONS or 2 * int(counts[counts > 1].sum()) < rows:
        return []
    is_itself = is_called(column.name, *_OF_PERSON)
    found = [
        one
        for one in others
        if one.name != column.name
        and is_called(one.name, *_OF_PERSON)
        and 1 < len(one.values) < len(counts)
        and determines(column.codes, one.codes, _NEARLY)
        and not (is_itself and rises(one.plain.codes, column.plain.codes))
    ]
    return [one.name for one in found] if _kinds(found) >= _KINDS else []


def _kinds(columns: Sequence[ColumnView]) -> int:
    """How many different rows columns have."""
    if not columns:
        return 0
    codes = columns[0].codes
    for one in columns[1:]:
        codes = join_codes(codes, one.codes)
    return int(dense_codes(codes).max(initial=-1)) + 1


def _may_be_given_out(column: ColumnView) -> bool:
    """Whether cells are neither days nor truth values, nor decimals, except those of places."""
    if column.days is not None or any(isinstance(value, bool) for value in column.values[:1]):
        return False
    return column.numbers is None or column.whole is not None or is_called(column.name, *_OF_PLACE)


def _was_given_out(column: ColumnView) -> bool:
    """Whether whole numbers were given out one by one, or are codes; of others, whether they are places."""
    whole = column.whole
    if whole is None:
        return is_called(column.name, *_OF_PLACE)
    return lie_densely(whole) or by_form(column) is not None


def _texts(column: ColumnView) -> list[str]:
    """Some of the different values as they are written, of numbers the whole ones."""
    some = column.values[:: max(1, len(column.values) // _READ)]
    texts = [text_of(value).strip() for value in some]
    if column.numbers is None:
        return texts
    if column.whole is None:
        return []
    return [text.removesuffix(".0") for text in texts]


def _form(text: str) -> str:
    """A text with `9` for each digit and `a` for each letter."""
    return _LETTER.sub("a", _DIGIT.sub("9", text))
