"""Texts as searches compare them."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.texts.text import fold


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("NÚÑEZ", "nunez"),
        ("Ｔｏｋｙｏ", "tokyo"),
        ("ｶﾞｷ", "ガキ"),
        ("か\u3099", "が"),
        ("Straße", "STRASSE"),
        ("ΣΑΣ", "σας"),
        ("①", "1"),
        ("ﬁne", "fine"),
    ],
)
def test_differences_that_searches_pass_over(text, same):
    assert fold(text) == fold(same)


@pytest.mark.parametrize(("text", "other"), [("か", "が"), ("は", "ぱ"), ("a", "æ"), ("東", "京")])
def test_differences_that_stay(text, other):
    assert fold(text) != fold(other)


@given(st.text())
def test_what_is_folded_stays(text):
    assert fold(fold(text)) == fold(text)


def test_characters_that_nobody_sees_make_no_difference():
    unseen = [chr(at) for at in range(0x110000) if unicodedata.category(chr(at)) == "Cf"]
    assert fold("Nico" + "".join(unseen) + "sia") == "nicosia"
    assert {fold(one) for one in unseen} == {""}


@pytest.mark.parametrize(("text", "typed"), [("Işık", "isik"), ("Łukasz", "lukasz"), ("Øster", "oster")])
def test_letters_are_those_that_a_searcher_types(text, typed):
    assert fold(text) == typed
