"""Dates: what they become, and what is not one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.documents.generalization.dates import MONTHS, Dates
from tests.anonymizer.documents.generalization.said import steps, words_of

NINETIES = ["the 1990s", "the 20th century"]
JAPANESE = r"\d+|[一二三四五六七八九十〇]+|平成|昭和|令和|明治|元年|年代|年間|\w|\S"


@pytest.mark.parametrize(
    ("text", "date", "found"),
    [
        ("of 31 May 1991, he", "31 May 1991", ["May 1991", "1991", *NINETIES]),
        ("before the 31st of May 1991.", "the 31st of May 1991", ["May 1991", "1991", *NINETIES]),
        ("of May 3rd, 1991", "May 3rd, 1991", ["May 1991", "1991", *NINETIES]),
        ("of Sept 3 1991", "Sept 3 1991", ["September 1991", "1991", *NINETIES]),
        ("of 1991-05-31", "1991-05-31", ["May 1991", "1991", *NINETIES]),
        ("of 31/05/1991", "31/05/1991", ["1991", *NINETIES]),
        ("of 5/31/1991", "5/31/1991", ["1991", *NINETIES]),
        ("of 31.05.1991", "31.05.1991", ["1991", *NINETIES]),
        ("in May 1991", "May 1991", ["1991", *NINETIES]),
        ("of 31 May", "31 May", ["May"]),
        ("of May 31", "May 31", ["May"]),
        ("in 1991", "1991", NINETIES),
        ("(1991)", "1991", NINETIES),
        ("in 2005", "2005", ["the 2000s", "the 21st century"]),
        ("the 1991 elections", "the 1991", NINETIES),
        ("in 1900", "1900", ["the 1900s", "the 20th century"]),
        ("in the 1990s", "the 1990s", ["the 20th century"]),
        ("in 1990s", "1990s", ["the 20th century"]),
    ],
)
def test_english_dates(text, date, found):
    for word in words_of(date):
        assert steps(Dates(), text, word.text) == (date, found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("no. 18403/91", "18403/91"),
        ("paid 1991 euros", "1991"),
        ("in 3000", "3000"),
        ("in 1200", "1200"),
        ("40 May", "40"),
        ("in 1991/92", "1991/92"),
        ("1,991", "1,991"),
        ("version 1.2.1991.4", "1.2.1991.4"),
        ("the years", "years"),
        ("in May", "May"),
    ],
)
def test_what_is_not_an_english_date(text, word):
    assert steps(Dates(), text, word) is None


def test_a_date_of_the_other_side_of_a_text_is_not_reached():
    assert steps(Dates(), "It was 31 May 1991 when Anna came", "Anna") is None


@pytest.mark.parametrize(
    ("text", "date", "found"),
    [
        ("平成17年8月14日に", "平成17年8月14日", ["2005年8月", "2005年", "2000年代", "21世紀"]),
        ("２００５年８月１４日に", "２００５年８月１４日", ["2005年8月", "2005年", "2000年代", "21世紀"]),
        ("2005/08/14に", "2005/08/14", ["2005年8月", "2005年", "2000年代", "21世紀"]),
        ("昭和六十年十二月に", "昭和六十年十二月", ["1985年", "1980年代", "20世紀"]),
        ("令和元年に", "令和元年", ["2010年代", "21世紀"]),
        ("明治45年に", "明治45年", ["1910年代", "20世紀"]),
        ("二〇〇五年に", "二〇〇五年", ["2000年代", "21世紀"]),
        ("8月14日に", "8月14日", ["8月"]),
        ("1990年代に", "1990年代", ["20世紀"]),
    ],
)
def test_japanese_dates(text, date, found):
    words = words_of(text, JAPANESE if "/" not in text else r"[\d/]+|\w")
    assert steps(Dates(), text, words[0].text, "ja", words) == (date, found)


@pytest.mark.parametrize("text", ["17年間", "3年前", "17年に", "年に", "14日に"])
def test_what_is_not_a_japanese_date(text):
    words = words_of(text, JAPANESE)
    assert steps(Dates(), text, words[0].text, "ja", words) is None


@pytest.mark.parametrize(("text", "month"), [("he came on 31 May", "in May"), ("On 31 May he", "In May")])
def test_on_a_day_is_in_a_month(text, month):
    assert steps(Dates(), text, "May")[1] == [month]


@given(st.dates())
def test_every_step_is_true_and_says_less(date):
    if not 1500 <= date.year <= 2099:
        return
    text = f"{date.day} {MONTHS[date.month - 1]} {date.year}"
    _, found = steps(Dates(), text, str(date.year))
    month, year, decade, century = found
    assert month.split() == [MONTHS[date.month - 1], year]
    assert int(year) == date.year
    assert decade == f"the {year[:3]}0s"
    number = int(re.search(r"\d+", century).group())
    assert (number - 1) * 100 <= date.year < number * 100
