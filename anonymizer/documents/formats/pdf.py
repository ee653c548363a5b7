"""PDF: the text that is in it, which is written as a plain text; nothing else of the file leaves."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Final

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from anonymizer.documents.formats.characters import INVISIBLE, check_not_empty, remove_unseen
from anonymizer.documents.formats.plain import Plain, PlainText
from anonymizer.documents.formats.visibility import Visibility
from anonymizer.errors import FileError, list_names

PAGES: Final = 2_000
CHARACTERS: Final = 10_000_000

_LEFT: Final = (
    "Layout, images, notes, fields of forms, bookmarks, attachments and properties: only the text is written."
)
_LIGATURES: Final = str.maketrans(
    {
        "\ufb00": "ff",
        "\ufb01": "fi",
        "\ufb02": "fl",
        "\ufb03": "ffi",
        "\ufb04": "ffl",
        "\ufb05": "st",
        "\ufb06": "st",
    }
)
_PARTED: Final = re.compile(r"(?<=[^\W\d_])[-\u2010\u00ad]\n(?=[^\W\d_A-Z])")
"""A word that goes on in the next line."""
_BROKEN: Final = (
    *(ArithmeticError, AttributeError, LookupError, MemoryError, OSError),
    *(RuntimeError, TypeError, ValueError),
)


@dataclass(frozen=True, slots=True)
class Pdf:
    """Reads .pdf.

    Attributes:
        pages: at most so many are read.
        characters: at most so many are read.
    """

    pages: int = PAGES
    characters: int = CHARACTERS
    endings: tuple[str, ...] = (".pdf",)

    def open(self, name: str, data: bytes) -> PlainText:
        """Read the text of all pages; words that are parted at the end of a line are joined."""
        if b"%PDF-" not in data[:1024]:
            raise FileError(f"{name} is not a PDF.", "Save it anew as PDF, or give it its right ending.")
        logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it would write parts of the file to the log
        pages, unseen = self._pages(name, data)
        blank = [str(number) for number, page in enumerate(pages, 1) if not page.strip()]
        if len(blank) == len(pages):
            raise FileError(
                f"{name} holds no text, as scanned pages do.",
                "Recognize its text first, for example by ocrmypdf, and look through it.",
            )
        raw = "\n".join(page.strip("\n") for page in pages) + "\n"
        raw = raw.replace("\r\n", "\n").translate(_LIGATURES)
        text = check_not_empty(name, remove_unseen(name, _PARTED.sub("", raw)))
        dropped = [_LEFT]
        if blank:
            dropped.append(f"Pages without text, which may be scanned: {', '.join(blank)}.")
        if len(text) != len(_PARTED.sub("", raw)):
            dropped.append(INVISIBLE)
        noted = []
        if unseen:
            noted.append(
                f"Readers may not see all text of page {list_names(unseen, 'pages')} (it is white, without "
                "ink, or of less than 2 points). It counts as text and leaves with it: look at it in the "
                "report."
            )
        return PlainText(text, ".txt", tuple(dropped), tuple(noted))

    def strings(self, data: bytes) -> Iterator[str]:
        """Everything in a file that was written, which is a plain text."""
        return Plain().strings(data)

    def _pages(self, name: str, data: bytes) -> tuple[list[str], list[str]]:
        """The texts of all pages, and the numbers of those that have text which readers may not see."""
        found: list[str] = []
        unseen: list[str] = []
        try:
            reader = PdfReader(BytesIO(data), strict=False)
            if reader.is_encrypted:
                raise FileError(f"{name} is encrypted.", "Save it without a password and restrictions.")
            count = len(reader.pages)
            if count > self.pages:
                raise FileError(
                    f"{name} has {count:,} pages; {self.pages:,} can be read.", "Split it into several files."
                )
            left = self.characters
            for page in reader.pages:
                seen_by = Visibility()
                found.append(page.extract_text(visitor_operand_before=seen_by.visit))
                if seen_by.unseen:
                    unseen.append(str(len(found)))
                left -= len(found[-1])
                if left < 0:
                    raise FileError(
                        f"{name} holds more than {self.characters:,} characters.",
                        "Split it into several files.",
                    )
        except FileError:
            raise
        except (*_BROKEN, PyPdfError):
            # a damaged file leads pypdf to errors of all kinds, whose texts may hold what is in the file
            raise FileError(
                f"{name} is a broken PDF.", "Open and save it anew by a program that shows it."
            ) from None
        return found, unseen
