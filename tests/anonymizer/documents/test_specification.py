"""Specifications of sanitizations: what they say, and what is wrong with them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from anonymizer.documents import specification
from anonymizer.documents.direct.registry import STANDARD
from anonymizer.documents.specification import AttackOptions, parse_sanitization, read_sanitization
from anonymizer.documents.texts.decisions import Decision
from anonymizer.errors import FileError, SpecError


def parsed(text):
    return parse_sanitization(tomllib.loads(text), Path("folder"), "s.toml")


def test_nothing_need_be_said():
    spec = parsed("")
    assert spec.attack == AttackOptions(keywords=3, results=10, threshold=4, informative=20)
    assert spec.language == "auto"
    assert spec.direct.recognizers == STANDARD
    assert spec.names is None
    assert spec.web is None


def test_the_documented_example_is_read():
    example = specification.__doc__.split("\n\n", 1)[1]
    spec = parsed(example)
    assert spec.names == Path("folder/names.csv")
    assert spec.web == {"kind": "folder", "path": "folder/news"}
    assert spec.wordnet == Path("/usr/share/wordnet")
    assert spec.decisions == (
        Decision("case-1.txt", (120, 127), "the court's seat, known of all cases"),
        Decision("case-2.txt", None, "she is the only notary there", "an official", "Notary"),
    )


def test_the_digest_covers_every_entry():
    assert parsed("[attack]\nkeywords = 2").digest != parsed("[attack]\nkeywords = 1").digest


KEEP = "[[keep]]\ndocument = 'a.txt'\nstart = 3\nend = 5\nwhy = 'known'\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("attac = 1", "unknown key 'attac'"),
        ("title = 3", "title is not a text"),
        ("language = 'nl'", "'nl' is not a language that can be read"),
        ("languages = { 'a.txt' = 'nl' }", "'a.txt' is in 'nl', which cannot be read"),
        ("names = 'n.csv'", "names is not a table"),
        ("[names]\ntable = 3", "table is not a path"),
        ("[attack]\nkeyword = 3", "unknown key 'keyword'"),
        ("[attack]\nkeywords = 6", "keywords = 6 is out of range"),
        ("[attack]\nkeywords = 0", "keywords = 0 is out of range"),
        ("[attack]\nkeywords = true", "is not a whole number"),
        ("[attack]\nthreshold = 21", "threshold = 21 is out of range"),
        ("[attack]\nresults = 2.5", "is not a whole number"),
        ("[direct]\nthreshold = 0", "threshold = 0 is out of range"),
        ("[direct]\nthreshold = 'high'", "is out of range"),
        ("[direct]\nrecognizers = ['bert']", "'bert' is not one of recognizers"),
        ("[direct]\nkinds = 'PERSON'", "is not a list of words"),
        ("[generalize]\nmethods = ['places', 'llm']", "'llm' is not one of methods"),
        ("[labels]\ntable = 'l.csv'", "needs both table and keywords"),
        ("[labels]\ntable = 'l.csv'\nkeywords = { fatal = 6 }", "6 keywords (|KW|) of the label 'fatal'"),
        ("[labels]\ntable = 'l.csv'\nkeywords = { fatal = '3' }", "is not a whole number"),
        ("keep = 3", "keep is not a list"),
        ("keep = [3]", "is not a table"),
        (KEEP.replace("why = 'known'\n", ""), "lacks why"),
        (KEEP.replace("'known'", "' '"), "has no reason"),
        (KEEP.replace("end = 5", "end = 3"), "from character 3 to 3 there are no characters"),
        (KEEP.replace("start = 3", "start = '3'"), "is not a whole number"),
        (KEEP + "text = 'x'", "unknown key 'text'"),
        (KEEP + "word = 'x'", "a word as well as start or end"),
        ("[[hide]]\ndocument = 'a.txt'\nword = ' '\nwhy = 'known'", "has an empty word"),
        ('[web]\nkind = "folder"\npath = "\\u0000x"', "path is not a path"),
    ],
)
def test_wrong_entries_are_named(text, words):
    with pytest.raises(SpecError, match=re.escape(words)) as found:
        parsed(text)
    assert found.value.hint
    assert "s.toml" in found.value.what


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        read_sanitization(tmp_path / "s.toml")


def test_what_is_hidden_without_a_text_becomes_a_placeholder():
    (one,) = parsed(KEEP.replace("keep", "hide")).decisions
    assert one.text == "[...]"
