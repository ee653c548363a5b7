"""Word documents: body, tables, text boxes, notes, headers and footers, in a file that holds nothing else."""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

import docx
from docx.opc.exceptions import OpcError
from docx.oxml import parse_xml
from lxml import etree

from anonymizer.documents.formats.characters import check_not_empty
from anonymizer.documents.formats.package import (
    CONTENTS,
    DOCUMENT,
    FIXED,
    RELATIONS,
    SETTINGS,
    STYLE_IDS,
    check_parts,
    pack,
)
from anonymizer.documents.formats.pieces import TEXT, Flow, Piece, changes, put, table_spans
from anonymizer.documents.formats.wordml import (
    COMMENTS,
    PICTURES,
    SPACE,
    Cleaning,
    Note,
    R,
    W,
    blank_breaks,
    make_element,
    prune,
)
from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.text import TableSpans
from anonymizer.errors import FileError

_BROKEN: Final = (
    *(
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ),
    *(EOFError, OpcError, etree.LxmlError, zipfile.BadZipFile, zlib.error),
)
_OTHERS: Final[Mapping[str, str]] = {
    r"docProps/.*": "Properties, such as author, company, title and the times of changes.",
    r"word/(comments|people).*": COMMENTS,
    r"customXml/.*": "Data that programs have put into the file (custom XML).",
    r"word/(media|embeddings|charts|diagrams|activeX|ink|drawings)/.*": PICTURES,
    r"word/glossary/.*": "Building blocks.",
    r"word/vba.*": "Macros.",
}
_SETTINGS: Final = "Settings, such as numbers that link editing sessions (rsids)."
_OURS: Final = re.compile(
    rf"{re.escape(CONTENTS)}|_rels/\.rels|word/(_rels/document\.xml\.rels|document\.xml|styles\.xml|settings\.xml"
    r"|(header|footer)[0-9]+\.xml|(footnotes|endnotes)\.xml)"
)
_WORDS: Final = re.compile(
    r"default|first|even|preserve|left|center|right|both|start|end|superscript|subscript|single|page|restart"
    r"|continuous|landscape|auto|TableGrid|rId[0-9]{1,5}|0|709|1134|11906|16838"
    f"|{'|'.join(STYLE_IDS.values())}"
)


@dataclass(frozen=True, slots=True)
class WordFile:
    """A document of allowed elements, and where the pieces of its text are.

    Attributes:
        text: of the body, then of headers and footers, then of foot- and endnotes; a line for each paragraph.
        dropped: what is left out.
        parts: by name, the trees of elements.
        pieces: of the text; elements are counted through all parts.
        even: whether even pages have headers and footers of their own.
    """

    text: str = field(repr=False)
    dropped: tuple[str, ...]
    noted: tuple[str, ...] = field(default=(), init=False)
    parts: Mapping[str, Any] = field(repr=False)
    pieces: tuple[Piece, ...] = field(repr=False)
    tables: tuple[TableSpans, ...] = field(default=(), repr=False)
    even: bool = False
    ending: str = ".docx"

    def apply_edits(self, edits: Sequence[Edit]) -> bytes:
        """The document with edits made."""
        parts = {path: deepcopy(root) for path, root in self.parts.items()}
        nodes = [node for root in parts.values() for node in root.iter()]
        for piece, text in changes(self.text, self.pieces, edits):
            put(nodes, piece, blank_breaks(text))
        prune(nodes)
        return pack({path: _serialize(root) for path, root in parts.items()}, even=self.even)


@dataclass(frozen=True, slots=True)
class WordDocuments:
    """Reads .docx."""

    endings: tuple[str, ...] = (".docx",)

    def open(self, name: str, data: bytes) -> WordFile:
        """Read a document."""
        paths = check_parts(name, data)
        try:
            document = docx.Document(io.BytesIO(data))
            cleaning = Cleaning(name, _styles(document))
            parts = dict(_parts(name, document, cleaning))
            even = bool(document.settings.odd_and_even_pages_header_footer)
        except FileError:
            raise
        except _BROKEN:  # what is in the file leads python-docx to errors of all kinds
            raise FileError(
                f"{name} is a broken Word document, or of a kind that cannot be read.",
                "Open it by a word processor and save it as a Word document (.docx, not the strict kind).",
            ) from None
        said = cleaning.said | {
            why for path in paths for pattern, why in _OTHERS.items() if re.match(pattern, path)
        }
        if SETTINGS in paths and not _is_ours(data, SETTINGS):
            said.add(_SETTINGS)
        flow = _flow(parts)
        return WordFile(
            text=check_not_empty(name, flow.text),
            dropped=tuple(sorted(said)),
            parts=parts,
            pieces=tuple(flow.pieces),
            tables=_tables(parts, flow),
            even=even,
        )

    def strings(self, data: bytes) -> Iterator[str]:
        """All texts, attributes and names in a document that was written."""
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                content = archive.read(info)
                if not _OURS.fullmatch(info.filename):
                    yield info.filename
                if content == FIXED.get(info.filename):
                    continue
                if info.filename in {CONTENTS, RELATIONS}:
                    yield from _targets(content)
                elif info.filename.endswith(".xml"):
                    yield from _strings(etree.fromstring(content, etree.XMLParser(resolve_entities=False)))
                else:
                    yield content.decode("latin-1")


