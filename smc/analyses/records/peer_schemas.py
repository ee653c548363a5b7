"""The declarations of columns as texts, for a peer that has other columns and needs them to plan alike."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from smc.analyses.studies.columns import Schema
from smc.errors import ProtocolViolation
from smc.protocols.exchange.bounds import MAX_SCALE
from smc.secret.sharing.bounds import LIMIT

KINDS: Final = ("integer", "decimal", "category")
"""What statistics are about."""

_FIELDS: Final = 6


def write_schemas(schemas: Iterable[Schema]) -> bytes:
    """Declarations in JSON: what a statistic depends on, in the order of the columns."""
    fields = [[s.kind, s.scale, s.lower, s.upper, list(s.categories), s.unit] for s in schemas]
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode()


def read(text: str, names: Sequence[str]) -> Mapping[str, Schema]:
    """The peer's declarations by name.

    Args:
        text: as the peer has written them.
        names: of its columns, in order.

    Raises:
        ProtocolViolation: they are not as many, or one is impossible.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ProtocolViolation("The peer's declarations are not JSON.") from None
    if not isinstance(found, list) or len(found) != len(names):
        raise ProtocolViolation("The peer declared another number of columns than the job names.")
    return {name: _schema(fields) for name, fields in zip(names, found, strict=True)}


def _schema(fields: Any) -> Schema:
    if not isinstance(fields, list) or len(fields) != _FIELDS:
        raise ProtocolViolation("The peer's declaration of a column is incomplete.")
    kind, scale, lower, upper, labels, unit = fields
    bounded = all(end is None or (type(end) is int and abs(end) < LIMIT) for end in (lower, upper))
    if (
        not bounded
        or kind not in KINDS
        or type(scale) is not int
        or not 0 <= scale <= MAX_SCALE
        or not isinstance(labels, list)
        or not all(isinstance(label, str) for label in labels)
        or len(set(labels)) < len(labels)
        or not isinstance(unit, str)
        or (lower is not None and upper is not None and lower > upper)
    ):
        raise ProtocolViolation("The peer's declaration of a column is impossible.")
    return Schema(kind, scale, lower, upper, tuple(labels), unit=unit)
