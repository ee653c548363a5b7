"""Web pages: what people read of them, and a page that holds nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree, html

from anonymizer.documents.formats.characters import (
    INVISIBLE,
    check_not_empty,
    decode,
    known_encoding,
    remove_unseen,
)
from anonymizer.documents.formats.pieces import TAIL, TEXT, Flow, Piece, changes, put, table_spans
from anonymizer.documents.formats.tags import (
    BLOCKS,
    FIXED,
    GONE,
    INLINE,
    MARKS,
    READ,
    READ_OF,
    TYPES,
    VOID,
    WORDS,
)
from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.text import TableSpans
from anonymizer.errors import FileError

_DEEPEST: Final = 200
_LARGEST: Final = 16 << 20
_ROUNDS: Final = 8
_BLANK: Final = re.compile("[ \t\n\r\f]+")
_META: Final = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{2,40})""", re.I)
_XML: Final = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_:.-]{2,40})""")
_HEAD: Final = 4096
_HIDING: Final = re.compile(r"(display\s*:\s*none|visibility\s*:\s*hidden)", re.I)
_KEEPING: Final = frozenset({"pre", "textarea"})
_KNOWN: Final = INLINE | BLOCKS | {"html", "head", "body", "title", "meta"}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of allowed elements and attributes, and where the pieces of its text are."""

    text: str = field(repr=False)
    dropped: tuple[str, ...]
    noted: tuple[str, ...] = field(default=(), init=False)
    root: Any = field(repr=False)
    pieces: tuple[Piece, ...] = field(repr=False)
    tables: tuple[TableSpans, ...] = field(default=(), repr=False)
    ending: str = ".html"

    def apply_edits(self, edits: Sequence[Edit]) -> bytes:
        """The page with edits made, as UTF-8."""
        root = deepcopy(self.root)
        nodes = list(root.iter())
        for piece, text in changes(self.text, self.pieces, edits):
            put(nodes, piece, text)
        return _serialize(_steady("page", _serialize(root).decode("utf-8"), set())[0])


@dataclass(frozen=True, slots=True)
class Web:
    """Reads .html and .htm.

    Attributes:
        encoding: of pages that are not UTF-8 and do not name their own.
    """

    encoding: str = ""
    endings: tuple[str, ...] = (".html", ".htm")

    def open(self, name: str, data: bytes) -> Page:
        """Read a page."""
        if len(data) > _LARGEST:
            raise FileError(f"{name} is larger than {_LARGEST:,} bytes.", "Split it into several pages.")
        raw = decode(name, data, _declared_encoding(name, data) or self.encoding)
        page = check_not_empty(name, remove_unseen(name, raw))
        said = {INVISIBLE} if page != raw else set()
        root, flow = _steady(name, page, said)
        text = check_not_empty(name, flow.text)
        numbers = {node: number for number, node in enumerate(root.iter())}
        tables = table_spans(flow, numbers, map(_rows, root.iter("table")))
        return Page(text, tuple(sorted(said)), root, tuple(flow.pieces), tables)

    def strings(self, data: bytes) -> Iterator[str]:
        """All texts, attributes and comments of a page that was written."""
        tree = _parse("page", data.decode("utf-8"))
        shown = []
        for event, node in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
            if event in {"comment", "pi"}:
                yield node.text or ""
                shown.append(node.tail or "")
                continue
            mark = "" if node.tag in INLINE else "\n"
            shown += [mark, (node.text if event == "start" else node.tail) or ""]
            shown += [mark] if event == "start" and not len(node) else []
        yield "".join(shown)
        for node in tree.iter(etree.Element):
            if node.tag not in _KNOWN:
                yield str(node.tag)
            read = (*READ, *READ_OF.get(node.tag, ()))
            for key, value in node.attrib.items():
                if key not in FIXED or not FIXED[key].fullmatch(value):
                    yield value if key in read else f"{key} {value}"


