"""Plain texts: encodings, controls, newlines, and the registry of formats."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.formats.registry import format_of
from anonymizer.documents.texts.edits import Edit
from anonymizer.errors import FileError, TableError
from tests.anonymizer.documents.formats.looks import edits_of, gone, stands

TEXT = "Zoë lives in 東京.\r\nSince 1974.\n"


def opened(data, encoding="", name="a.txt"):
    return format_of(name, encoding).open(name, data)


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        codecs.BOM_UTF8 + TEXT.encode(),
        codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"),
        codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"),
    ],
)
def test_unicode_is_read_and_written_as_utf_8_with_its_newlines(data):
    one = opened(data)
    assert one.text == TEXT
    assert one.apply_edits(()) == TEXT.encode()
    assert one.dropped == ()


@pytest.mark.parametrize(("encoding", "text"), [("cp1252", "Zoë"), ("shift_jis", "東京"), ("euc_jp", "東京")])
def test_another_encoding_is_read_where_it_is_declared_and_only_there(encoding, text):
    data = text.encode(encoding)
    with pytest.raises(FileError, match=r"not UTF-8: byte \d.*Declare its encoding"):
        opened(data)
    assert opened(data, encoding).text == text
    assert opened(text.encode(), encoding).text == text  # files of both kinds lie in one folder


@pytest.mark.parametrize("encoding", ["iso2022_jp", "utf-16-le"])
def test_encodings_that_look_like_utf_8_with_controls_can_be_declared(encoding):
    data = "東京に住む".encode(encoding)
    with pytest.raises(FileError, match=r"control character|not UTF-8"):
        opened(data)
    assert opened(data, encoding).text == "東京に住む"


@pytest.mark.parametrize(
    "encoding", ["rot13", "base64", "unicode_escape", "utf-7", "punycode", "no-such", "a\0b"]
)
def test_what_is_not_an_encoding_of_texts_is_refused(encoding):
    with pytest.raises(FileError, match="is not an encoding of texts"):
        opened(b"\xff", encoding)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"ab\xff", ""),
        (codecs.BOM_UTF8 + b"\xff", "cp1252"),
        (codecs.BOM_UTF16_LE + b"a", ""),
        (b"\x81", "cp1252"),
    ],
)
def test_broken_bytes_are_refused_and_not_replaced(data, encoding):
    with pytest.raises(FileError, match=r"byte \d+ cannot be read"):
        opened(data, encoding)


@pytest.mark.parametrize("character", ["\0", "\x1b", "\x07", "\x7f", "\x85"])
def test_control_characters_are_refused_with_their_line(character):
    with pytest.raises(FileError, match=rf"U\+{ord(character):04X} in line 2"):
        opened(f"one\ntwo{character}".encode())


@pytest.mark.parametrize("data", [b"", b" \r\n\t", codecs.BOM_UTF8, "\u200b\u00ad".encode()])
def test_a_file_without_text_is_refused(data):
    with pytest.raises(FileError, match="holds no text"):
        opened(data)


@pytest.mark.parametrize("inside", ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u202e", "\U000e0041"])
def test_invisible_characters_do_not_part_a_word(inside):
    one = opened(f"Nico{inside}sia".encode())
    assert one.text == "Nicosia"
    assert one.apply_edits(()) == b"Nicosia"
    assert "Invisible" in one.dropped[0]


def test_markdown_stays_markdown():
    assert opened(b"# A", name="B.MD").ending == ".md"
    assert opened(b"# A", name="B.TXT").ending == ".txt"


@pytest.mark.parametrize("put", ["a\0", "\u200b", "\ud800"])
def test_an_edit_cannot_write_what_could_not_be_read(put):
    with pytest.raises(TableError, match="control or invisible"):
        opened(b"Anna").apply_edits([Edit(0, 4, put, "direct", "PERSON")])


@pytest.mark.parametrize("name", ["a.exe", "txt", "a", ".txt.zip", "a.doc"])
def test_an_unknown_ending_is_an_error_that_names_the_known_ones(name):
    with pytest.raises(FileError, match=r"\.txt, \.md, \.html"):
        format_of(name)


@given(st.text(min_size=1).filter(str.strip))
def test_any_text_is_refused_or_stays(text):
    try:
        one = opened(text.encode("utf-8", "surrogatepass"))
    except FileError:
        return
    stands(format_of("a.txt"), one)


@given(st.lists(st.sampled_from(["Anna", "Bob", "\n", " ", "東京", "\r\n"]), min_size=1).map("".join))
def test_edited_words_are_nowhere(text):
    if text.strip():
        one = opened((text + ".").encode())
        gone(format_of("a.txt"), one, edits_of(one.text, ["Anna", "東京"], "x"), ["Anna", "東京"])
