"""Plain texts and Markdown: all that is in the file is its text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from anonymizer.documents.formats.characters import (
    INVISIBLE,
    check_not_empty,
    decode,
    remove_unseen,
    writable,
)
from anonymizer.documents.texts.edits import Edit, apply_edits
from anonymizer.documents.texts.text import TableSpans


@dataclass(frozen=True, slots=True)
class PlainText:
    """A text that is a file by itself, written as UTF-8 without a mark; newlines stay as they are."""

    text: str = field(repr=False)
    ending: str = ".txt"
    dropped: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    tables: tuple[TableSpans, ...] = field(default=(), init=False)

    def apply_edits(self, edits: Sequence[Edit]) -> bytes:
        """The file with edits made."""
        for edit in edits:
            writable(edit.text)
        return apply_edits(self.text, edits).encode("utf-8")


@dataclass(frozen=True, slots=True)
class Plain:
    """Reads .txt and .md.

    Attributes:
        encoding: of files that are neither UTF-8 nor have a byte order mark; "" refuses these.
    """

    encoding: str = ""
    endings: tuple[str, ...] = (".txt", ".md")

    def open(self, name: str, data: bytes) -> PlainText:
        """Read a file."""
        raw = decode(name, data, self.encoding)
        text = check_not_empty(name, remove_unseen(name, raw))
        ending = ".md" if name.lower().endswith(".md") else ".txt"
        return PlainText(text, ending, (INVISIBLE,) if text != raw else ())

    def strings(self, data: bytes) -> Iterator[str]:
        """Everything in a file that was written."""
        yield data.decode("utf-8")
