"""Who the rows are about: the cells of key and person columns, compared by what their columns declare.

| Declared type | Two cells are the same if |
|---|---|
| integer, decimal | their values are: `7`, `0007`, `+7` and `7.0` |
| date | their days are |
| all others, or none | their texts are, stripped of blanks and in normalisation form C |

So one person has one label in all data sets whose columns are declared alike.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from hashlib import blake2b
from itertools import repeat
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from commons.tabular.dialect import Writing
from parties.catalog.columns.cells import plain_text
from parties.catalog.columns.columns import ColumnDeclaration
from parties.catalog.sources.batch import VisibleCells
from smc.pieces import ROWS, chunks, each

IDENTITY_BYTES: Final = 16

Kind = Literal["number", "date", "text"]
"""By what cells are compared."""

_KINDS: Final[Mapping[str, Kind]] = {"integer": "number", "decimal": "number", "date": "date"}
_LABEL: Final = b"duetto identity"
_NUMBER: Final = re.compile(r"([+-]?)([0-9]{1,2500})(?:\.([0-9]{1,2500}))?")
_STARTS: Final = frozenset("+-0123456789")
"""How numbers begin."""
_EPOCH: Final = date(1970, 1, 1).toordinal()
_PLAIN: Final = Writing()


def kind_of(column: ColumnDeclaration | None) -> Kind:
    """By what the cells of a column are compared; None is a column that is not declared."""
    return "text" if column is None else _KINDS.get(column.type, "text")


def texts(cells: Sequence[Any], kind: Kind, writing: Writing = _PLAIN) -> Sequence[str | None]:
    """One text a cell, the same for cells that are the same; None where a cell is not of the kind.

    Args:
        cells: of a column.
        kind: by what they are compared.
        writing: how numbers and dates are written in texts.
    """
    are_visible = isinstance(cells, VisibleCells)
    if are_visible or ({*map(type, cells)} <= {str} and "".join(cells).isascii()):
        plain = cells if are_visible else list(map(str.strip, cells))
        if kind == "text":
            return plain
        if kind == "number" and "".join(plain).isdigit() and all(plain):
            return [text.lstrip("0") or "0" for text in plain]
        if kind == "number":
            return [_number(text, writing) if text[:1] in _STARTS else None for text in plain]
    if kind == "text":
        return list(map(plain_text, cells))
    if kind == "date":
        return [_day(cell, writing) for cell in cells]
    return [_number(cell, writing) for cell in cells]


def by_number(plain: Sequence[str]) -> Sequence[str]:
    """What the same cells would be called if they were compared by number, where they hold one."""
    return [
        text if found is None else found for text, found in zip(plain, texts(plain, "number"), strict=True)
    ]


def labels(columns: Sequence[Sequence[str]]) -> list[Hashable]:
    """One label a row: the text of its cell, or the texts of its cells if there are several columns."""
    return list(columns[0]) if len(columns) == 1 else list(zip(*columns, strict=True))


def _number(cell: Any, writing: Writing) -> str | None:
    if isinstance(cell, bool):
        return None
    if isinstance(cell, float | Decimal):
        exact = Decimal(repr(cell)) if isinstance(cell, float) else cell
        cell = format(exact, "f") if exact.is_finite() and abs(exact.adjusted()) < 400 else ""
    elif isinstance(cell, str) and not (writing.is_plain and cell.isascii()):
        cell = writing.plain_number(plain_text(cell)) or ""
    found = _NUMBER.fullmatch(plain_text(cell))
    if found is None:
        return None
    whole, part = found[2].lstrip("0") or "0", (found[3] or "").rstrip("0")
    value = f"{whole}.{part}" if part else whole
    return f"-{value}" if found[1] == "-" and value != "0" else value


def _day(cell: Any, writing: Writing) -> str | None:
    if isinstance(cell, datetime):
        is_day = cell.tzinfo is None and (cell.time() == time() or writing.names_a_time)
        cell = cell.date() if is_day else None
    if isinstance(cell, date):
        return cell.isoformat()
    days = writing.day(plain_text(cell))
    return None if days is None else date.fromordinal(_EPOCH + days).isoformat()


class Distinct:
    """Watches that no label comes twice."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()
        self._noted: list[tuple[Sequence[int], Sequence[Hashable]]] = []
        self._rows: dict[Hashable, int] = {}

    def add(self, labels: Sequence[Hashable], rows: Sequence[int]) -> bool:
        """Note many labels at once, each with the number of its row.

        Returns:
            Whether all of them are new and different; if not, `first` says which is not.
        """
        before = len(self._seen)
        self._seen.update(labels)
        if len(self._seen) != before + len(labels):
            return False
        self._noted.append((rows, labels))
        return True

    def first(self, label: Hashable, row: int) -> int:
        """The row in which a label came first; it is noted if that is now."""
        for rows, labels in self._noted:
            self._rows.update(zip(labels, rows, strict=True))
        self._noted.clear()
        self._seen.add(label)
        return self._rows.setdefault(label, row)


def number_labels(people: Sequence[Hashable]) -> NDArray[np.int64]:
    """Numbers from 0 for labels, in the order in which they first come; shape (rows,)."""
    numbers = {person: number for number, person in enumerate(dict.fromkeys(people))}
    return np.fromiter(map(numbers.__getitem__, people), np.int64, len(people))


def identities(people: Iterable[Hashable], secret: bytes) -> NDArray[np.void]:
    """Keyed hashes of labels, which are stable from run to run and mean nothing without the secret.

    A label that comes twice gets different hashes, by how often it came before.

    Args:
        people: labels of rows or persons.
        secret: 16 to 64 bytes that do not leave the party.

    Returns:
        Shape (labels,), each of 16 bytes, in the order of the labels.
    """
    people = list(people)
    if len({*people}) == len(people):
        return _hashes(people, secret)
    came: Counter[Hashable] = Counter()
    before = []
    for label in each(people):
        before.append(came[label])
        came[label] += 1
    return _hashes(people, secret, before)


def aliases(forms: Mapping[Hashable, Hashable], secret: bytes) -> NDArray[np.void]:
    """Hashes of other forms of labels beside those of the labels, as of `identities`; shape (forms, 2)."""
    return _hashes((*forms, *forms.values()), secret).reshape(2, len(forms)).T


def _hashes(labels: Sequence[Hashable], secret: bytes, before: Sequence[int] = ()) -> NDArray[np.void]:
    """Keyed hashes of labels, with how often each came before where that is given."""
    begin = blake2b(key=secret, digest_size=IDENTITY_BYTES, person=_LABEL).copy
    digests = []
    for part in chunks(len(labels), ROWS):
        for label, count in zip(labels[part], before[part] or repeat(0), strict=False):
            own = begin()
            for text in label if isinstance(label, tuple) else (label,):
                encoded = str(text).encode("utf-8", "surrogatepass")
                own.update(len(encoded).to_bytes(4, "little") + encoded)
            if count:
                own.update(count.to_bytes(8, "little"))
            digests.append(own.digest())
    return np.frombuffer(b"".join(digests), dtype=f"V{IDENTITY_BYTES}")
