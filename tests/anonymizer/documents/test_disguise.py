"""Texts without disguises, and the places of their characters in the originals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.direct.lexicon import Lexicon
from anonymizer.documents.direct.rules import Rules
from anonymizer.documents.first_pass import FirstPass
from anonymizer.documents.languages.detect import tagger_of
from anonymizer.documents.texts.disguise import bones, skeleton, undisguise
from anonymizer.documents.texts.edits import apply_edits
from anonymizer.documents.texts.text import Document


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Wiggles-\nworth", "Wigglesworth"),
        ("Smith-\nJones", "Smith-Jones"),
        ("2024-\n118", "2024-118"),
        ("W i g g l e s", "Wiggles"),
        ("J a n e D o e", "Jane Doe"),
        ("J a n e   D o e, a nurse", "Jane Doe, a nurse"),
        ("J.a.n.e", "Jane"),
        ("Wig\u200bgles\u00adworth", "Wigglesworth"),
        ("Сhаrlotte", "Charlotte"),
        ("Ｊａｎｅ　Ｄｏｅ", "Jane Doe"),
        ("０９０－１２３４", "090-1234"),
        ("ﾔﾏﾀﾞ", "ヤマダ"),
        ("Bjo\u0308rn", "Björn"),
        ("Wi1liam Oyelaran 0yelaran", "William Oyelaran Oyelaran"),
        ("wiggIes", "wiggles"),
        ("2O24-ll8-OO731", "2024-118-00731"),
        ("3 Novernber", "3 November"),
        ("被告人鰐 淵 善 三 郎は", "被告人鰐淵善三郎は"),
        ("カ夕カナ", "カタカナ"),
        ("An~~na~~ **Bro**wn 2**3", "Anna~~ **Brown 2**3"),
    ],
)
def test_a_disguise_is_taken_off(text: str, plain: str) -> None:
    assert undisguise(text).text == plain


@pytest.mark.parametrize(
    "text",
    [
        "He was born on 1 May 1990 in York, aged 3.",
        "U.S.A. and A. B. Smith, p. 5",
        "CO2, H2O, covid19, B12, 20th, m²",
        "grades A B C",
        "Москва и Анна",
        "AB10 XYZ",
        "山田 太郎 さん",
        "well-known and twenty-one",
        "the 1980s at 10:30",
    ],
)
def test_what_is_not_disguised_stays(text: str) -> None:
    assert undisguise(text).text == text


def test_places_lead_to_the_original() -> None:
    text = "Mr W i g g l e s, and Ｊａｎｅ\u200b Doe"
    plain = undisguise(text)
    first = plain.text.index("Wiggles")
    assert text[slice(*plain.span(first, first + 7))] == "W i g g l e s"
    second = plain.text.index("Jane")
    assert text[slice(*plain.span(second, second + 8))] == "Ｊａｎｅ\u200b Doe"


@given(st.text(st.sampled_from("aB1 0lO-\n.\u200bа　Ａ鰐郎カ力rnm"), max_size=60))
def test_every_character_has_a_place_in_order(text: str) -> None:
    plain = undisguise(text)
    assert len(plain.text) == len(plain.starts) == len(plain.ends)
    assert all(0 <= start < end <= len(text) for start, end in zip(plain.starts, plain.ends, strict=True))
    assert list(plain.starts) == sorted(plain.starts)
    assert list(plain.ends) == sorted(plain.ends)


@pytest.mark.parametrize(
    "unit", ["a ", "a-\n", "0l", "A.", "郎 ", "\u200b", "Аa", "rn", "1 ", "a  ", "ｶﾞ", "a**"]
)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    """The time limit of pytest ends a search that backtracks; a linear one needs about a second."""
    text = (unit * 100_000)[:100_000]
    assert len(undisguise(text).text) <= len(text)


def test_confused_words_have_the_same_bones() -> None:
    assert bones("Sherman") == bones("Sherrnan")
    assert skeleton("ILLINGWORTH") == skeleton("1llingworth")
    assert bones("Tom") != bones("Torn")
    assert bones("2024") == "2024"


def test_the_first_pass_hides_a_disguised_name_in_the_original() -> None:
    text = "We saw Mr B\u200bar\u200bnaby W i g g l e s w o r t h today. Then he, Wigglesworth, left."
    first = FirstPass(lambda _: (Rules("en"), Lexicon.of("en")), ("PERSON", "MISC"), 0.15, {})
    edits = first(Document("a.txt", text), tagger_of(text, "en").words(text), "en")
    assert apply_edits(text, edits) == "We saw [PERSON 1] today. Then he, [PERSON 1], left."
