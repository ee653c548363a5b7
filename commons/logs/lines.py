"""Lines of which each carries the hash of the one before, so that none is changed or left out unseen."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Self

Link = tuple[int, str]
"""Number and hash of a line: what the next one continues."""

GENESIS: Final = "0" * 64
"""What stands as the previous hash in the first line."""

START: Final[Link] = (-1, GENESIS)
"""What the first line continues."""

ANY: Final = ""
"""Stands for a hash that nobody knows, as where the lines before were moved away."""


@dataclass(frozen=True, slots=True)
class Line(ABC):
    """A line of a chain; what else it says is said by its kind.

    Attributes:
        sequence: its number, from 0 without gaps.
        previous: the hash of the line before, hexadecimal.
        time: when it was written, RFC 3339 in UTC.
        hash: SHA-256 of all that it says, hexadecimal.
    """

    sequence: int
    previous: str
    time: str
    hash: str = field(default="", kw_only=True)

    @property
    @abstractmethod
    def domain(self) -> bytes:
        """What is hashed before the content, so that no line passes for one of another log."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """All that it says, as plain JSON values, but for the hash."""

    def document(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {**self.body(), "hash": self.hash}

    def line(self) -> bytes:
        """As it stands in the file, its newline included."""
        return canonical(self.document()) + b"\n"

    def seal(self) -> Self:
        """The same with its hash."""
        return replace(self, hash=self._digest())

    @property
    def is_sealed(self) -> bool:
        """Whether the hash is that of the content."""
        return self.hash == self._digest()

    def continues(self, before: Link) -> bool:
        """Whether it is sealed, and the successor of the line before."""
        joined = self.sequence == before[0] + 1 and before[1] in (self.previous, ANY)
        return joined and self.is_sealed

    @property
    def link(self) -> Link:
        """What the next line continues."""
        return self.sequence, self.hash

    def _digest(self) -> str:
        return hashlib.sha256(self.domain + canonical(self.body())).hexdigest()


def canonical(document: Mapping[str, Any]) -> bytes:
    """A document as one line of ASCII without blanks, its fields in the order of their names.

    Raises:
        ValueError: a number in it is not finite.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii")
