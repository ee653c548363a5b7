"""What the name and the cells of a column suggest: its unit, codes for missing cells, whether to declare it.

A person decides; nothing is taken unasked.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from commons.tabular.eastern import narrow_number
from parties.catalog.columns.cells import is_missing, plain_text
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.drafting.sniffing import is_personal

_MOST: Final = 3
"""Different codes that are offered at each end of a column."""
_OFTEN: Final = 2
"""A code comes at least so often."""
_CODE: Final = re.compile(r"-?([789])\1*(?:[.,]0*|[.,]([789])\2*)?|-1|-?9+[6-9]")
"""Values that are customary as codes: 9, 99, 999, 888, 97, -9, -1."""
_BRACKET: Final = re.compile(r"[(\[]\s*(?:in\s+)?([^()\[\]]{1,16}?)\s*[)\]]\s*$")
_NARROW: Final = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
"""The signs of ASCII for those of full width, as in `\uff08kg\uff09`."""
_UNIT: Final = re.compile(r"[A-Za-zµμ°%€$£¥Å‰][A-Za-zµμ°%€$£¥Å‰0-9²³/·.*^-]{0,11}")
_LAST: Final = re.compile(r"[\s_.-]([A-Za-z%€$µμ°/]{1,7})$")
_UNITS: Final = frozenset(
    (
        *(
            "kg",
            "g",
            "mg",
            "µg",
            "μg",
            "ug",
            "ng",
            "cm",
            "mm",
            "km",
            "m",
            "l",
            "dl",
            "ml",
            "mg/dl",
            "mmol/l",
            "µmol/l",
        ),
        *("%", "€", "$", "eur", "euro", "usd", "chf", "gbp", "kcal", "kj", "mmhg", "bpm", "min", "h", "°c"),
    )
)
"""Units that are recognized as the last word of a name, without brackets, by their small letters."""
_WORDS: Final = 4
"""A label of so many words is a sentence."""
_FEWEST: Final = 10
"""Different numbers, or more, by which a column is judged."""
_LONG_NUMBER: Final = 7
"""Digits of a number that is none of a measurement."""
_NAMES: Final = 5
"""Labels, or more, that may be names of persons."""
_REPEATS: Final = 8
"""Rows a label, on average, of a column whose labels are written as names are, and are none."""
_NAME: Final = re.compile(r"[^\W\d_]{2,}(?:[ '’-][^\W\d_]{2,})*")
_REMARKS: Final = re.compile(
    r"\b(bemerkung(en)?|anmerkung(en)?|notiz(en)?|kommentare?|freitext|remarks?|comments?|notes?|memo"
    r"|free ?text|remarques?|commentaires?"
    r"|observations?|notas?|observacion(es)?|comentarios?|observac(ao|oes)|osservazion[ei]"
    r"|comment[oi]|opmerking(en)?|toelichting)\b|備考|メモ|コメント|自由記"
)
"""Names of columns in which people write what they like, without accents."""


@dataclass(frozen=True, slots=True)
class Code:
    """A value that may stand for a missing cell.

    Attributes:
        text: as the cells have it.
        count: how many cells of those looked at have it.
        nearest: the value that comes next, as it is written.
        is_largest: whether it is above all other values; else it is below them.
    """

    text: str
    count: int
    nearest: str
    is_largest: bool


def unit_in(name: str) -> str:
    """The unit in the name of a column, such as `kg` in `Weight (kg)` or `EUR` in `Cost EUR`; else empty."""
    name = name.translate(_NARROW)
    bracket = _BRACKET.search(name)
    if bracket is not None:
        return bracket[1] if _UNIT.fullmatch(bracket[1]) else ""
    last = _LAST.search(name)
    return last[1] if last is not None and last[1].lower() in _UNITS else ""


def codes_in(column: ColumnDeclaration, cells: Mapping[Any, int]) -> tuple[Code, ...]:
    """Values of a column of numbers that look like codes for missing cells.

    They are customary ones (999, -9), come more than once, and are farther from all other values than these
    are from each other.

    Args:
        column: how its cells are read.
        cells: how often each comes.
    """
    if column.type not in ("integer", "decimal"):
        return ()
    counts: dict[Fraction, tuple[str, int]] = {}
    for cell, count in cells.items():
        text = "" if cell is None or is_missing(cell, column.tokens) else plain_text(cell)
        plain = column.writing.plain_number(text) or (text if not isinstance(cell, str) else "")
        plain = narrow_number(plain)
        if text and plain and not text.startswith(("<", "≤", "＜", ">", "≥", "＞")):
            try:
                value = Fraction(plain)
            except ValueError:
                continue
            counts[value] = (text, counts.get(value, ("", 0))[1] + count)
    values, found = sorted(counts), list[Code]()
    for is_largest in (True, False):
        apart, nearest = _split_outliers(values if is_largest else values[::-1])
        texts = [counts[one] for one in apart]
        if all(_CODE.fullmatch(narrow_number(text)) and count >= _OFTEN for text, count in texts):
            found += [Code(text, count, counts[nearest][0], is_largest) for text, count in texts]
    return tuple(found)


def _split_outliers(values: Sequence[Fraction]) -> tuple[Sequence[Fraction], Fraction]:
    """The few values behind a gap that is wider than all before it together, and the last before it.

    Negative values beside others that are not are apart, too: -1 and -9 beside ages.
    """
    for place in range(max(1, len(values) - _MOST), len(values)):
        before, after = values[place - 1], values[place]
        if after < 0 <= before or (place > 1 and abs(after - before) > abs(before - values[0])):
            return values[place:], before
    return (), Fraction(0)


def is_free_text(column: ColumnDeclaration) -> bool:
    """Whether a column holds texts that people have written, by its type, name and labels."""
    if column.type != "category":
        return column.type == "text"
    name = "".join(
        one for one in unicodedata.normalize("NFKD", column.name.casefold()) if not unicodedata.combining(one)
    )
    is_called_so = _REMARKS.search(name.replace("_", " ")) is not None
    return is_called_so or any(len(label.split()) >= _WORDS for label in column.schema.categories)


def is_asked_for(column: ColumnDeclaration, cells: Mapping[Any, int] | None = None) -> bool:
    """Whether a person has to choose a column by hand: it names persons, numbers them, or holds free text.

    Args:
        column: as it would be declared.
        cells: how often each comes, by which columns are known whose names say nothing.
    """
    if is_personal(column.name) or is_free_text(column):
        return True
    return cells is not None and (_numbers_rows(column, cells) or _looks_like_names(column, cells))


def _numbers_rows(column: ColumnDeclaration, cells: Mapping[Any, int]) -> bool:
    """Whether integers are long, of one length, mostly different and not round: numbers of persons."""
    if column.type != "integer" or column.writing.thousands or column.schema.unit:
        return False
    texts = {str(cell).strip(): count for cell, count in cells.items() if not _is_empty(column, cell)}
    lengths = {len(text) for text in texts}
    return (
        len(texts) >= _FEWEST
        and len(lengths) == 1
        and min(lengths) >= _LONG_NUMBER
        and 2 * len(texts) >= sum(texts.values())
        and all(text.isdecimal() for text in texts)
        and any(not text.endswith("0") for text in texts)
    )


def _looks_like_names(column: ColumnDeclaration, cells: Mapping[Any, int]) -> bool:
    """Whether labels are many for their rows, and each is written as names of persons are."""
    labels = column.schema.categories if column.type == "category" else ()
    filled = sum(count for cell, count in cells.items() if not _is_empty(column, cell))
    is_many = len(labels) >= _NAMES and filled < _REPEATS * len(labels)
    return is_many and all(_NAME.fullmatch(label) and label.istitle() for label in labels)


def _is_empty(column: ColumnDeclaration, cell: Any) -> bool:
    return cell is None or is_missing(cell, column.tokens)
