"""Hierarchies of every kind: what they cover, how they nest, what they lose."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import FileError, HierarchyError
from anonymizer.hierarchies import arx
from anonymizer.hierarchies.adult import thesis_hierarchies
from anonymizer.hierarchies.correlation import build_by_correlation
from anonymizer.hierarchies.dates import DateHierarchy
from anonymizer.hierarchies.hierarchy import ValueHierarchy
from anonymizer.hierarchies.intervals import IntervalHierarchy, equal_frequency
from anonymizer.hierarchies.prefix import PrefixHierarchy
from tests.anonymizer.data import shared


def labels(hierarchy, values, level):
    bound = hierarchy.bind(np.asarray(values), "c")[level]
    return [bound.labels[group] for group in bound.groups]


def nest(hierarchy, values) -> bool:
    """Whether values that share a label share all labels above it, and losses do not fall."""
    levels = hierarchy.bind(np.asarray(values), "c")
    assert len(levels) == hierarchy.height + 1
    for fine, coarse in itertools.pairwise(levels):
        for group in range(len(fine.labels)):
            if len(set(coarse.groups[fine.groups == group].tolist())) > 1:
                return False
        if (coarse.loss[coarse.groups] < fine.loss[fine.groups] - 1e-12).any():
            return False
    return True


def test_arx_files_are_read_and_written(tmp_path):
    place = tmp_path / "city.csv"
    place.write_text("Kraków;east;*\n東京;east;*\n\nParis;west;*\n", encoding="utf-8")
    hierarchy = arx.read(place)
    assert labels(hierarchy, ["東京", "Paris"], 1) == ["east", "west"]
    assert hierarchy.bind(np.array(["Kraków", "東京"], dtype=object), "c")[1].loss.tolist() == [0.5]
    arx.write(hierarchy, tmp_path / "again.csv")
    assert arx.read(tmp_path / "again.csv").rows == hierarchy.rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b;*\nc;d\n", "line 2: 2 cells"),
        ("a;b;*\na;b;*\n", "'a' twice"),
        ("a;x;y;*\nb;x;z;*\n", "'x' of level 1 lies below 'y' and below 'z'"),
        ("", "there are none"),
    ],
)
def test_malformed_files_are_named(tmp_path, text, message):
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(HierarchyError, match=message):
        arx.read(tmp_path / "h.csv")
    with pytest.raises(FileError):
        arx.read(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["arx_adult/age.csv", "anjana_adult/age.csv"])
def test_real_files_nest(name):
    hierarchy = arx.read(shared(f"hierarchies/{name}"))
    assert nest(hierarchy, [int(row[0]) for row in hierarchy.rows])


def test_values_that_are_not_covered_are_named():
    with pytest.raises(HierarchyError, match="'c' has the value '7'"):
        ValueHierarchy([["1", "*"]]).bind(np.array([1, 7]), "c")
    with pytest.raises(HierarchyError, match=r"'c' has the value '95', outside \[0, 90\]"):
        IntervalHierarchy.of_widths(0, 90, [10, 30]).bind(np.array([1, 95]), "c")


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=40, unique=True),
    st.integers(1, 20),
    st.integers(1, 5),
)
def test_intervals_nest_and_their_spans_hold_their_values(values, width, factor):
    hierarchy = IntervalHierarchy.of_widths(-1000, 1000, [width, width * factor, width * factor * 3])
    assert nest(hierarchy, sorted(values))
    for level in range(1, hierarchy.height + 1):
        names, spans = hierarchy.spans(level, "c")
        found = dict(zip(names, spans.tolist(), strict=True))
        for value, label in zip(values, labels(hierarchy, values, level), strict=True):
            holding = [name for name, (low, high) in found.items() if low <= value <= high]
            assert holding == [label]


def test_interval_labels_say_which_ends_belong():
    hierarchy = IntervalHierarchy([[0, 10, 20], [0, 20]])
    assert labels(hierarchy, [0, 10, 20], 1) == ["[0, 10)", "[10, 20]", "[10, 20]"]
    with pytest.raises(HierarchyError, match="level 1 lacks"):
        IntervalHierarchy([[0, 10, 20], [0, 15]])
    with pytest.raises(HierarchyError, match="do not increase"):
        IntervalHierarchy([[0, 0]])


def test_the_table_4_4_of_the_thesis():
    found = thesis_hierarchies()
    assert labels(found["age"], [27, 28, 35, 36, 47, 48], 1) == [
        *("< 28", "[28, 36)", "[28, 36)", "[36, 48)", "[36, 48)", ">= 48")
    ]
    assert labels(found["age"], [35, 36], 2) == ["< 36", ">= 36"]
    assert labels(found["education_num"], [8, 9, 10, 11, 12, 13], 1) == [
        *("< 9", "[9, 10)", "[10, 11)", "[11, 13)", "[11, 13)", ">= 13")
    ]
    assert labels(found["workclass"], ["State-gov", "?"], 1) == ["government", "other"]
    assert labels(found["marital_status"], ["Widowed"], 2) == ["*"]


def test_equal_frequencies_hold_about_equally_many():
    values = np.arange(1000) ** 2
    hierarchy = equal_frequency(values.tolist(), [8, 4, 2])
    counts = np.bincount(hierarchy.bind(values, "c")[1].groups)
    assert counts.min() >= 120
    assert nest(hierarchy, values)
    assert labels(equal_frequency([3, 3, 3], [2]), [3], 1) == ["[3, 4]"]


def test_dates_by_the_eras_of_japan():
    texts = ["昭和42年11月3日", "令和元年５月１日", "２０２３年5月5日"]
    assert labels(DateHierarchy(["year"]), texts, 1) == ["1967", "2019", "2023"]
    letters = ["S42.11.3", "R05.05.05"]
    assert labels(DateHierarchy(["month"], "%EC%Ey.%m.%d"), letters, 1) == ["1967-11", "2023-05"]
    with pytest.raises(HierarchyError, match="is not a date"):
        labels(DateHierarchy(["year"]), letters, 1)  # they may be codes


def test_dates_by_calendar():
    hierarchy = DateHierarchy()
    days = np.array(["2020-01-31", "2020-03-01", "1999-12-24"], dtype=object)
    assert labels(hierarchy, days, 1) == ["2020-01", "2020-03", "1999-12"]
    assert labels(hierarchy, days, 2) == ["2020-Q1", "2020-Q1", "1999-Q4"]
    assert labels(hierarchy, days, 4) == ["2020s", "2020s", "1990s"]
    assert nest(hierarchy, days)
    with pytest.raises(HierarchyError, match="'soon', which is not a date"):
        hierarchy.bind(np.array(["soon"], dtype=object), "c")
    with pytest.raises(HierarchyError, match="out of order"):
        DateHierarchy(["year", "month"])


def test_prefixes_mask_from_the_right():
    hierarchy = PrefixHierarchy(4)
    assert labels(hierarchy, ["0123", "0199"], 2) == ["01**", "01**"]
    assert labels(hierarchy, ["0123"], 4) == ["*"]
    assert nest(hierarchy, ["0123", "0199", "9999"])
    with pytest.raises(HierarchyError, match="'01234', longer than 4"):
        hierarchy.bind(np.array(["01234"], dtype=object), "c")
    with pytest.raises(HierarchyError, match="masked already"):
        hierarchy.bind(np.array(["01*"], dtype=object), "c")


def test_short_codes_join_those_that_begin_with_them():
    hierarchy = PrefixHierarchy(6)
    codes = ["250", "250.83", "250.01", "V27", "8"]
    assert labels(hierarchy, codes, 1) == ["250", "250.8*", "250.0*", "V27", "8"]
    assert labels(hierarchy, codes, 3) == ["250***", "250***", "250***", "V27***", "8"]
    assert labels(hierarchy, codes, 5) == ["2*****", "2*****", "2*****", "V*****", "8*****"]
    assert nest(hierarchy, codes)


def test_values_that_behave_alike_are_merged_first():
    cells = [c for c in "abcd" for _ in range(50)]
    target = ["x"] * 45 + ["y"] * 5 + ["x"] * 44 + ["y"] * 6 + ["y"] * 50 + ["y"] * 48 + ["x"] * 2
    hierarchy = build_by_correlation(cells, target, [3, 2])
    assert labels(hierarchy, list("abcd"), 2) == ["{a, b}", "{a, b}", "{c, d}", "{c, d}"]
    assert nest(hierarchy, list("abcd"))
    with pytest.raises(HierarchyError, match="decreasing"):
        build_by_correlation(cells, target, [2, 3])


@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda number: round(number, 3)), min_size=3, max_size=60, unique=True)
)
def test_boundaries_of_open_intervals_part_the_rows_alike_with_few_digits(numbers):
    """They leave each cell in its interval, and have no more digits than the cell above them."""
    found = equal_frequency(numbers, [4, 2], open_ends=True)
    cells = np.sort(numbers)
    for end in found.boundaries[0]:
        above = cells[cells >= end][0]
        assert cells[0] < end <= above
        assert _digits(end) <= _digits(above)


def _digits(number: float) -> int:
    return len(f"{abs(number):.3f}".rstrip("0").rstrip(".").replace(".", "").strip("0"))


def test_a_boundary_is_rounded():
    incomes = [1203.11, 1877.4, 2410.95, 2999.99, 3650.2, 4120.87, 5222.1, 7810.03]
    found = equal_frequency(incomes, [4, 2], open_ends=True).boundaries
    assert found == ((2000.0, 3000.0, 4000.0), (3000.0,))
