"""What must not stand in a sanitized document any more."""

from __future__ import annotations

from anonymizer.documents.sanitization.sanitizing import Sanitized, Success
from anonymizer.documents.sanitization.treated import Treated
from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.text import Document

TEXT = "Anna is 60 and lives in Nicosia, in house 1974. After 60 days she came home in a Lada."


def treated(edits, left=()):
    return Treated(Sanitized(Document("a.txt", TEXT), tuple(edits), (), tuple(left)), "en", 0)


def edit(word, text, cause):
    start = TEXT.index(word)
    return Edit(start, start + len(word), text, cause, "KIND")


def test_what_was_hidden_must_not_stand_and_what_is_said_less_exactly_may():
    edits = [
        edit("Anna", "[PERSON 1]", "direct"),
        edit("Nicosia", "a town", "attack"),
        edit("Lada", "", "attack"),
    ]
    assert treated(edits).terms == {"Anna", "Lada"}


def test_an_age_that_was_hidden_may_stand_elsewhere_as_a_number():
    edits = [edit("60", "[DEM 1]", "direct"), edit("1974", "[CODE 1]", "direct")]
    assert treated(edits).terms == {"1974"}
    assert treated([edit("60", "", "attack")]).terms == {"60"}


def test_what_a_person_kept_may_stand():
    edits = [edit("Lada", "[...]", "attack")]
    assert treated(edits, [Success(("lada",), "news.txt")]).terms == frozenset()