def _styles(document: Any) -> Mapping[str, str]:
    """Of the styles of a document those that are kept, by their names there, which differ by language."""
    found = {}
    for style in document.styles.element.iter(f"{W}style"):
        name = style.find(f"{W}name")
        kept = STYLE_IDS.get("" if name is None else name.get(f"{W}val", "").lower())
        if kept is not None and style.get(f"{W}type") == "paragraph":
            found[style.get(f"{W}styleId")] = kept
    return found


def _parts(name: str, document: Any, cleaning: Cleaning) -> Iterator[tuple[str, Any]]:
    """The parts of a document, built anew."""
    source = _root(name, document.element, "document").find(f"{W}body")
    root = make_element("document")
    body = cleaning.story(etree.SubElement(root, f"{W}body"), source)
    section = source.find(f"{W}sectPr")
    body.append(cleaning.section(make_element("sectPr") if section is None else section))
    yield DOCUMENT, root
    relations = document.part.rels
    for number, relation in enumerate(cleaning.margins, 1):
        element = relations[relation].target_part.element
        word = "hdr" if element.tag == f"{W}hdr" else "ftr"
        margin = cleaning.story(make_element(word), _root(name, element, word))
        if not len(margin):
            margin.append(make_element("p"))
        yield f"word/{'header' if word == 'hdr' else 'footer'}{number}.xml", margin
    for kind in ("footnote", "endnote"):
        if cleaning.notes[kind]:
            part = next(one.target_part for one in relations.values() if one.reltype.endswith(f"/{kind}s"))
            yield f"word/{kind}s.xml", _notes(_root(name, parse_xml(part.blob), f"{kind}s"), kind, cleaning)


def _notes(source: Any, kind: Note, cleaning: Cleaning) -> Any:
    """Foot- or endnotes in the order in which they are named; others are not there."""
    given = {note.get(f"{W}id"): note for note in source.iter(W + kind)}
    root = make_element(f"{kind}s")
    for number in cleaning.notes[kind]:
        note = make_element(kind, id=str(len(root) + 1))
        root.append(note)
        cleaning.story(note, given.get(number, ()))
        if not len(note):
            note.append(make_element("p"))
    return root


def _root(name: str, element: Any, word: str) -> Any:
    """The root of a part, which declares no entities."""
    if element.tag != W + word or element.getroottree().docinfo.internalDTD is not None:
        raise FileError(f"{name} has a part that is not of a Word document.", "Open and save it anew.")
    return element


def _flow(parts: Mapping[str, Any]) -> Flow:
    flow = Flow()
    for number, node in enumerate(node for root in parts.values() for node in root.iter()):
        if node.tag == f"{W}t":
            flow.add(number, TEXT, node.text or "")
        elif node.tag in {f"{W}p", f"{W}br"}:
            flow.separate("\n")
        elif node.tag == f"{W}tab":
            flow.separate("\t")
    return flow


def _tables(parts: Mapping[str, Any], flow: Flow) -> tuple[TableSpans, ...]:
    nodes = [node for root in parts.values() for node in root.iter()]
    numbers = {node: number for number, node in enumerate(nodes)}
    return table_spans(flow, numbers, (_rows(node) for node in nodes if node.tag == f"{W}tbl"))


def _rows(table: Any) -> Iterator[Iterator[tuple[Any, int, int]]]:
    """The cells of a table by rows; those that others cover are there, and empty."""
    for row in table.iterchildren(f"{W}tr"):
        yield ((cell, _width(cell), 1) for cell in row.iterchildren(f"{W}tc"))


def _width(cell: Any) -> int:
    span = cell.find(f"{W}tcPr/{W}gridSpan")
    return 1 if span is None else int(span.get(f"{W}val"))


def _serialize(root: Any) -> bytes:
    data: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True, standalone=True)
    return data


def _is_ours(data: bytes, path: str) -> bool:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(path) == FIXED[path]


def _targets(content: bytes) -> Iterator[str]:
    """What relations and types name beside the parts that every document has."""
    for node in etree.fromstring(content).iter(etree.Element):
        for key in ("Target", "PartName", "Id", "TargetMode"):
            value = node.get(key, "").removeprefix("/")
            if value and not (
                _OURS.fullmatch(value) or _OURS.fullmatch(f"word/{value}") or _WORDS.fullmatch(value)
            ):
                yield value


def _strings(root: Any) -> Iterator[str]:
    """The text of a part, whole where runs part it, and all else that somebody could have written there."""
    shown = []
    for node in root.iter():
        if not isinstance(node.tag, str):
            yield node.text or ""
            continue
        word = node.tag.removeprefix(W)
        shown.append({"p": "\n", "br": "\n", "tab": "\t"}.get(word, ""))
        shown.append((node.text or "") if word == "t" else "")
        if word != "t" and (node.text or "").strip():
            yield node.text
        if (node.tail or "").strip():
            yield node.tail
        if "}" in word:
            yield word
        for key, value in node.attrib.items():
            counted = key == f"{W}id" and word.endswith(("note", "noteReference"))
            spanned = key == f"{W}val" and word == "gridSpan"
            if not (_WORDS.fullmatch(value) or ((counted or spanned) and value.isdecimal())):
                yield value
            if key not in {SPACE, f"{R}id"} and not key.startswith(W):
                yield key
    yield "".join(shown)
