"""All formats, by the endings of their files."""

from __future__ import annotations

from pathlib import PurePath

from anonymizer.documents.formats.format import Format
from anonymizer.documents.formats.pdf import Pdf
from anonymizer.documents.formats.plain import Plain
from anonymizer.documents.formats.web import Web
from anonymizer.documents.formats.word import WordDocuments
from anonymizer.errors import FileError


def formats(encoding: str = "") -> tuple[Format, ...]:
    """All of them.

    Args:
        encoding: of texts and pages that are not UTF-8 and do not say what they are.
    """
    return Plain(encoding), Web(encoding), WordDocuments(), Pdf()


def format_of(path: str | PurePath, encoding: str = "") -> Format:
    """The format of a file, by the ending of its name.

    Raises:
        FileError: there is none for the ending.
    """
    name = PurePath(path).name
    known = formats(encoding)
    for one in known:
        if name.lower().endswith(one.endings):
            return one
    endings = ", ".join(ending for one in known for ending in one.endings)
    raise FileError(
        f"{name} is not of a known kind.", f"Convert it to one of {endings}, or take it out of the folder."
    )
