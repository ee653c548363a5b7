"""Normal forms of keys and their hashes."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smc.analyses.records import keying
from smc.analyses.records.keying import DISTINCT, ERROR, MULTISET, keyed_rows
from smc.analyses.records.keys import KeyedRows, hash_keys
from smc.analyses.records.normalization import STEPS, normalize, parse_steps
from smc.analyses.studies.columns import DAYS, Column, Schema
from smc.errors import DomainError, UsageError

TEXT = Schema("text")


def forms(values, *steps):
    """Normal forms of texts."""
    return normalize(Column(list(values), TEXT), steps, "here")


@pytest.mark.parametrize(
    ("step", "before", "after"),
    [
        ("trim", "\t a  b \u00a0", "a  b"),
        ("collapse-spaces", " a \t\n b ", "a b"),
        ("width", "Ｍüller １２ ﬁ ² O´Neill", "Müller 12 fi 2 O´Neill"),
        ("transliterate", "Müller Åse Øst Æsa Łódź Đặng ß ı", "Mueller Åse Ost Aesa Lódź Dặng ss i"),
        (
            "transliterate",
            "O’Neill O´Neill O`Neill Ann–Eve Ann\u00adEve",
            "O'Neill O'Neill O'Neill Ann-Eve AnnEve",
        ),
        ("lower", "Straße ÄÖ İ", "strasse äö i"),
        ("strip-accents", "Ångström, Łódź, Μαρία, Пётр", "Angstrom, Łodz, Μαρια, Петр"),
        ("strip-accents", "が か राम לֵוִי", "が か राम לֵוִי"),
        ("digits-only", "A-12 b3٤", "1234"),
        ("digits-only", "１２３ ½ ①", "123"),
        ("letters-only", "O'Neill-Müller_7 ", "ONeillMüller"),
        ("letters-only", "a² ① ½ 1\u0301 राम が x\u0323", "aरामがx\u0323"),
        ("strip-leading-zeros", "007", "7"),
        ("strip-leading-zeros", "000", "0"),
        ("strip-leading-zeros", "", ""),
        ("date", "2024-02-29", "2024-02-29"),
        ("date", "2024/2/9", "2024-02-09"),
        ("date", "20240209", "2024-02-09"),
        ("date", "9.2.2024", "2024-02-09"),
        ("date", "29/2/2024", "2024-02-29"),
        ("date", "2/29/2024", "2024-02-29"),
        ("date", "3-3-2024", "2024-03-03"),
        ("date", " 2024.02.09 ", "2024-02-09"),
        ("date", "", ""),
    ],
)
def test_steps(step, before, after):
    assert forms([before], step) == [unicodedata.normalize("NFC", after)]


@pytest.mark.parametrize(
    "text",
    [
        "2/3/2024",
        "2-3-2024",
        "2023-02-29",
        "1.13.2024",
        "13.13.2024",
        "9.2.24",
        "202429",
        "2024-02/09",
        "today",
        "0000-01-01",
        "２０２４-01-01",
    ],
)
def test_texts_that_are_no_dates_or_ambiguous(text):
    with pytest.raises(DomainError, match="here: 2 texts") as caught:
        forms([text, "2024-01-01", text], "date")
    assert text not in str(caught.value)


NAMES = ("width", "transliterate", "lower", "strip-accents", "collapse-spaces")
"""What tolerant matching does where a job gives no recipe."""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lukasz", "Łukasz"),
        ("Sorensen", "Sørensen"),
        ("Müller", "MUELLER"),
        ("İSTANBUL", "istanbul"),
        ("ISTANBUL", "ıstanbul"),
        ("O'Brien", "O’Brien"),
        ("O'Brien", "o´brien"),
        ("Großmann", "GROSSMANN"),
        ("Đorđević", "Dordevic"),
        ("Þórunn", "Thorunn"),
        ("Ｍａｒｉａ", "maria"),
        ("Jean\u2010Luc", "jean-luc"),
        ("José", "Jose\u0301"),
        ("Ёлкин", "Елкин"),
    ],
)
def test_spellings_of_a_name_are_alike_by_the_steps_for_names(one, other):
    assert forms([one], *NAMES) == forms([other], *NAMES)


@pytest.mark.parametrize(("one", "other"), [("が", "か"), ("राम", "रम"), ("ばば", "はは"), ("ירן", "ירֵן")])
@pytest.mark.parametrize("steps", [("strip-accents",), ("letters-only",), NAMES])
def test_marks_that_are_letters_of_their_own_stay(one, other, steps):
    assert forms([one], *steps) != forms([other], *steps)


def test_accents_are_not_stripped_before_umlauts_are_spelt_out():
    with pytest.raises(UsageError, match="transliterate before strip-accents"):
        parse_steps(["strip-accents", "transliterate"], "here")
    assert parse_steps(list(NAMES), "here") == NAMES


def test_order_of_steps_matters():
    assert forms(["0a01"], "strip-leading-zeros", "digits-only") == ["01"]
    assert forms(["0a01"], "digits-only", "strip-leading-zeros") == ["1"]


def test_days_become_dates_and_labels_their_texts():
    days = Column(np.array([0, 19_723, -1]), Schema("integer", lower=-9, upper=10**5))
    assert normalize(days, ("date",), "here") == ["1970-01-01", "2024-01-01", "1969-12-31"]
    assert normalize(days, (), "here") == ["0", "19723", "-1"]
    with pytest.raises(DomainError, match="not a valid date"):
        normalize(Column(np.array([10**7]), Schema("integer")), ("date",), "here")
    dates = Column(days.values, Schema("integer", lower=-9, upper=10**5, unit=DAYS))
    for steps in ((), ("trim",), ("date",), NAMES):
        assert normalize(dates, steps, "here") == ["1970-01-01", "2024-01-01", "1969-12-31"]
    labels = Column(np.array([1, 0, 1]), Schema("category", categories=("B", " a")))
    assert normalize(labels, ("trim", "lower"), "here") == ["a", "b", "a"]
    with pytest.raises(UsageError):
        normalize(Column([1], Schema("decimal", 2)), (), "here")


@given(
    st.lists(st.text(max_size=6), max_size=5),
    st.lists(st.sampled_from(sorted(set(STEPS) - {"date"})), unique=True),
)
def test_forms_are_composed_and_the_same_for_equivalent_texts(values, steps):
    apart = [unicodedata.normalize("NFD", value) for value in values]
    found = forms(values, *steps)
    assert found == forms(apart, *steps)
    assert all(unicodedata.is_normalized("NFC", text) for text in found)


def keyed_by_id(values, duplicates=ERROR):
    """One column of texts."""
    return keyed_rows({"id": Column(list(values), TEXT)}, [("id", ())], duplicates, "alice")


def test_copies_are_numbered_or_left_out():
    values = ["x", "y", "x", "x", "y"]
    assert keyed_by_id(values, MULTISET).plain() == [("x", 0), ("y", 0), ("x", 1), ("x", 2), ("y", 1)]
    distinct = keyed_by_id(values, DISTINCT)
    assert distinct.plain() == [("x",), ("y",)]
    assert distinct.numbers.tolist() == [0, 1]


def test_rows_without_a_key_and_ragged_columns_are_refused():
    with pytest.raises(DomainError, match="2 rows of alice are empty"):
        keyed_by_id(["", "a", ""], MULTISET)
    with pytest.raises(DomainError, match="different lengths"):
        keyed_rows(
            {"id": Column(["a"], TEXT), "no": Column(["a", "b"], TEXT)},
            [("id", ()), ("no", ())],
            ERROR,
            "alice",
        )


@given(st.lists(st.text(min_size=1, max_size=40), max_size=12, unique=True))
def test_hashes_are_the_same_on_both_sides_and_differ_where_keys_do(values):
    texts = KeyedRows((values,), np.arange(len(values)))
    keys = hash_keys(texts, b"salt")
    back = hash_keys(KeyedRows((values[::-1],), np.arange(len(values))), b"salt")
    assert (keys == back[::-1]).all()
    assert len({tuple(key) for key in keys.tolist()}) == len(values)
    assert not len(values) or (keys != hash_keys(texts, b"other")).any(axis=1).all()


def test_hashes_keep_columns_lengths_and_copies_apart():
    rows = [
        ("ab", "c"),
        ("a", "bc"),
        ("c", "ab"),
        ("ab\0", "c"),
        ("a" * 16, "c"),
        ("a" * 16 + "\0" * 16, "c"),
    ]
    columns = tuple(list(column) for column in zip(*rows, strict=True))
    plain = hash_keys(KeyedRows(columns, np.arange(6)), b"salt")
    copies = [hash_keys(KeyedRows(columns, np.arange(6), np.full(6, copy)), b"salt") for copy in (0, 1)]
    alone = hash_keys(KeyedRows(columns[:1], np.arange(6)), b"salt")
    every = np.concatenate([plain, *copies, np.unique(alone, axis=0)])
    assert len(np.unique(every, axis=0)) == len(every)


def test_hashes_of_many_rows_in_blocks_are_those_of_few():
    values = [f"{number:07d}" for number in range(70_000)]
    many = hash_keys(KeyedRows((values,), np.arange(70_000)), b"salt")
    few = hash_keys(KeyedRows((values[-3:],), np.arange(3)), b"salt")
    assert (many[-3:] == few).all()
    assert len(np.unique(many[:, 0])) == 70_000


class Alike(str):
    """A text whose hash all others have, too."""

    __slots__ = ()

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize("kind", [str, Alike])
def test_keys_are_distinct_whatever_their_hashes_are(kind):
    assert keying._are_distinct([])
    assert keying._are_distinct([kind("a"), kind("b"), kind("c")])
    assert not keying._are_distinct([kind("a"), kind("b"), kind("a")])
    assert not keying._are_distinct([(kind("a"), "x"), (kind("a"), "x")])
