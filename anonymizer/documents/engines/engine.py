"""What every search engine gives: for some words the first documents that it knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Protocol

from anonymizer.errors import AnonymizerError

RESULTS: Final = 10
"""#List of section 6.1.2: what a browser shows at one time."""


class EngineError(AnonymizerError):
    """A search engine did not answer, or not as it should; an attack by it has then not been made."""

    code = "engine"


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found.

    Attributes:
        name: its path or address.
        text: of it, or the part that the engine shows.
    """

    name: str
    text: str = field(repr=False)


class Engine(Protocol):
    """What an attacker searches with."""

    @property
    def name(self) -> str:
        """What people read, such as "the folder web/" or an address without its credentials."""
        ...

    @property
    def leaks(self) -> bool:
        """Whether the words of a search leave the machine."""
        ...

    @property
    def digest(self) -> str:
        """Of all that it searches; where that is not known, as with servers, of what it is called."""
        ...

    def search(self, keywords: tuple[str, ...], limit: int = RESULTS) -> tuple[Hit, ...]:
        """The first documents that hold all keywords, best first.

        Args:
            keywords: one to five words, as they are written in the document.
            limit: at most so many hits.

        Raises:
            EngineError: it cannot be reached, answers too slowly, or with something else than hits.
        """
        ...
