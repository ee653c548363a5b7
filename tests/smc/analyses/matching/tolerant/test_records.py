"""Encoding, blocking and the rule of tolerant matching."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.matching.tolerant.assignment import largest_assignment
from smc.analyses.matching.tolerant.blocking import EMPTY, KeyPart, lay_out
from smc.analyses.matching.tolerant.encoding import Field, encode, grams
from smc.analyses.matching.tolerant.phonetics import cologne, soundex
from smc.analyses.matching.tolerant.plain import alike
from smc.analyses.matching.tolerant.similarity import ABSENT, MAX_ONES, Rule, sizes_of
from smc.errors import UsageError


def field(column="name", weight=1, q=2):
    return Field(column, weight, q, ())


@pytest.mark.parametrize(
    ("text", "q", "expected"),
    [
        ("", 2, set()),
        ("a", 1, {"a"}),
        ("a", 2, {"\0a", "a\0"}),
        ("abab", 2, {"\0a", "ab", "ba", "b\0"}),
        ("ab", 3, {"\0\0a", "\0ab", "ab\0", "b\0\0"}),
    ],
)
def test_grams(text, q, expected):
    assert grams(text, q) == expected


def test_filters_depend_on_the_text_the_field_and_the_salt_alone():
    rows = encode([field()], {"name": ["anna", "otto", "anna", ""]}, 256, "s").rows
    assert (rows[0] == rows[2]).all()
    assert (rows[0] != rows[1]).any()
    assert not rows[3].any()
    assert 1 <= rows[0].sum() <= len(grams("anna", 2))
    other = encode([field()], {"name": ["anna"]}, 256, "t").rows
    assert (rows[0] != other[0]).any()
    names = {"name": ["anna"], "again": ["anna"]}
    double = encode([field(), field("again")], names, 256, "s").rows
    assert double[0].sum() > rows[0].sum()
    assert (double[0] >= rows[0]).all()


def test_weights_set_more_bits():
    texts = {"name": ["anna maria"]}
    light, heavy = (encode([field(weight=weight)], texts, 4096, "").rows.sum() for weight in (1, 8))
    assert heavy > 6 * light


def test_filters_that_are_too_full_are_thinned_alike():
    long = "".join(chr(33 + number * 7 % 90) + chr(200 + number) for number in range(150))
    filters = encode([field()], {"name": [long, "short", long]}, 512, "")
    assert filters.thinned == 2
    assert filters.rows.sum(axis=1).tolist()[::2] == [MAX_ONES, MAX_ONES]
    assert (filters.rows[0] == filters.rows[2]).all()


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("Robert", "r163"),
        ("Rupert", "r163"),
        ("Rubin", "r150"),
        ("Ashcraft", "a261"),
        ("Tymczak", "t522"),
        ("Pfister", "p236"),
        ("Honeyman", "h555"),
        ("o'hara", "o600"),
        ("Łukasz", "l220"),
        ("Müller", "m460"),
        ("Mueller", "m460"),
        ("राम", ""),
        ("a", "a000"),
        ("", ""),
        ("123", ""),
    ],
)
def test_soundex(word, code):
    assert soundex(word) == code


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("Wikipedia", "3412"),
        ("Müller-Lüdenscheidt", "65752682"),
        ("Mueller", "657"),
        ("Breschnew", "17863"),
        ("Meyer", "67"),
        ("Mayr", "67"),
        ("Schmidt", "862"),
        ("Schmitt", "862"),
        ("Philipp", "351"),
        ("Xaver", "4837"),
        ("Max", "648"),
        ("Chr", "47"),
        ("Celan", "856"),
        ("Ach", "04"),
        ("h", "0"),
        ("", ""),
        ("12", ""),
        ("Мария", ""),
    ],
)
def test_cologne(word, code):
    assert cologne(word) == code


@pytest.mark.parametrize(
    ("function", "text", "part"),
    [
        ("value", "x y", "x y"),
        ("year", "19651013", "1965"),
        ("year", "1965-10-13", "1965"),
        ("year", "13.10.1965", ""),
        ("prefix2", "abc", "ab"),
        ("prefix2", "a", ""),
        ("suffix2", "abc", "bc"),
        ("soundex", "anna", "a500"),
        ("cologne", "anna", "06"),
    ],
)
def test_parts_of_keys(function, text, part):
    assert KeyPart.parse(f"a:b:{function}", "here") == KeyPart("a:b", function)
    assert KeyPart("a", function).of(text) == part


@pytest.mark.parametrize(
    "text", ["name", "name:", ":value", "name:month", "name:prefix", "name:prefix0", "x:Prefix2"]
)
def test_wrong_parts_are_named(text):
    with pytest.raises(UsageError, match="here has"):
        KeyPart.parse(text, "here")


def test_rows_with_equal_keys_share_a_bucket_until_it_is_full():
    names = ["a", "b", "a", "", "a", "b", "a"]
    layout = lay_out([KeyPart("n", "value")], {"n": names}, 1000, 3, "s")
    full = [row.tolist() for row in layout.rows if (row != EMPTY).any()]
    assert sorted(full) == [[0, 2, 4], [1, 5, EMPTY]]
    assert (layout.full, layout.keyless) == (1, 1)
    again = lay_out([KeyPart("n", "value")], {"n": ["b", "a"]}, 1000, 3, "s")
    assert (
        np.flatnonzero((again.rows != EMPTY).any(axis=1)).tolist()
        == np.flatnonzero((layout.rows != EMPTY).any(axis=1)).tolist()
    )
    salted = lay_out([KeyPart("n", "value")], {"n": names}, 1000, 3, "t")
    assert (salted.rows != layout.rows).any()


def test_parts_of_a_key_do_not_run_together():
    parts = [KeyPart("m", "value"), KeyPart("n", "value")]
    texts = {"m": ["ab", "a"], "n": ["c", "bc"]}
    layout = lay_out(parts, texts, 1 << 20, 2, "")
    assert (layout.rows != EMPTY).any(axis=1).sum() == 2


@settings(deadline=None)
@given(st.lists(st.sampled_from("abcdefghij "), max_size=60), st.integers(1, 9), st.integers(1, 4))
def test_every_row_is_placed_or_counted(names, buckets, capacity):
    layout = lay_out(
        [KeyPart("n", "prefix1")], {"n": [name.strip() for name in names]}, buckets, capacity, ""
    )
    placed = layout.rows[layout.rows != EMPTY]
    assert layout.rows.shape == (buckets, capacity)
    assert len(set(placed.tolist())) == len(placed) == len(names) - layout.full - layout.keyless
    assert layout.keyless == names.count(" ")


@pytest.mark.parametrize("text", ["0.05", "0.3333", "0.5", "0.6", "0.8", "0.9999", "1"])
def test_the_rule_is_the_exact_fraction(text):
    threshold = Fraction(text)
    rule = Rule(threshold, 16)
    sizes = np.arange(1, MAX_ONES + 1)
    for common in (*range(0, MAX_ONES, 7), MAX_ONES):
        left, right = (part[part >= common] for part in (sizes, sizes))
        found = alike(rule, np.int64(common), left[:, None], right)
        exact = 2 * common * threshold.denominator >= threshold.numerator * (left[:, None] + right)
        assert (found == exact).all()


@pytest.mark.parametrize("text", ["0.05", "0.6", "1"])
@pytest.mark.parametrize("capacity", [2, 16])
def test_margins_and_scores_keep_their_bounds(text, capacity):
    rule = Rule(Fraction(text), capacity)
    assert 1 << (rule.exponent + 1 + 8) >= 2 << rule.margins.sign_bits
    assert 2 * rule.most_score < 1 << (rule.tie_bits + 1 + 8)
    ranks = np.arange(capacity)
    for left in (1, 5, 77, MAX_ONES):
        for right in (1, 64, MAX_ONES):
            common = np.arange(min(left, right) + 1)
            margins = (common << (rule.exponent + 1)) + rule.margin_part(np.int64(left + right))
            assert rule.margins.contains(int(margins.min()), int(margins.max()))
            close = common[margins >= 0]
            if not len(close):
                continue
            scores = (close[:, None, None] << (rule.tie_bits + 1)) + rule.most_score
            scores = scores + rule.score_part(np.int64(left), ranks[:, None])
            scores = scores + rule.score_part(np.int64(right), ranks)
            assert scores.min() >= 1
            assert scores.max() <= rule.most_score
            assert (scores[1:].min(axis=(1, 2)) > scores[:-1].max(axis=(1, 2))).all()


def test_nothing_is_like_an_empty_filter():
    rule = Rule(Fraction("0.05"), 16)
    sizes = sizes_of(np.array([[0, 0], [1, 0]], dtype=np.uint8))
    assert sizes.tolist() == [ABSENT, 1]
    assert not alike(rule, np.zeros(2, dtype=np.int64), sizes, np.int64(ABSENT)).any()


def brute(pairs):
    """The size of a largest assignment, by trying all."""
    if not pairs:
        return 0
    (left, right), *rest = pairs
    taken = 1 + brute([p for p in rest if p[0] != left and p[1] != right])
    return max(taken, brute(rest))


@given(st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_an_assignment_is_one_to_one_and_as_large_as_can_be(pairs):
    found = largest_assignment(pairs)
    assert set(found) <= pairs
    assert len({left for left, _ in found}) == len({right for _, right in found}) == len(found)
    assert len(found) == brute(sorted(pairs))
    assert found == largest_assignment(sorted(pairs, reverse=True))


def test_an_assignment_finds_long_alternating_paths():
    count = 3000
    chain = [(k, k) for k in range(count)] + [(k, k + 1) for k in range(count - 1)] + [(count, 0)]
    assert len(largest_assignment(chain)) == count
    assert len(largest_assignment([*chain, (count - 1, count)])) == count + 1
