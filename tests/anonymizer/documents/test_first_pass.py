"""The first pass: what recognizers find becomes placeholders, everywhere and with one number each."""

from __future__ import annotations

import re

import pytest

from anonymizer.documents.direct.found import Found
from anonymizer.documents.edits import applied
from anonymizer.documents.first_pass import FirstPass
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.text import Document


class Finds:
    """A recognizer of some texts."""

    name = "finds"

    def __init__(self, *found, probability=1.0):
        self.texts, self.probability = found, probability

    def found(self, document, words):
        return tuple(
            Found(*one.span(), kind, self.name, self.probability)
            for text, kind in self.texts
            for one in re.finditer(re.escape(text), document.text)
        )


KINDS = ("PERSON", "CODE", "LOC")


def passed(text, *recognizers, persons=None, kinds=KINDS, language="en", name="a.txt"):
    first = FirstPass(lambda _: recognizers, kinds, 0.5, persons or {})
    return made(first, text, language, name)


def made(first, text, language="en", name="a.txt"):
    document = Document(name, text)
    return applied(text, first(document, tagger_of(text, language).words(text), language))


def test_what_is_found_becomes_a_placeholder():
    finds = Finds(("Mrs Lee", "PERSON"), ("18403/91", "CODE"))
    assert passed("Mrs Lee filed 18403/91.", finds) == "[PERSON 1] filed [CODE 1]."


def test_a_person_has_one_number_with_title_or_without():
    finds = Finds(("Mrs Anna Lee", "PERSON"), ("Mr Kim", "PERSON"), ("Ms Lee", "PERSON"))
    text = "Mrs Anna Lee met Mr Kim. Ms Lee left."
    assert passed(text, finds) == "[PERSON 1] met [PERSON 2]. [PERSON 1] left."


def test_numbers_are_the_same_in_a_whole_folder():
    first = FirstPass(lambda _: [Finds(("Mrs Lee", "PERSON"), ("Mr Kim", "PERSON"))], KINDS, 0.5, {})
    assert made(first, "Mr Kim came.") == "[PERSON 1] came."
    assert made(first, "Mrs Lee saw Mr Kim.", name="b.txt") == "[PERSON 2] saw [PERSON 1]."


def test_a_name_that_a_recognizer_has_overlooked_elsewhere_is_replaced_as_well():
    finds = Finds(("Mrs Anna Lee", "PERSON"))
    assert passed("Mrs Anna Lee came. Then Lee left.", finds) == "[PERSON 1] came. Then [PERSON 1] left."


def test_what_is_less_probable_or_of_another_kind_stays():
    finds = Finds(("Mrs Lee", "PERSON"), probability=0.4)
    assert passed("Mrs Lee came.", finds) == "Mrs Lee came."
    assert passed("To Nicosia.", Finds(("Nicosia", "LOC")), kinds=("PERSON",)) == "To Nicosia."


def test_findings_that_overlap_become_one():
    finds = Finds(("Mr Kim of Seoul", "PERSON"), ("Seoul", "LOC"))
    assert passed("It was Mr Kim of Seoul again.", finds) == "It was [PERSON 1] again."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Jonas Imhof fell.", "[PERSON 1] fell."),
        ("JONAS fell, and imhof's kite.", "[PERSON 1] fell, and [PERSON 1]'s kite."),
        ("Jonástown is far.", "Jonástown is far."),
    ],
)
def test_known_names_are_found_in_any_case_as_whole_words(text, expected):
    found = passed(text, persons={"a.txt": ("Jonas Imhof",)})
    assert re.sub(r"\d", "1", found) == expected


def test_known_names_are_found_where_words_have_no_blanks():
    text = "児童の佐藤陽菜さんが転倒した。陽菜は元気だ。"
    found = passed(text, persons={"a.txt": ("佐藤陽菜",)}, language="ja")
    assert "佐藤陽菜" not in found
    assert "さんが転倒した" in found


def test_names_of_other_documents_are_not_looked_for():
    assert passed("Imhof fell.", persons={"b.txt": ("Jonas Imhof",)}) == "Imhof fell."
