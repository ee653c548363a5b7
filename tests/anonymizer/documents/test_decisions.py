"""Decisions of the person who reviews: where they apply, and which cannot be."""

from __future__ import annotations

import pytest

from anonymizer.documents.texts.decisions import Decision, places
from anonymizer.documents.texts.text import Document
from anonymizer.errors import TableError

DOCUMENTS = (Document("a.txt", "a notary and a notary"), Document("b.txt", "none"))


def keep(start, end, document="a.txt"):
    return Decision(document, (start, end), "known")


def hide(word, document="a.txt"):
    return Decision(document, None, "rare", "[...]", word)


def test_a_word_is_meant_wherever_it_stands():
    assert [one.span for one in places([hide("notary")], DOCUMENTS)["a.txt"]] == [(2, 8), (15, 21)]


def test_places_are_by_document_and_in_their_order():
    found = places([keep(9, 12), keep(0, 1), keep(0, 2, "b.txt")], DOCUMENTS)
    assert [one.span for one in found["a.txt"]] == [(0, 1), (9, 12)]
    assert [one.span for one in found["b.txt"]] == [(0, 2)]


@pytest.mark.parametrize(
    ("decisions", "words"),
    [
        ([keep(0, 1, "c.txt")], "'c.txt', which is not among"),
        ([keep(3, 22)], "ends at character 22; the text has 21"),
        ([hide("baker")], "does not stand in a.txt"),
        ([keep(0, 3), hide("notary")], r"both about character 2"),
        ([keep(0, 5), keep(4, 9)], "both about character 4"),
    ],
)
def test_decisions_that_cannot_be_are_refused(decisions, words):
    with pytest.raises(TableError, match=words) as found:
        places(decisions, DOCUMENTS)
    assert found.value.hint
    assert "baker" not in str(found.value)
