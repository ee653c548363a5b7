"""Who the rows are about: the cells of key and person columns, compared as plain texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from parties.catalog.cells import plain_text

IDENTITY_BYTES: Final = 16

_LABEL: Final = b"duetto identity"


def labels(columns: Sequence[Sequence[Any]]) -> list[Hashable]:
    """One label a row: the text of its cell, or the texts of its cells if there are several columns."""
    texts = [_texts(cells) for cells in columns]
    return list(texts[0]) if len(texts) == 1 else list(zip(*texts, strict=True))


def _texts(cells: Sequence[Any]) -> list[str]:
    if {*map(type, cells)} <= {str} and "".join(cells).isascii():
        return list(map(str.strip, cells))
    return list(map(plain_text, cells))


class Distinct:
    """Watches that no label comes twice."""

    def __init__(self) -> None:
        self._rows: dict[Hashable, int] = {}

    def add(self, rows: Mapping[Hashable, int], count: int) -> bool:
        """Note many labels at once, each with the number of its row.

        Returns:
            Whether all `count` of them are new and different; if not, nothing was noted.
        """
        if len(rows) != count or not self._rows.keys().isdisjoint(rows):
            return False
        self._rows.update(rows)
        return True

    def first(self, label: Hashable, row: int) -> int:
        """The row in which a label came first; it is noted if that is now."""
        return self._rows.setdefault(label, row)


def numbered(people: Sequence[Hashable]) -> NDArray[np.int64]:
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
    came: Counter[Hashable] = Counter()
    keyed = blake2b(key=secret, digest_size=IDENTITY_BYTES, person=_LABEL)
    digests = []
    for label in people:
        own = keyed.copy()
        for text in label if isinstance(label, tuple) else (label,):
            encoded = str(text).encode("utf-8", "surrogatepass")
            own.update(len(encoded).to_bytes(4, "little") + encoded)
        if before := came[label]:
            own.update(before.to_bytes(8, "little"))
        came[label] = before + 1
        digests.append(own.digest())
    return np.frombuffer(b"".join(digests), dtype=f"V{IDENTITY_BYTES}")
