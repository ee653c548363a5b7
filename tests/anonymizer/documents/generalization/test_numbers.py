"""Ages and amounts: cells of a grid that stands still."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.generalization.numbers import Numbers
from anonymizer.documents.texts.text import Word
from tests.anonymizer.documents.generalization.said import steps, words_of


@pytest.mark.parametrize(
    ("text", "word", "found"),
    [
        ("aged 34", "34", ["30 to 39", "20 to 59"]),
        ("34 years old", "34", ["30 to 39", "20 to 59"]),
        ("at the age of 7", "7", ["0 to 9", "0 to 19"]),
        ("78 years of age", "78", ["70 to 79", "60 or more"]),
        ("a 14-year-old", "14-year-old", ["10-to-19-year-old", "0-to-19-year-old"]),
        ("aged 200", "200", ["from 200 to under 500", "a three-digit number"]),
        ("1,250.50 euros", "1,250.50", ["from 1,000 to under 2,000", "a four-digit number"]),
        ("7 men", "7", ["from 5 to under 10", "a one-digit number"]),
        ("20 years", "20", ["from 20 to under 50", "a two-digit number"]),
        ("0.5 km", "0.5", ["from 0 to under 5", "a one-digit number"]),
        ("1 man", "1", ["from 0 to under 5", "a one-digit number"]),
    ],
)
def test_english_numbers(text, word, found):
    assert steps(Numbers(), text, word) == (word, found)


@pytest.mark.parametrize(
    ("word", "cell"),
    [
        ("thirty-five", "from 20 to under 50"),
        ("two", "from 0 to under 5"),
        ("hundred", "from 100 to under 200"),
    ],
)
def test_numbers_in_words(word, cell):
    assert steps(Numbers(), word, word, words=words_of(word, **{word: "number"}))[1][0] == cell


@pytest.mark.parametrize("word", ["18403/91", "3rd", "007", "1.250,50", "1234567890123456", "1960s", "5a"])
def test_codes_and_ordinal_numbers_are_left_to_deletion(word):
    assert steps(Numbers(), f"no {word} x", word) is None


@pytest.mark.parametrize(
    ("text", "lemma", "whole", "found"),
    [
        ("14歳の", "14", "14歳", ["10代", "20歳未満"]),
        ("9歳の", "9", "9歳", ["10歳未満", "20歳未満"]),
        ("三十五人が", "35", "三十五人", ["20人以上50人未満", "2桁の数の人"]),
        ("１２５０円を", "1250", "１２５０円", ["1,000円以上2,000円未満", "4桁の数の円"]),
        ("64点を", "64", "64", ["50以上100未満", "2桁の数"]),
    ],
)
def test_japanese_numbers(text, lemma, whole, found):
    number, *others = words_of(text, r"\d+|[三十五]+|\w")
    words = (Word(number.text, lemma, "number", number.start, number.end), *others)
    assert steps(Numbers(), text, number.text, "ja", words) == (whole, found)


@pytest.mark.parametrize(
    ("text", "whole", "found"),
    [
        ("paid from 1,000 to under 2,000 euros", "from 1,000 to under 2,000", ["a four-digit number"]),
        ("for from 0 to under 5 men", "from 0 to under 5", ["a one-digit number"]),
        ("aged 30 to 39 then", "30 to 39", ["20 to 59"]),
        ("aged 0 to 9", "0 to 9", ["0 to 19"]),
    ],
)
def test_a_range_becomes_a_wider_one_as_a_whole(text, whole, found):
    for one in re.findall(r"[\d,]+", whole):
        assert steps(Numbers(), text, one) == (whole, found)


@pytest.mark.parametrize(
    ("text", "whole", "found"),
    [
        ("20人以上50人未満が", "20人以上50人未満", ["2桁の数の人"]),
        ("20以上50未満", "20以上50未満", ["2桁の数"]),
        ("10代の", "10代", ["20歳未満"]),
    ],
)
def test_a_japanese_range_becomes_a_wider_one_as_a_whole(text, whole, found):
    words = words_of(text, r"\d+|[^\d以未]|以上|未満")
    for one in re.findall(r"\d+", whole):
        assert steps(Numbers(), text, one, "ja", words) == (whole, found)


@given(st.decimals(0, 10**9, places=2), st.decimals(0, 10**9, places=2))
def test_a_range_holds_its_value_and_tells_nothing_else(one, other):
    ends = []
    for value in (one, other):
        _, (cell, *_) = steps(Numbers(), f"{value} m", str(value))
        low, high = (Decimal(end.replace(",", "")) for end in re.findall(r"[\d,]+", cell))
        assert low <= value < high
        ends.append((low, high))
    # Cells are the same or apart: they follow from a grid, and not from the value in them.
    (a, b), (c, d) = ends
    assert (a, b) == (c, d) or b <= c or d <= a


@given(st.integers(0, 10**9))
def test_no_whole_number_is_alone_in_its_range(value):
    low, high = re.findall(r"[\d,]+", steps(Numbers(), f"{value} m", str(value))[1][0])
    assert int(high.replace(",", "")) - int(low.replace(",", "")) >= 5


@given(st.integers(0, 129))
def test_ages_of_a_decade_become_the_same(age):
    text, first = f"aged {age}", age // 10 * 10
    assert steps(Numbers(), text, str(age))[1] == steps(Numbers(), f"aged {first}", str(first))[1]
