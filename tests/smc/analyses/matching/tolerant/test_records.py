"""Encoding and blocking of tolerant matching, and largest assignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smc.analyses.matching.tolerant.assignment import largest_assignment
from smc.analyses.matching.tolerant.blocking import EMPTY, KeyPart, lay_out
from smc.analyses.matching.tolerant.encoding import Field, encode, grams, weights
from smc.analyses.matching.tolerant.phonetics import cologne, soundex
from smc.errors import UsageError


def field(column="name", weight=1, q=2, bits=256):
    return Field(column, weight, q, bits, ())


MANY = 10**6


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
    rows = encode([field()], {"name": ["anna", "otto", "anna", ""]}, "s", MANY).rows
    assert (rows[0] == rows[2]).all()
    assert (rows[0] != rows[1]).any()
    assert not rows[3].any()
    assert 1 <= rows[0].sum() <= len(grams("anna", 2))
    other = encode([field()], {"name": ["anna"]}, "t", MANY).rows
    assert (rows[0] != other[0]).any()


def test_fields_stand_side_by_side():
    names = {"name": ["anna", "otto"], "again": ["anna", ""]}
    fields = [field(), field("again", bits=64)]
    found = encode(fields, names, "s", MANY)
    assert found.rows.shape == (2, 320)
    assert (found.rows[:, :256] == encode([field()], names, "s", MANY).rows).all()
    assert found.sizes.tolist() == [[row[:256].sum(), row[256:].sum()] for row in found.rows]
    assert found.sizes[1, 1] == 0
    assert weights([field(weight=3), field("again", 7, bits=64)]).tolist() == [3] * 256 + [7] * 64


def test_rarities_are_halvings_of_the_share_of_rows():
    texts = ["anna"] * 4 + ["otto"] * 2 + ["eva", ""]
    assert encode([field()], {"name": texts}, "", MANY).rarities[:, 0].tolist() == [100] * 4 + [200] * 2 + [
        300,
        0,
    ]


def test_filters_that_weigh_too_much_are_thinned_alike():
    long = "".join(chr(33 + number * 7 % 90) + chr(200 + number) for number in range(150))
    texts = {"name": [long, "short", long], "other": ["xyz"] * 3}
    fields = [field(weight=2, bits=512), field("other", weight=3)]
    filters = encode(fields, texts, "", 126)
    assert filters.thinned == 2
    whole = filters.rows @ weights(fields).astype(int)
    assert whole.max() <= 126
    assert whole[0] > 126 - 3
    assert (filters.rows[0] == filters.rows[2]).all()
    assert filters.sizes.tolist() == [[row[:512].sum(), row[512:].sum()] for row in filters.rows]


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