class _Cleaning:
    """Copies what is allowed of a page, and notes what is left out."""

    def __init__(self, name: str, said: set[str]) -> None:
        self.name = name
        self.said = said
        self._texts: list[str] = []
        """What follows in the current element and is not yet written there."""

    def page(self, tree: Any) -> Any:
        """The page of allowed elements."""
        root = etree.Element("html")
        head = etree.SubElement(root, "head")
        etree.SubElement(head, "meta", charset="utf-8")
        language = str(tree.get("lang") or "")[:2].lower()
        if WORDS["lang"].fullmatch(language):
            root.set("lang", language)
        described = next((one for one in tree.iter("meta") if _describes(one)), None)
        if described is not None:
            etree.SubElement(head, "meta", name="description", content=_collapse(described.get("content")))
        title = next(
            (one for one in tree.iter("title") if one.getparent().tag in {"head", "html", "body"}), None
        )
        words = "" if title is None else _collapse(title.text)
        if words:
            etree.SubElement(head, "title").text = words
        body = etree.SubElement(root, "body")
        for part in tree:
            if part.tag == "body":
                self._fill(body, part, 0)
                self._write(body)
                continue
            for node in part.iter():
                if node is not described and node is not title and node.get("charset") is None:
                    self._leave(node)
        return root

    def _leave(self, node: Any) -> None:
        """Say that an element of the head is left out."""
        if not isinstance(node.tag, str):
            self.said.add("Comments.")
        elif node.tag in GONE:
            self.said.add(GONE[node.tag])

    def _fill(self, target: Any, source: Any, depth: int) -> None:
        """Copy what is in an element, without itself."""
        if depth > _DEEPEST:
            raise FileError(f"{self.name} is nested deeper than {_DEEPEST} elements.", "Simplify the page.")
        self._texts.append(source.text or "")
        for child in source:
            if isinstance(child.tag, str):
                self._child(target, child, depth)
            else:
                self.said.add("Comments.")
            self._texts.append(child.tail or "")

    def _child(self, target: Any, child: Any, depth: int) -> None:
        why = _left_out(child)
        if why:
            self.said.add(why)
            return
        read = (*READ, *READ_OF.get(child.tag, ()))
        if not set(child.attrib) <= {*WORDS, *MARKS, *read}:
            self.said.add("Addresses, targets, identifiers, styles, event handlers and data of elements.")
        if child.tag not in INLINE and child.tag not in BLOCKS:
            self._fill(target, child, depth + 1)
            return
        self._write(target)
        kept = etree.SubElement(target, child.tag)
        for key in read:
            value = _collapse(child.get(key) or "")
            if value:
                kept.set(key, value)
        for key, words in WORDS.items():
            value = (child.get(key) or "").strip().lower()
            if words.fullmatch(value):
                kept.set(key, value)
        if child.tag not in VOID:
            self._fill(kept, child, depth + 1)
            self._write(kept)

    def _write(self, target: Any) -> None:
        """Write texts behind all that is in an element."""
        text = "".join(self._texts)
        self._texts.clear()
        last = next(target.iterchildren(reversed=True), None)
        if last is None:
            target.text = (target.text or "") + text or None
        else:
            last.tail = (last.tail or "") + text or None


def _left_out(child: Any) -> str:
    """Why an element is left out with all that is in it; "" if it is not."""
    if child.tag in GONE:
        return GONE[child.tag]
    if child.tag == "input" and (child.get("type") or "text").strip().lower() not in TYPES:
        return "Fields of forms that hold no text, or hide it."
    if child.get("hidden") is not None or _HIDING.search(child.get("style") or ""):
        return "Elements that are hidden."
    return ""


def _describes(node: Any) -> bool:
    named = (node.get("name") or "").strip().lower() == "description"
    return named and bool((node.get("content") or "").strip())


def _collapse(text: str | None) -> str:
    return _BLANK.sub(" ", text or "").strip(" ")


def _remove_unseen(root: Any) -> None:
    """Take characters away that nobody sees, wherever they are in a page."""
    for node in root.iter():
        node.text = remove_unseen("page", node.text or "") or None
        node.tail = remove_unseen("page", node.tail or "") or None
        for key, value in node.attrib.items():
            node.set(key, remove_unseen("page", value))


