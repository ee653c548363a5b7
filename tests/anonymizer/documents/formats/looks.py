"""What has to hold of every file that a format writes, and the files that tests make."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass

from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from anonymizer.documents.texts.edits import Edit, apply_edits

WORDS = st.text("αβγδεζηθκλμνξπρστφχψω", min_size=5, max_size=8)
"""Words of letters that no markup has, so that they can be searched for in bytes."""


@dataclass
class Marked:
    """A paragraph as words, and where the markup parts each of them."""

    words: list[str]
    cuts: list[int]

    @property
    def parted(self):
        """The halves of all words."""
        return [
            (word[: cut % len(word)], word[cut % len(word) :])
            for word, cut in zip(self.words, self.cuts, strict=True)
        ]


@st.composite
def marked(draw):
    words = draw(st.lists(WORDS, min_size=1, max_size=5))
    return Marked(words, draw(st.lists(st.integers(0, 9), min_size=len(words), max_size=len(words))))


PARAGRAPHS = st.lists(marked(), min_size=1, max_size=4)


def edits_of(text, words, put=""):
    """Edits that replace every occurrence of some words."""
    pattern = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return [Edit(one.start(), one.end(), put, "direct", "PERSON") for one in re.finditer(pattern, text)]


def solid(text):
    """A text without blanks."""
    return "".join(text.split())


def stands(form, opened):
    """Written without edits it is the same text, drops nothing more, and stays as it is byte by byte."""
    data = opened.apply_edits(())
    again = form.open("again" + opened.ending, data)
    assert again.text == opened.text
    assert again.dropped == ()
    assert again.apply_edits(()) == data


def gone(form, opened, edits, words):
    """Written with edits it is the edited text, and nothing of the words is in the bytes."""
    data = opened.apply_edits(edits)
    expected = solid(apply_edits(opened.text, edits))
    if expected:
        again = form.open("again" + opened.ending, data)
        assert solid(again.text) == expected
        assert again.apply_edits(()) == data
    for member in members(data):
        for word in words:
            assert word not in member
    for found in form.strings(data):
        for word in words:
            assert word not in found


def members(data):
    """The bytes of a file as texts, of a ZIP archive those of its members, with and without markup."""
    if not data.startswith(b"PK"):
        text = data.decode("utf-8")
        return [text, re.sub("<[^>]*>", "", text)]
    found = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            text = archive.read(info).decode("utf-8")
            found += [info.filename, text, re.sub("<[^>]*>", "", text)]
    return found


def pdf(pages, password=None, title=""):
    """A PDF whose pages have these lines."""
    writer = PdfWriter()
    kind, sub, base = (NameObject(one) for one in ("/Font", "/Type1", "/Helvetica"))
    names = {NameObject("/Type"): kind, NameObject("/Subtype"): sub, NameObject("/BaseFont"): base}
    fonts = DictionaryObject({NameObject("/F1"): DictionaryObject(names)})
    for lines in pages:
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        stream = DecodedStreamObject()
        shown = [f"({line}) Tj 0 -14 Td" for line in lines]
        stream.set_data("\n".join(["BT /F1 12 Tf 50 800 Td", *shown, "ET"]).encode("latin-1"))
        page[NameObject("/Contents")] = stream
    if title:
        writer.add_metadata({"/Title": title, "/Author": title})
    if password is not None:
        writer.encrypt(password)
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()
