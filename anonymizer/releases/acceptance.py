"""Findings of the gate that a specification accepts, each with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from anonymizer.errors import SpecError
from commons.errors import near

ACCEPTABLE: Final = (
    "roles",
    "unchanged",
    "narrow",
    "new-column",
    "image",
    "identifying",
    "named-like-identifier",
    "disguise",
    "together",
    "kept",
)
"""The rules whose findings may be right: somebody who knows the data has to say so. The others never are.
`kept` is of documents: what a person left in one although it was found."""

_EXAMPLE: Final = 'Write { finding = "identifying", column = "sample", why = "drawn for this release" }.'


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A finding that is accepted.

    Attributes:
        finding: its rule, one of `ACCEPTABLE`.
        column: the column or the step that it is about; "" for one about the whole release.
        why: the reason, a sentence; it goes into the manifest.

    Raises:
        SpecError: the rule is not one of these, or there is no reason.
    """

    finding: str
    column: str
    why: str

    def __post_init__(self) -> None:
        if self.finding not in ACCEPTABLE:
            raise SpecError(
                f"The finding {self.finding!r} cannot be accepted.", near(self.finding, ACCEPTABLE)
            )
        if not self.why.strip():
            raise SpecError(f"The finding {self.finding!r} is accepted without a reason.", _EXAMPLE)

    @classmethod
    def from_mapping(cls, document: Any, place: str) -> Self:
        """Read an entry of `accept` of a specification or a manifest.

        Raises:
            SpecError: a key is unknown or missing, or a value is not a text.
        """
        if not isinstance(document, Mapping):
            raise SpecError(f"{place} is not a table.", _EXAMPLE)
        for key in document:
            if key not in cls.__slots__:
                raise SpecError(f"{place} has an unknown key {key!r}.", near(str(key), cls.__slots__))
        entries = {"column": "", **document}
        for key in cls.__slots__:
            if not isinstance(entries.get(key), str):
                raise SpecError(f"{place} has no text for {key!r}.", _EXAMPLE)
        return cls(**entries)

    def to_mapping(self) -> dict[str, str]:
        """The same as plain values."""
        return {"finding": self.finding, "column": self.column, "why": self.why}
