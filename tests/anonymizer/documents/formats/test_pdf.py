"""PDF: the text layer, and files without one."""

from __future__ import annotations

import pytest

from anonymizer.documents.formats.pdf import Pdf
from anonymizer.documents.formats.plain import Plain
from anonymizer.errors import FileError
from tests.anonymizer.documents.formats.looks import edits_of, gone, pdf, stands


def test_the_text_is_read_and_written_as_a_plain_text():
    one = Pdf().open("a.pdf", pdf([["Anna lived here", "since 1974."], ["She left."]], title="Xanthippe"))
    assert " ".join(one.text.split()) == "Anna lived here since 1974. She left."
    assert one.ending == ".txt"
    assert "properties" in one.dropped[0]
    stands(Plain(), one)
    gone(Plain(), one, edits_of(one.text, ["Anna"]), ["Anna", "Xanthippe"])


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["in Nico-", "sia"], "in Nicosia"),
        (["of 1974-", "1980"], "of 1974-\n1980"),
        (["the -", "dash"], "the -\ndash"),
        (["Smith-", "Jones"], "Smith-\nJones"),
    ],
)
def test_words_that_are_parted_at_the_end_of_a_line_are_joined(lines, text):
    assert Pdf().open("a.pdf", pdf([lines])).text.strip() == text


def test_pages_without_text_are_said():
    one = Pdf().open("a.pdf", pdf([["Anna"], [], ["Bob"], []]))
    assert one.dropped[1].endswith("scanned: 2, 4.")


@pytest.mark.parametrize("password", ["", "open sesame"])
def test_an_encrypted_file_is_refused(password):
    with pytest.raises(FileError, match=r"encrypted.*without a password"):
        Pdf().open("a.pdf", pdf([["Anna"]], password))


def test_a_file_of_scanned_pages_is_refused():
    with pytest.raises(FileError, match=r"holds no text, as scanned pages do.*Recognize"):
        Pdf().open("a.pdf", pdf([[], []]))


@pytest.mark.parametrize("length", range(20, 1000, 61))
def test_a_broken_file_is_an_error_of_ours(length):
    data = pdf([["Anna lived here"]])
    try:
        Pdf().open("a.pdf", data[:length])
    except FileError as problem:
        assert "Anna" not in str(problem)  # noqa: PT017


@pytest.mark.parametrize("data", [b"", b"no PDF at all", b"%PDF-1.7\n%%EOF"])
def test_what_is_not_a_pdf_is_refused(data):
    with pytest.raises(FileError, match=r"not a PDF|broken PDF"):
        Pdf().open("a.pdf", data)


def test_pages_and_characters_are_bounded():
    data = pdf([["Anna"]] * 3)
    with pytest.raises(FileError, match="has 3 pages; 2 can be read"):
        Pdf(pages=2).open("a.pdf", data)
    with pytest.raises(FileError, match="more than 7 characters"):
        Pdf(characters=7).open("a.pdf", data)


@pytest.mark.parametrize(
    ("operators", "unseen"),
    [
        ("0 g", False),
        ("1 g", True),
        ("1 1 1 rg", True),
        ("1 0 0 rg", False),
        ("0 0 0 0 k", True),
        ("0 0 0 1 k", False),
        ("3 Tr", True),
        ("/F1 1 Tf", True),
        ("0.1 0 0 0.1 50 700 Tm", True),
        ("q 1 g Q", False),
        ("1 g 0 g", False),
        ("/Pattern cs /P1 scn", False),
    ],
)
def test_text_that_readers_do_not_see_counts_and_is_said(operators, unseen):
    page = ["Bob stayed.", f") Tj {operators} (of Nicosia"]
    one = Pdf().open("a.pdf", pdf([["Anna lived here."], page]))
    assert "Nicosia" in one.text
    assert bool(one.noted) is unseen
    if unseen:
        assert one.noted[0].startswith("Readers may not see all text of page 2 (")
