"""Texts as searches compare them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.text import folded


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
    assert folded(text) == folded(same)


@pytest.mark.parametrize(("text", "other"), [("か", "が"), ("は", "ぱ"), ("a", "æ"), ("東", "京")])
def test_differences_that_stay(text, other):
    assert folded(text) != folded(other)


@given(st.text())
def test_what_is_folded_stays(text):
    assert folded(folded(text)) == folded(text)
