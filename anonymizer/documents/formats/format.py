"""What every format gives: the text that people read, and the file again with edits made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.text import TableSpans


class Opened(Protocol):
    """A file of a format, read."""

    @property
    def text(self) -> str:
        """All that people can read in it, in one text; edits are about its characters."""
        ...

    @property
    def tables(self) -> tuple[TableSpans, ...]:
        """Where the cells of its tables stand in the text; empty if the format has no tables."""
        ...

    @property
    def ending(self) -> str:
        """Of the file that `apply_edits` makes, such as ".docx"; a format may be written as another one."""
        ...

    @property
    def dropped(self) -> tuple[str, ...]:
        """What `apply_edits` leaves out since no edit can reach it, a sentence each."""
        ...

    @property
    def noted(self) -> tuple[str, ...]:
        """What to know of the text itself, a sentence each, such as that readers may not see all of it."""
        ...

    def apply_edits(self, edits: Sequence[Edit]) -> bytes:
        """The file with edits made, and without anything that is not in `text`.

        What is written can be read again, with the edited text; blanks and line breaks may differ, since
        those between two blocks or paragraphs stay also where an edit covers them. It then drops nothing,
        and written without edits it has the same bytes. So nothing is in it but its text and a fixed markup.

        Args:
            edits: without overlaps, in their order.

        Raises:
            TableError: an edit is not inside the text, writes control characters, or covers nothing but
                line breaks between blocks.
        """
        ...


class Format(Protocol):
    """Reads files of one kind."""

    @property
    def endings(self) -> tuple[str, ...]:
        """Of its files, in lower case with the dot."""
        ...

    def open(self, name: str, data: bytes) -> Opened:
        """Read a file.

        Args:
            name: of the file, for messages.
            data: its bytes.

        Raises:
            FileError: it is not of the kind, broken, encrypted, empty of text, or larger than can be read.
        """
        ...

    def strings(self, data: bytes) -> Iterator[str]:
        """All texts in the bytes of a file that was written: what people read, and what they do not.

        These are contents, values of attributes, comments, names of parts; in each, words are whole however
        the markup parts them. Words of the fixed markup are left out. It reads the bytes by itself, and so
        finds what `Opened` has overlooked.
        """
        ...
