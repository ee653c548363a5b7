"""What every format gives: the text that people read, and the file again with edits made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from anonymizer.documents.edits import Edit


class Opened(Protocol):
    """A file of a format, read."""

    @property
    def text(self) -> str:
        """All that people can read in it, in one text; edits are about its characters."""
        ...

    @property
    def ending(self) -> str:
        """Of the file that `written` makes, such as ".docx"; a format may be written as another one."""
        ...

    @property
    def dropped(self) -> tuple[str, ...]:
        """What `written` leaves out since no edit can reach it, a sentence each."""
        ...

    def written(self, edits: Sequence[Edit]) -> bytes:
        """The file with edits made, and without anything that is not in `text`.

        Args:
            edits: without overlaps, in their order.

        Raises:
            TableError: an edit is not inside the text.
        """
        ...


class Format(Protocol):
    """Reads files of one kind."""

    endings: tuple[str, ...]

    def opened(self, name: str, data: bytes) -> Opened:
        """Read a file.

        Args:
            name: of the file, for messages.
            data: its bytes.

        Raises:
            FileError: it is not of the kind, broken, encrypted, empty of text, or larger than can be read.
        """
        ...
