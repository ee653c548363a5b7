"""What a release is for, as the table `[purpose]` of its specification says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Final, Self

from anonymizer.errors import SpecError
from anonymizer.schema.documents import table_of
from commons.settings.marks import Wrong
from commons.settings.reader import read_declared

MOST_LETTERS: Final = 500
"""So long may an entry be: it has to fit on the page that is signed."""

_JOINERS: Final = "\u200c\u200d"
"""Signs that scripts such as Persian and Hindi are written with."""
_EXAMPLE: Final = 'Write, for example, legal_basis = "Art. 89 GDPR, ethics vote 12/2025".'
Entry = Annotated[str, Wrong("is not a text", _EXAMPLE)]


@dataclass(frozen=True, slots=True)
class Purpose:
    """What who signs has to know. All of it is optional: an entry that is "" is not stated.

    Attributes:
        purpose: what the release is for.
        legal_basis: on which it rests.
        responsible: the person who answers for it.
        recipient: who gets it.

    Raises:
        SpecError: an entry is longer than `MOST_LETTERS`, or has letters that a page does not show.
    """

    purpose: Entry = ""
    legal_basis: Entry = ""
    responsible: Entry = ""
    recipient: Entry = ""

    def __post_init__(self) -> None:
        for key, given in self.to_mapping().items():
            text = " ".join(given.split())
            object.__setattr__(self, key, text)
            if len(text) > MOST_LETTERS:
                raise SpecError(
                    f"The {key} has {len(text)} letters.",
                    f"Say it in {MOST_LETTERS} at most, and name the document that says more.",
                )
            # A page that is signed must show what it says: no sign that turns or hides letters.
            hidden = [letter for letter in text if not letter.isprintable() and letter not in _JOINERS]
            if hidden:
                raise SpecError(
                    f"The {key} has a letter that no page shows, U+{ord(hidden[0]):04X}.", "Take it out."
                )

    @classmethod
    def from_mapping(cls, document: Mapping[str, Any], place: str) -> Self:
        """Read the table `[purpose]` of a specification or of a manifest.

        Raises:
            SpecError: a key is unknown, a value is not a text, or one is too long.
        """
        return read_declared(cls, table_of(document, place))

    def to_mapping(self) -> dict[str, str]:
        """The same as plain values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}
