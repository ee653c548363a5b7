"""Keys of rows: the normal forms of one or several columns, hashed to 128 bits under a salt of the run.

The hash of a text is a chain over its blocks of 16 bytes, AES-128 under a key derived from the salt, that
begins with its length and the number of its column; those of several columns, and the number of a copy, are
chained in the same way. It hides nothing: everyone who knows the salt can hash. As the salt is drawn once the
keys are normalized, two rows that differ get the same hash with probability of about l**2 2**-128 for l
blocks.

Reference: Bellare, Kilian and Rogaway, The security of the cipher block chaining message authentication code,
2000 (the chain, for inputs of which none is the beginning of another one); the length in front: there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from smc.analyses.records.normalization import normalize
from smc.analyses.studies.columns import Data
from smc.errors import DomainError
from smc.numeric.shapes import of_shape, shape_array
from smc.pieces import chunks, each

Word = NDArray[np.uint64]
Texts = list[str]

ERROR: Final = "error"
MULTISET: Final = "multiset"
DISTINCT: Final = "distinct"
DUPLICATES: Final = (ERROR, MULTISET, DISTINCT)
"""What becomes of rows with equal keys: an error; the k-th copy meets the k-th copy; they count once."""

_BLOCK: Final = 16
_CHUNK: Final = 1 << 16
_DOMAIN: Final = b"duetto/matching/key/1"


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """The rows that a side brings, before they are hashed.

    Attributes:
        texts: by column, the normal forms of the rows that take part.
        numbers: the rows, from 0, shape (n,); without those that repeat another one's key if keys count once.
        copies: the number of each row among those with its key, from 0, shape (n,); None where it does not
            count.
    """

    texts: tuple[Texts, ...] = field(repr=False)
    numbers: NDArray[np.int64] = field(repr=False)
    copies: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.numbers)

    def plain(self) -> list[tuple[Hashable, ...]]:
        """The keys themselves."""
        parts: list[Sequence[Hashable]] = list(self.texts)
        if self.copies is not None:
            parts.append(self.copies.tolist())
        return list(zip(*parts, strict=True))


def _shapes(
    data: Data, recipes: Sequence[tuple[str, tuple[str, ...]]], duplicates: str, side: str
) -> KeyedRows:
    """The shapes of keys, of which none repeats another."""
    del side
    numbers = shape_array(len(data[recipes[0][0]]), np.int64)
    return KeyedRows((), numbers, numbers if duplicates == MULTISET else None)


@of_shape(_shapes)
def keyed_rows(
    data: Data, recipes: Sequence[tuple[str, tuple[str, ...]]], duplicates: str, side: str
) -> KeyedRows:
    """Normalise the key columns and deal with keys that occur more than once.

    Args:
        data: the local columns.
        recipes: the key columns and the steps of each.
        duplicates: one of `DUPLICATES`.
        side: how errors call this side.

    Raises:
        DomainError: columns of different lengths, rows without a key, or repeated keys where they are errors.
    """
    names = " and ".join(name for name, _ in recipes)
    if len({len(data[name]) for name, _ in recipes}) != 1:
        raise DomainError(
            f"The key columns {names} of {side} have different lengths.",
            "Give every column one value per row.",
        )
    texts = tuple(normalize(data[name], steps, f"{side}'s column {name}") for name, steps in recipes)
    for (name, _), column in zip(recipes, texts, strict=True):
        if empty := column.count(""):
            raise DomainError(
                f"{empty} rows of {side} are empty in the key column {name} after normalization.",
                "Complete these rows or leave them out.",
            )
    keys: Sequence[object] = texts[0] if len(texts) == 1 else list(zip(*texts, strict=True))
    numbers = np.arange(len(keys))
    if duplicates == MULTISET:
        return KeyedRows(texts, numbers, _copies(keys))
    if _are_distinct(keys):
        return KeyedRows(texts, numbers)
    if duplicates == ERROR:
        repeated = len(keys) - len(set(keys))
        raise DomainError(
            f"{repeated} rows of {side} repeat the key ({names}) of another row.",
            'Remove these rows, or agree on duplicates = "distinct" or "multiset".',
        )
    seen: dict[object, int] = {}
    for number, key in enumerate(each(keys)):
        seen.setdefault(key, number)
    kept = list(seen.values())
    return KeyedRows(tuple([column[i] for i in kept] for column in texts), numbers[kept])


def hash_keys(keyed: KeyedRows, salt: bytes) -> Word:
    """The keys as 128-bit hashes.

    Args:
        keyed: n rows.
        salt: public, drawn with the peer once the rows were normalized.

    Returns:
        Shape (n, 2); distinct where the keys are, but with the probability in the module's text.
    """
    key = hashlib.sha256(_DOMAIN + salt).digest()[:_BLOCK]
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305 - chained by hand
    state = np.zeros((len(keyed), 2), dtype=np.uint64, like=keyed.numbers)
    for number, texts in enumerate(keyed.texts):
        state = _encrypted(cipher, state ^ _hashed_texts(cipher, texts, number))
    if keyed.copies is not None:
        state[:, 0] ^= keyed.copies.astype(np.uint64)
        state = _encrypted(cipher, state)
    return state


def _are_distinct(keys: Sequence[object]) -> bool:
    """Whether no key comes twice. Sorting hashes takes a third of the time of a set of many texts."""
    hashes = np.sort(np.fromiter(map(hash, keys), np.int64, len(keys)))
    return not (hashes[1:] == hashes[:-1]).any() or len(set(keys)) == len(keys)


def _copies(keys: Sequence[object]) -> NDArray[np.int64]:
    seen: dict[object, int] = {}
    copies = np.zeros(len(keys), dtype=np.int64)
    if _are_distinct(keys):
        return copies
    for number, key in enumerate(each(keys)):
        copy = seen.get(key, 0)
        copies[number] = copy
        seen[key] = copy + 1
    return copies


def _hashed_texts(cipher: CipherContext, texts: Texts, number: int) -> Word:
    """The hash of each text, shape (n, 2)."""
    result = np.empty((len(texts), 2), dtype=np.uint64)
    for part in chunks(len(texts), _CHUNK):
        octets = list(map(str.encode, texts[part]))
        lengths = np.fromiter(map(len, octets), dtype=np.int64, count=len(octets))
        blocks = -(-lengths // _BLOCK)
        for size in np.unique(blocks).tolist():
            rows = np.flatnonzero(blocks == size)
            chosen = octets if len(rows) == len(octets) else [octets[row] for row in rows.tolist()]
            padded = np.array(chosen, dtype=f"S{_BLOCK * size}").view("<u8").reshape(len(rows), size, 2)
            state = np.empty((len(rows), 2), dtype=np.uint64)
            state[:, 0], state[:, 1] = lengths[rows], number
            state = _encrypted(cipher, state)
            for block in range(size):
                state = _encrypted(cipher, state ^ padded[:, block])
            result[part.start + rows] = state
    return result


@of_shape(lambda cipher, blocks: blocks)
def _encrypted(cipher: CipherContext, blocks: Word) -> Word:
    return np.frombuffer(cipher.update(blocks.tobytes()), dtype="<u8").reshape(-1, 2).astype(np.uint64)
