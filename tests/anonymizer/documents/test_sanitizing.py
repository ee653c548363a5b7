"""The loop of attacks and replacements: it ends with no attack that succeeds, and takes no other word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.engines.engine import EngineError
from anonymizer.documents.generalization.chain import Generalized
from anonymizer.documents.sanitization.sanitizing import Success, sanitize
from anonymizer.documents.texts.edits import Edit
from anonymizer.documents.texts.text import Document, Word
from anonymizer.errors import UnreachableError

TEXT = "The applicant lived in Kyrenia until 1974 and then in Nicosia with three dogs"
CASE = Document("case.txt", TEXT)


def words(text):
    found = re.finditer(r"\w+", text)
    return tuple(Word(one[0], one[0].lower(), "noun", one.start(), one.end()) for one in found)


class Steps:
    """Replaces a word by the next of its steps, and at last by a placeholder."""

    def __init__(self, **steps):
        self.steps = steps

    def general(self, words, at, language, forbidden=()):
        text = self.steps.get(words[at].lemma, "[...]")
        return Generalized(at, at + 1, text, "deletion" if text == "[...]" else "hypernym")


def leading(*sets):
    """An attack that succeeds by all words of one of some sets."""

    def attack(words):
        there = {word.lemma for word in words}
        return [Success(tuple(one), "news.txt") for one in sets if there.issuperset(one)]

    return attack


def test_only_words_that_carried_an_attack_are_replaced():
    made = sanitize(CASE, (), words, leading({"kyrenia"}), Steps(kyrenia="Cyprus"))
    assert made.text == TEXT.replace("Kyrenia", "Cyprus")
    assert made.risk_words == ("kyrenia",)
    assert not made.left


def compounds(text):
    found = re.finditer(r"[\w-]+", text)
    return tuple(Word(one[0], one[0].lower(), "noun", one.start(), one.end()) for one in found)


def test_a_risk_word_does_not_stay_as_a_part_of_another():
    case = Document(
        "case.txt", "The first judge of the First-instance court, a Kyrenia-born man, first of all"
    )
    made = sanitize(case, (), compounds, leading({"first"}), Steps())
    assert made.text == "The [...] judge of the [...] court, a Kyrenia-born man, [...] of all"
    start = case.text.index("First-instance")
    made = sanitize(case, (), compounds, leading({"first"}), Steps(), kept=[(start, start + 14)])
    assert made.text == "The [...] judge of the First-instance court, a Kyrenia-born man, [...] of all"


def test_a_generalization_that_still_leads_to_the_person_is_generalized_again():
    made = sanitize(CASE, (), words, leading({"kyrenia"}, {"cyprus"}), Steps(kyrenia="Cyprus"))
    assert made.text == TEXT.replace("Kyrenia", "[...]")
    assert [one.words for one in made.rounds] == [("kyrenia",), ("cyprus",)]
    assert [one.span for one in made.edits] == [(23, 30)]


def test_of_searches_that_succeed_the_smallest_say_which_words_carry():
    attack = leading({"kyrenia"}, {"kyrenia", "dogs"}, {"1974", "nicosia"})
    made = sanitize(CASE, (), words, attack, Steps())
    assert made.risk_words == ("1974", "kyrenia", "nicosia")
    assert "dogs" in made.text


def test_words_of_placeholders_are_not_searched_for():
    hidden = Edit(23, 30, "[Kyrenia 1]", "direct", "LOC")
    made = sanitize(CASE, (hidden,), words, leading({"kyrenia"}), Steps())
    assert made.edits == (hidden,)


def test_a_document_that_nobody_finds_stays_as_it_is():
    made = sanitize(CASE, (), words, leading(), Steps())
    assert made.text == TEXT
    assert made.rounds == ()


def test_a_word_that_was_kept_stays_and_what_it_leads_to_is_said():
    made = sanitize(CASE, (), words, leading({"kyrenia"}, {"1974"}), Steps(), kept=[(23, 30)])
    assert made.text == TEXT.replace("1974", "[...]")
    assert [one.keywords for one in made.left] == [("kyrenia",)]


def test_of_a_search_with_a_kept_word_the_others_are_replaced():
    made = sanitize(CASE, (), words, leading({"kyrenia", "1974"}), Steps(), kept=[(23, 30)])
    assert made.text == TEXT.replace("1974", "[...]")
    assert not made.left


def test_a_search_that_fails_leaves_nothing_sanitized():
    def attack(words):
        raise EngineError("The engine does not answer.", "Try later.")

    with pytest.raises(EngineError):
        sanitize(CASE, (), words, attack, Steps())


def test_an_attack_that_succeeds_by_words_that_are_not_there_ends_in_an_error():
    def attack(words):
        return [Success(("elsewhere",), "news.txt")]

    with pytest.raises(UnreachableError, match=r"case\.txt"):
        sanitize(CASE, (), words, attack, Steps())


@given(st.lists(st.sets(st.sampled_from(["applicant", "kyrenia", "1974", "nicosia", "dogs"]), min_size=1)))
def test_no_attack_succeeds_on_what_is_left(sets):
    attack = leading(*sets)
    made = sanitize(CASE, (), words, attack, Steps(kyrenia="Cyprus", nicosia="Cyprus"))
    left = list(words(made.text))
    assert not attack(left)
    risky = set().union(*sets)
    kept = {word.lemma for word in words(TEXT)} - risky
    assert kept <= {word.lemma for word in left}