def _steady(name: str, page: str, said: set[str]) -> tuple[Any, Flow]:
    """A page and its text, so that written and read again it is the same.

    What is nested in an impossible way, the parser puts elsewhere; it may need a few rounds until all rests.

    Args:
        name: of the page.
        page: its markup.
        said: what is left out; grows.
    """
    for _ in range(_ROUNDS):
        try:
            cleaning = _Cleaning(name, said)
            root = cleaning.page(_parse(name, page))
        except ValueError:
            raise FileError(
                f"{name} holds control characters that are written as entities.", "Take them out."
            ) from None
        flow = _flow(root)
        if (
            remove_unseen(name, flow.text) != flow.text
        ):  # written as entities, which the parser has made characters of
            _remove_unseen(root)
            said.add(INVISIBLE)
            flow = _flow(root)
        before, page = page, _serialize(root).decode("utf-8")
        if page == before:
            return root, flow
        said = set()  # what is left out of our own markup was not in the file
    raise FileError(f"{name} has elements that cannot be nested as they are.", "Simplify the page.")


def _rows(table: Any) -> Iterator[Iterator[tuple[Any, int, int]]]:
    """The cells of a table by rows, without those of tables in it."""
    for row in table.iter("tr"):
        if next(row.iterancestors("table")) is table:
            cells = (one for one in row if one.tag in {"td", "th"})
            yield ((one, int(one.get("colspan", "1")), int(one.get("rowspan", "1"))) for one in cells)


def _serialize(root: Any) -> bytes:
    page: bytes = html.tostring(root, encoding="utf-8", doctype="<!DOCTYPE html>")
    return page + b"\n"


def _flow(root: Any) -> Flow:
    """The text of a page: title and description, then the body, then what attributes say, a line each.

    Runs of blanks become one, as on the screen; the page is changed likewise.
    """
    flow = Flow()
    numbers = {node: number for number, node in enumerate(root.iter())}
    head, body = root
    for node in head:
        if node.tag == "title":
            flow.add(numbers[node], TEXT, node.text or "")
        elif node.get("content"):
            flow.add(numbers[node], "content", node.get("content"))
        flow.separate()
    _Reading(flow, numbers).block(body)
    for node in body.iter():
        for key in (*READ, *READ_OF.get(node.tag, ())):
            flow.separate()
            flow.add(numbers[node], key, node.get(key) or "")
    return flow


class _Reading:
    """Walks through a body as a reader does."""

    def __init__(self, flow: Flow, numbers: dict[Any, int]) -> None:
        self._flow = flow
        self._numbers = numbers
        self._open: list[tuple[Any, str, str]] = []
        """The texts of the current line: the element, the place, the text."""

    def block(self, body: Any) -> None:
        """Read a body to its end."""
        self._inside(body, keep=False)
        self._line()

    def _inside(self, node: Any, *, keep: bool) -> None:
        keep = keep or node.tag in _KEEPING
        self._text(node, TEXT, keep=keep)
        for child in node:
            breaks = child.tag in BLOCKS
            if breaks:
                self._line()
            self._inside(child, keep=keep)
            if breaks:
                self._line()
            self._text(child, TAIL, keep=keep)

    def _text(self, node: Any, place: str, *, keep: bool) -> None:
        text = getattr(node, place) or ""
        if keep:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
            text = text.lstrip("\n") if place == TEXT and node.tag in _KEEPING else text
        else:
            text = _BLANK.sub(" ", text)
            if text.startswith(" ") and (not self._open or self._open[-1][2][-1:] in " \n"):
                text = text[1:]
        setattr(node, place, text or None)
        if text:
            self._open.append((node, place, text))

    def _line(self) -> None:
        """End a line: a blank at its end is not seen."""
        while self._open:
            node, place, text = self._open[-1]
            kept = text.rstrip(" \n")
            if kept == text:
                break
            setattr(node, place, kept or None)
            self._open.pop()
            if kept:
                self._open.append((node, place, kept))
                break
        for node, place, text in self._open:
            self._flow.add(self._numbers[node], place, text)
        self._open.clear()
        self._flow.separate()


def _parse(name: str, page: str) -> Any:
    parser = html.HTMLParser(encoding="utf-8", no_network=True)
    try:
        tree = html.document_fromstring(page.encode("utf-8"), parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        raise FileError(f"{name} is not a web page.", "Save it anew, or as plain text.") from None
    return tree


def _declared_encoding(name: str, data: bytes) -> str:
    """The encoding that a page says it is of."""
    found = _XML.search(data[:_HEAD]) or _META.search(data[:_HEAD])
    if found is None:
        return ""
    word = found.group(1).decode("ascii")
    try:
        return known_encoding(word)
    except FileError as problem:
        raise FileError(f"{name} says that {problem.what}", "Correct its meta element.") from None
