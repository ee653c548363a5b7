"""Findings of the gate that a specification accepts, each with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final, Self

from anonymizer.errors import SpecError
from anonymizer.schema.documents import table_of
from commons.errors import near
from commons.settings.marks import Wrong
from commons.settings.reader import read_declared

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
    "uncovered",
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

    finding: Annotated[str, Wrong("is not a text", _EXAMPLE)]
    column: Annotated[str, Wrong("is not a text", _EXAMPLE)] = ""
    why: Annotated[str, Wrong("is not a text", _EXAMPLE)] = ""

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
        return read_declared(cls, table_of(document, place))

    def to_mapping(self) -> dict[str, str]:
        """The same as plain values."""
        return {"finding": self.finding, "column": self.column, "why": self.why}
