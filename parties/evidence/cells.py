"""Columns as canonical bytes, and the commitments to them that a covert job's contract holds.

A commitment is SHA-256 over a salt and the digest of the cells. The salt follows from a key of the home, the
peer, the columns that the job takes, and the cells. So equal commitments in two contracts with one peer about
the same columns show that the cells were the same. Between other peers or columns they tell nothing, as which
rows are read depends on all columns. Whoever has seen a salt, as auditors do, can open that commitment alone.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from parties.errors import DataError
from parties.ports.terms import digest
from smc.analyses.studies.columns import Column, Data, Schema

_CELLS: Final = b"duetto evidence cells v1"
_COMMITMENT: Final = b"duetto evidence commitment to a column v1"
_SALT: Final = b"duetto evidence salt v1\0"


def encode_column(column: Column) -> bytes:
    """A column as bytes: a line of JSON with its schema, kind and number of cells, then the cells.

    Numbers that fit 63 bits take 8 bytes each, little-endian; others and texts are lines of UTF-8.
    """
    values = column.values
    if isinstance(values, np.ndarray):
        kind, cells = "numbers", values.astype("<i8").tobytes()
    elif column.schema.kind == "text":
        kind, cells = "texts", json.dumps(list(values), ensure_ascii=True, separators=(",", ":")).encode()
    else:
        kind, cells = "integers", ",".join(map(str, values)).encode()
    head = {"schema": asdict(column.schema), "kind": kind, "count": len(column)}
    return json.dumps(head, sort_keys=True, separators=(",", ":")).encode() + b"\n" + cells


def decode_column(data: bytes) -> Column:
    """The column in bytes of `encode_column`, which may come from anybody.

    Raises:
        DataError: they are none.
    """
    line, _, cells = data.partition(b"\n")
    try:
        head = json.loads(line)
        schema = head["schema"]
        found = Schema(**{**schema, "categories": tuple(schema["categories"])})
        column = Column(_values(head["kind"], cells), found)
        if encode_column(column) != data:
            raise ValueError("not canonical, or another number of cells")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise DataError("A column of the evidence is malformed.", "Ask for the evidence again.") from None
    return column


def _values(kind: str, cells: bytes) -> Any:
    if kind == "numbers":
        return np.frombuffer(cells, dtype="<i8").astype(np.int64)
    if kind == "texts":
        texts = json.loads(cells)
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("not texts")
        return texts
    if kind == "integers":
        return [int(cell) for cell in cells.decode("ascii").split(",")] if cells else []
    raise ValueError("unknown kind")


class Committer:
    """Commits to the columns of a job.

    Args:
        key: secret bytes of the home.
        peer: the other party.
        dataset: the local data set.
        named: the catalog's names of columns by their names in the job.
    """

    def __init__(self, key: bytes, peer: str, dataset: str, named: Mapping[str, str]) -> None:
        self._key = key
        self._about = digest(*(word.encode() for word in (peer, dataset, *sorted(named.values()))))
        self._named = dict(named)

    def salts(self, data: Data) -> dict[str, bytes]:
        """Of each column by its name in the job, 32 bytes."""
        return {name: self._salt(name, encode_column(column)) for name, column in data.items()}

    def commitments(self, data: Data) -> dict[str, str]:
        """To each column, hexadecimal, by its name in the job."""
        cells = {name: encode_column(data[name]) for name in sorted(data)}
        return {name: commitment(self._salt(name, each), each) for name, each in cells.items()}

    def _salt(self, name: str, cells: bytes) -> bytes:
        column = self._named.get(name, name)
        about = digest(self._about, column.encode(), hashlib.sha256(_CELLS + cells).digest())
        return hmac.digest(self._key, _SALT + about, "sha256")


def commitment(salt: bytes, cells: bytes) -> str:
    """The commitment to the bytes of a column under a salt, hexadecimal."""
    return digest(_COMMITMENT, salt, hashlib.sha256(_CELLS + cells).digest()).hex()
