"""The file of a Word document: a ZIP archive of parts, read within bounds and written from a fixed list."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from typing import Final

from anonymizer.errors import FileError

MEMBERS: Final = 10_000
BYTES: Final = 256 << 20
"""So many parts a document may have, and so many bytes all of them unpacked."""

CONTENTS: Final = "[Content_Types].xml"
DOCUMENT: Final = "word/document.xml"
RELATIONS: Final = "word/_rels/document.xml.rels"
STYLES: Final = "word/styles.xml"
SETTINGS: Final = "word/settings.xml"

_HEAD: Final = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE: Final = "http://schemas.openxmlformats.org/package/2006"
_TYPE: Final = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_W: Final = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OLD: Final = b"\xd0\xcf\x11\xe0"

STYLE_IDS: Final[Mapping[str, str]] = {
    "title": "Title",
    "subtitle": "Subtitle",
    **{f"heading {level}": f"Heading{level}" for level in range(1, 7)},
    "quote": "Quote",
    "caption": "Caption",
    "list paragraph": "ListParagraph",
}
"""The styles of paragraphs that are kept, by their names in lower case."""


def _style(number: int, name: str, word: str) -> str:
    """A style of paragraphs; titles and headings are bold, and the larger the higher they are."""
    size = {"title": 40, "heading 1": 32, "heading 2": 28}.get(name, 24)
    marks = f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr>' if number < 8 else "<w:rPr><w:i/></w:rPr>"
    level = f'<w:outlineLvl w:val="{int(name[-1]) - 1}"/>' if name.startswith("heading") else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{word}"><w:name w:val="{name}"/><w:basedOn w:val="Normal"/>'
        f"<w:pPr>{level}</w:pPr>{'' if word == 'ListParagraph' else marks}</w:style>"
    )


_BORDERS: Final = "".join(
    f'<w:{side} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
    for side in ("top", "left", "bottom", "right", "insideH", "insideV")
)

FIXED: Final[Mapping[str, bytes]] = {
    "_rels/.rels": (
        f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="{DOCUMENT}"/></Relationships>'
    ).encode(),
    STYLES: (
        f'{_HEAD}<w:styles {_W}><w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name '
        'w:val="Normal"/></w:style><w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/>'
        f"<w:tblPr><w:tblBorders>{_BORDERS}</w:tblBorders></w:tblPr></w:style>"
        f"{''.join(_style(number, *one) for number, one in enumerate(STYLE_IDS.items()))}</w:styles>"
    ).encode(),
    SETTINGS: f"{_HEAD}<w:settings {_W}><w:evenAndOddHeaders/></w:settings>".encode(),
}
"""Parts that are the same in every document that is written."""


def check_parts(name: str, data: bytes) -> frozenset[str]:
    """The names of the parts of a document that is small enough to be read.

    Raises:
        FileError: it is not a ZIP archive, is encrypted or of another kind, or has too many or too large
            parts.
    """
    if data.startswith(_OLD):
        raise FileError(
            f"{name} is encrypted, or of an old kind of Word.", "Save it as .docx without a password."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MEMBERS or sum(one.file_size for one in members) > BYTES:
                raise FileError(
                    f"{name} has more than {MEMBERS:,} parts, or than {BYTES:,} bytes when unpacked.",
                    "Split it, or take its images out.",
                )
            names = [one.filename for one in members]
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, EOFError):
        raise FileError(f"{name} is not a Word document, or broken.", "Open and save it anew.") from None
    if len(set(names)) < len(names):
        raise FileError(f"{name} has two parts of one name.", "Open and save it anew.")
    return frozenset(names)


def pack(parts: Mapping[str, bytes], *, even: bool) -> bytes:
    """A document of parts; the same parts always give the same bytes.

    Args:
        parts: by name: the document, and below `word/` headers, footers, footnotes and endnotes.
        even: whether even pages have headers and footers of their own.
    """
    fixed = {path: content for path, content in FIXED.items() if even or path != SETTINGS}
    more = {RELATIONS: _relations(parts, even=even)}
    members = {CONTENTS: _contents([*parts, *fixed]), **fixed, **more, **parts}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in members.items():
            info = zipfile.ZipInfo(path)  # of 1980, since the time of writing is nobody's business
            info.create_system = 0
            info.external_attr = 0
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return file.getvalue()


def _kind(path: str) -> str:
    """What kind of part it is, by its name."""
    word = path.removeprefix("word/").removesuffix(".xml").rstrip("0123456789")
    return {"document": "document.main"}.get(word, word)


def _contents(paths: Iterable[str]) -> bytes:
    types = "".join(
        f'<Override PartName="/{path}" ContentType="{_TYPE}.{_kind(path)}+xml"/>'
        for path in sorted(paths)
        if path.endswith(".xml")
    )
    return (
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
        f'"application/vnd.openxmlformats-package.relationships+xml"/>{types}</Types>'
    ).encode()


def _relations(parts: Iterable[str], *, even: bool) -> bytes:
    """The relations of the document: headers and footers by their numbers, other parts before them."""
    found = {"rId1": STYLES, **({"rId2": SETTINGS} if even else {})}
    for path in parts:
        kind = _kind(path)
        if kind in {"header", "footer"}:
            found[margin_id(int(path.removeprefix(f"word/{kind}").removesuffix(".xml")))] = path
        elif kind in {"footnotes", "endnotes"}:
            found["rId3" if kind == "footnotes" else "rId4"] = path
    entries = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{_kind(path)}" Target="{path.removeprefix("word/")}"/>'
        for key, path in found.items()
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{entries}</Relationships>'.encode()


def margin_id(number: int) -> str:
    """The relation of a header or footer, counted from 1."""
    return f"rId{number + 10}"
