"""WordprocessingML: what is kept of the parts of a Word document.

Parts are built anew from a few elements, whose attributes have a few values each. What has no place in these
is left out, so that nothing is in a part but its text and a fixed markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from lxml import etree

from anonymizer.documents.formats.characters import INVISIBLE, remove_unseen
from anonymizer.documents.formats.package import margin_id
from anonymizer.errors import FileError

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
SPACE: Final = "{http://www.w3.org/XML/1998/namespace}space"
NAMESPACES: Final = {"w": W[1:-1], "r": R[1:-1]}

DELETED: Final = "Texts that tracked changes have deleted or moved away; those that they have added are kept."
PICTURES: Final = "Images, drawings, charts and embedded files; texts of text boxes become paragraphs."
LINKS: Final = "Addresses of links, and names of bookmarks and fields; what they show is kept as text."
HIDDEN: Final = "Texts that are formatted as hidden."
NUMBERS: Final = "Numbers and bullets of lists, which are not written in the text."
FORMULAS: Final = "Formulas."
READINGS: Final = "Readings beside characters (ruby)."
SYMBOLS: Final = "Characters of symbol fonts."
CHUNKS: Final = "Documents that are imported when the file is opened."
COMMENTS: Final = "Comments."

_DEEPEST: Final = 60
_BLANK: Final = re.compile("[\t\n\r\f]+")
_OFF: Final = frozenset({"0", "false", "off", "none"})
_SWITCHES: Final = ("b", "i", "strike")
_JUSTIFIED: Final = frozenset({"left", "center", "right", "both", "start", "end"})
_RAISED: Final = frozenset({"superscript", "subscript"})
_GONE: Final[Mapping[str, str]] = {
    f"{W}del": DELETED,
    f"{W}moveFrom": DELETED,
    f"{W}altChunk": CHUNKS,
    f"{W}subDoc": CHUNKS,
    f"{_M}oMath": FORMULAS,
    f"{_M}oMathPara": FORMULAS,
    f"{W}sym": SYMBOLS,
    f"{W}rt": READINGS,
    f"{W}commentReference": COMMENTS,
}
_SILENT: Final = frozenset(
    W + word
    for word in (
        *("pPr", "rPr", "tblPr", "tblGrid", "trPr", "tcPr", "sdtPr", "sdtEndPr", "customXmlPr", "smartTagPr"),
        *("rubyPr", "fldData", "ffData", "instrText", "delText", "delInstrText", "softHyphen", "sectPr"),
        *("bookmarkStart", "bookmarkEnd", "lastRenderedPageBreak", "proofErr"),
    )
)
_DRAWN: Final = frozenset({f"{W}drawing", f"{W}pict", f"{W}object"})

Note = Literal["footnote", "endnote"]


def make_element(tag: str, **values: str) -> Any:
    """An element of WordprocessingML with attributes of the same namespace."""
    element = etree.Element(W + tag, nsmap=NAMESPACES)
    for key, value in values.items():
        element.set(W + key, value)
    return element


@dataclass(slots=True)
class Cleaning:
    """Copies what is allowed, and notes what is left out.

    Attributes:
        name: of the document, for messages.
        styles: of paragraphs that are kept, by the names that the document has for them.
        said: what was left out, a sentence each.
        notes: the original numbers of foot- and endnotes, in the order in which they are named.
        margins: the original relations of headers and footers, with their new ones.
    """

    name: str
    styles: Mapping[str, str]
    said: set[str] = field(default_factory=set)
    notes: dict[Note, list[str]] = field(default_factory=lambda: {"footnote": [], "endnote": []})
    margins: dict[str, str] = field(default_factory=dict)
    _fields: list[str] = field(default_factory=list)
    _boxes: list[Any] = field(default_factory=list)

    def story(self, target: Any, source: Any) -> Any:
        """Fill a part, or a note, by the paragraphs and tables of another."""
        self._fields.clear()
        self._blocks(target, source, 0)
        return target

    def _blocks(self, target: Any, source: Any, depth: int) -> None:
        if depth > _DEEPEST:
            raise FileError(f"{self.name} is nested deeper than {_DEEPEST} levels.", "Simplify its tables.")
        for child in self._children(source):
            if child.tag == f"{W}p":
                self._paragraph(target, child, depth)
            elif child.tag == f"{W}tbl":
                self._table(target, child, depth)
            elif child.tag == f"{W}r":
                self._paragraph(target, source, depth)  # runs outside of a paragraph stay readable
                return
            else:
                self._blocks(target, child, depth + 1)

    def _children(self, source: Any) -> Iterator[Any]:
        """The children that people read; of alternatives the first."""
        for child in source:
            if not isinstance(child.tag, str) or child.tag in _SILENT:
                continue
            if child.tag in _GONE:
                self.said.add(_GONE[child.tag])
            elif child.tag == f"{_MC}AlternateContent":
                yield from self._children(next(iter(child), ()))
            else:
                yield child

    def _paragraph(self, target: Any, source: Any, depth: int) -> None:
        paragraph = etree.SubElement(target, f"{W}p")
        given = source.find(f"{W}pPr")
        if given is not None:
            self._paragraph_marks(paragraph, given)
        self._inline(paragraph, source, depth)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self._blocks(target, box, depth + 1)

    def _paragraph_marks(self, paragraph: Any, given: Any) -> None:
        marks = make_element("pPr")
        style = self.styles.get(_value(given, "pStyle"))
        if style is not None:
            marks.append(make_element("pStyle", val=style))
        if given.find(f"{W}pageBreakBefore") is not None and _value(given, "pageBreakBefore") not in _OFF:
            marks.append(make_element("pageBreakBefore"))
        if given.find(f"{W}numPr") is not None:
            self.said.add(NUMBERS)
        if _value(given, "jc") in _JUSTIFIED:
            marks.append(make_element("jc", val=_value(given, "jc")))
        section = given.find(f"{W}sectPr")
        if section is not None:
            marks.append(self.section(section))
        if len(marks):
            paragraph.append(marks)

    def _inline(self, paragraph: Any, source: Any, depth: int) -> None:
        if depth > _DEEPEST:
            raise FileError(f"{self.name} is nested deeper than {_DEEPEST} levels.", "Simplify it.")
        for child in self._children(source):
            if child.tag == f"{W}r":
                self._run(paragraph, child, depth)
            elif child.tag in _DRAWN:
                self._note_picture(child)
            else:
                if child.tag in {f"{W}hyperlink", f"{W}fldSimple"}:
                    self.said.add(LINKS)
                self._inline(paragraph, child, depth + 1)

    def _run(self, paragraph: Any, source: Any, depth: int) -> None:
        given = source.find(f"{W}rPr")
        hidden = (
            given is not None and given.find(f"{W}vanish") is not None and _value(given, "vanish") not in _OFF
        )
        run = make_element("r")
        if given is not None:
            self._run_marks(run, given)
        least = len(run)
        for child in self._children(source):
            self._in_run(run, paragraph, child, depth, hidden=hidden)
        if len(run) > least:
            paragraph.append(run)

    @staticmethod
    def _run_marks(run: Any, given: Any) -> None:
        marks = make_element("rPr")
        for word in _SWITCHES:
            if given.find(W + word) is not None and _value(given, word) not in _OFF:
                marks.append(make_element(word))
        if given.find(f"{W}u") is not None and _value(given, "u") not in _OFF:
            marks.append(make_element("u", val="single"))
        if _value(given, "vertAlign") in _RAISED:
            marks.append(make_element("vertAlign", val=_value(given, "vertAlign")))
        if len(marks):
            run.append(marks)

    def _in_run(self, run: Any, paragraph: Any, child: Any, depth: int, *, hidden: bool) -> None:
        word = child.tag.removeprefix(W)
        if word == "fldChar":
            self._field(child.get(f"{W}fldCharType"))
        elif child.tag in _DRAWN:
            self._note_picture(child)
        elif word == "ruby":
            self.said.add(READINGS)
            for base in child.iter(f"{W}rubyBase"):
                self._inline(paragraph, base, depth + 1)
        elif "code" in self._fields:
            return  # an instruction, which people do not see
        elif hidden:
            self.said.add(HIDDEN)
        elif word == "t":
            self._text(run, _text_shown(child))
        elif word == "noBreakHyphen":
            self._text(run, "-")
        elif word in {"tab", "ptab"}:
            run.append(make_element("tab"))
        elif word in {"br", "cr"}:
            page = child.get(f"{W}type") == "page"
            run.append(make_element("br", type="page") if page else make_element("br"))
        elif word in {"footnoteReference", "endnoteReference"}:
            self._note(run, child, "footnote" if word == "footnoteReference" else "endnote")
        elif word in {"footnoteRef", "endnoteRef"}:
            run.append(make_element(word))

    def _text(self, run: Any, text: str) -> None:
        clean = remove_unseen(self.name, text)
        if clean != text:
            self.said.add(INVISIBLE)
        if not clean:
            return
        if len(run) and run[-1].tag == f"{W}t":
            run[-1].text += clean
            return
        place = etree.SubElement(run, f"{W}t")
        place.set(SPACE, "preserve")
        place.text = clean

    def _field(self, kind: str | None) -> None:
        self.said.add(LINKS)
        if kind == "begin":
            self._fields.append("code")
        elif kind == "separate" and self._fields:
            self._fields[-1] = "result"
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _note_picture(self, source: Any) -> None:
        self.said.add(PICTURES)
        self._boxes += _outermost(source)

    def _note(self, run: Any, child: Any, kind: Note) -> None:
        number = child.get(f"{W}id") or ""
        if number not in self.notes[kind]:
            self.notes[kind].append(number)
            run.append(make_element(f"{kind}Reference", id=str(len(self.notes[kind]))))

    def _table(self, target: Any, source: Any, depth: int) -> None:
        table = etree.SubElement(target, f"{W}tbl")
        marks = etree.SubElement(table, f"{W}tblPr")
        marks.append(make_element("tblStyle", val="TableGrid"))
        marks.append(make_element("tblW", w="0", type="auto"))
        grid = etree.SubElement(table, f"{W}tblGrid")
        widest = 0
        for row in self._within(source, "tr"):
            kept = make_element("tr")
            width = sum(self._cell(kept, cell, depth) for cell in self._within(row, "tc"))
            if width:
                table.append(kept)
                widest = max(widest, width)
        for _ in range(widest):
            grid.append(make_element("gridCol"))
        if not widest:
            target.remove(table)

    def _within(self, source: Any, word: str, depth: int = 0) -> Iterator[Any]:
        """The rows of a table or cells of a row, also inside of content controls."""
        for child in self._children(source):
            if child.tag == W + word:
                if not self._is_lost(child):
                    yield child
            elif depth < _DEEPEST:
                yield from self._within(child, word, depth + 1)

    def _is_lost(self, part: Any) -> bool:
        """Whether a row or cell was deleted or is hidden."""
        for path, why in (("trPr/del", DELETED), ("tcPr/cellDel", DELETED), ("trPr/hidden", HIDDEN)):
            if part.find("/".join(W + word for word in path.split("/"))) is not None:
                self.said.add(why)
                return True
        return False

    def _cell(self, row: Any, source: Any, depth: int) -> int:
        cell = etree.SubElement(row, f"{W}tc")
        given, marks, span = source.find(f"{W}tcPr"), make_element("tcPr"), "1"
        if given is not None:
            if re.fullmatch("[2-9]|[1-5][0-9]", _value(given, "gridSpan")):
                span = _value(given, "gridSpan")
                marks.append(make_element("gridSpan", val=span))
            if given.find(f"{W}vMerge") is not None:
                restart = _value(given, "vMerge") == "restart"
                marks.append(make_element("vMerge", val="restart") if restart else make_element("vMerge"))
        if len(marks):
            cell.append(marks)
        self._blocks(cell, source, depth + 1)
        if not len(cell) or cell[-1].tag != f"{W}p":
            etree.SubElement(cell, f"{W}p")
        return int(span)

    def section(self, given: Any) -> Any:
        """The marks of a section: its headers and footers, one of two sizes of page."""
        section = make_element("sectPr")
        for kind in ("header", "footer"):
            for use in ("default", "first", "even"):
                for one in given.iter(f"{W}{kind}Reference"):
                    if one.get(f"{W}type", "default") == use:
                        relation = one.get(f"{R}id") or ""
                        fresh = self.margins.setdefault(relation, margin_id(len(self.margins) + 1))
                        reference = make_element(f"{kind}Reference", type=use)
                        reference.set(f"{R}id", fresh)
                        section.append(reference)
                        break
        if _value(given, "type") == "continuous":
            section.append(make_element("type", val="continuous"))
        size = given.find(f"{W}pgSz")
        wide = size is not None and size.get(f"{W}orient") == "landscape"
        section.append(
            make_element("pgSz", w="16838", h="11906", orient="landscape")
            if wide
            else make_element("pgSz", w="11906", h="16838")
        )
        sides = dict.fromkeys(("top", "right", "bottom", "left"), "1134")
        section.append(make_element("pgMar", **sides, header="709", footer="709", gutter="0"))
        if given.find(f"{W}titlePg") is not None and _value(given, "titlePg") not in _OFF:
            section.append(make_element("titlePg"))
        return section


def prune(nodes: Iterable[Any]) -> None:
    """Take away texts and runs of which nothing is left."""
    for node in list(nodes):
        if node.tag == f"{W}t" and not node.text:
            run = node.getparent()
            run.remove(node)
            if all(one.tag == f"{W}rPr" for one in run):
                run.getparent().remove(run)


def blank_breaks(text: str) -> str:
    """A text as it can stand in one place: without tabs and line breaks, which are elements."""
    return _BLANK.sub(" ", text)


def _text_shown(node: Any) -> str:
    """What Word shows of an element of text."""
    text = blank_breaks(node.text or "")
    return text if node.get(SPACE) == "preserve" else text.strip(" ")


def _value(marks: Any, word: str) -> str:
    found = marks.find(W + word)
    return "" if found is None else found.get(f"{W}val") or ""


def _outermost(source: Any) -> Iterator[Any]:
    """The text boxes in a drawing; of alternatives only the first has them once."""
    for child in source:
        if child.tag == f"{W}txbxContent":
            yield child
        elif child.tag == f"{_MC}AlternateContent":
            yield from _outermost(next(iter(child), ()))
        else:
            yield from _outermost(child)
