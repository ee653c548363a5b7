"""Declared hierarchies: what is refused, what is learned of a table, and gaps as a value."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from anonymizer.errors import HierarchyError, SpecError
from anonymizer.hierarchies.declared import build, resolve
from anonymizer.hierarchies.hierarchy import ANY, GAP, GapHierarchy, ValueHierarchy
from anonymizer.hierarchies.intervals import EqualFrequencyHierarchy, IntervalHierarchy
from anonymizer.methods.recoding.local_recoding import LocalRecoding
from anonymizer.pipelines import spec
from anonymizer.risk.simulator import simulate_attack
from anonymizer.schema.columns import Schema
from anonymizer.tables.roles import Roles
from anonymizer.tables.table import Table


def made(given, column="c", tmp_path=None, date_format=""):
    return build(column, resolve(column, given, tmp_path, "spec"), "spec", date_format)


def labels(hierarchy, values, level):
    bound = hierarchy.bind(np.asarray(values, dtype=object), "c")[level]
    return [bound.labels[group] for group in bound.groups]


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"rows": [["a", "b", "*"], ["b", "x", "*"]]}, "'b' is a value and a label of level 1"),
        ({"rows": [["a", "b", "a", "*"], ["c", "b", "a", "*"]]}, "'a' is a value and a label of level 2"),
        ({"rows": [["a", "b"], ["b", "a"]]}, "'b' is a value and a label of level 1"),
        (
            {"rows": [["a", "x", "y", "*"], ["b", "z", "x", "*"]]},
            "'x' is a label of level 1 and a label of level 2",
        ),
        ({"rows": [[1, 2, "*"]]}, "which is not a text"),
        ({"rows": [["a", "x", "*"], ["b", 4, "*"]]}, "Row 2"),
        ({"rows": []}, "there are none"),
        ({"widths": [1e-7], "lower": 0, "upper": 120}, "more than 1,000,000"),
        ({"widths": [1], "lower": 0, "upper": float("inf")}, "all of them finite"),
        ({"widths": [float("inf")], "lower": 0, "upper": 1}, "all of them finite"),
        ({"widths": [10], "lower": 5, "upper": 5}, "above the lower"),
        ({"widths": [], "lower": 0, "upper": 1}, "positive widths"),
        ({"levels": []}, "no levels"),
        ({"levels": [[0, float("inf")]]}, "do not increase"),
        ({"levels": [[10, 20]], "open_ends": True, "lower": 12, "upper": 30}, "do not enclose"),
        ({"levels": [[10, 20]], "open_ends": True, "lower": 2}, "Only one"),
        ({"equal_frequency": [4, 3]}, "divide each other"),
        ({"equal_frequency": [0]}, "divide each other"),
        ({"equal_frequency": [10**9]}, "divide each other"),
        ({"correlation": "x", "groups": [2, 4]}, "decreasing"),
        ({"prefix": 0}, "length of 1 to 64"),
        ({"prefix": 10**9}, "length of 1 to 64"),
        ({"prefix": 5, "alphabet": 10**9}, "alphabet"),
        ({"dates": ["year", "month"]}, "out of order"),
        ({"builtin": "thesis-adult"}, "not a built-in hierarchy"),
    ],
)
def test_hierarchies_that_mean_two_things_or_nothing_are_refused(given, word):
    with pytest.raises(HierarchyError) as found:
        made(given)
    assert word in str(found.value)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("age.csv", "is not a table"),
        ({}, "not of a known kind"),
        ({"prefix": "5"}, "a whole number"),
        ({"prefix": True}, "a whole number"),
        ({"widths": [5, "10"], "lower": 0, "upper": 9}, "widths"),
        ({"widths": [5], "lower": 0}, "lacks upper"),
        ({"widths": [5], "lower": float("nan"), "upper": 9}, "a number"),
        ({"levels": [1, 2]}, "levels"),
        ({"levels": [[1, 2]], "open_ends": 1}, "true or false"),
        ({"rows": ["ab", "cd"]}, "rows"),
        ({"dates": "month"}, "dates"),
        ({"correlation": "x"}, "lacks groups"),
        ({"file": 4}, "file"),
        ({"prefix": 4, "width": 3}, "'width'"),
    ],
)
def test_declarations_of_the_wrong_form_are_refused(given, word):
    with pytest.raises(SpecError) as found:
        made(given)
    assert word in str(found.value)


def test_a_label_may_stand_at_several_levels_for_the_same_values():
    hierarchy = ValueHierarchy(
        [["Rom", "Rom", "south", ANY], ["Ulm", "Ulm", "south", ANY], ["?", ANY, ANY, ANY]]
    )
    assert labels(hierarchy, ["Rom", "?"], 1) == ["Rom", ANY]
    assert hierarchy.bind(np.array(["Rom", "?"], dtype=object), "c")[1].loss.tolist() == [0, 1]


def test_blanks_around_a_value_do_not_matter():
    hierarchy = ValueHierarchy([["Ulm", "south", ANY]])
    assert labels(hierarchy, [" Ulm", "Ulm"], 1) == ["south", "south"]
    assert labels(hierarchy, [" Ulm", "Ulm"], 0) == ["Ulm", "Ulm"]


def test_dates_in_the_form_of_the_file():
    found = made({"dates": ["month", "year"]}, date_format="%m/%d/%Y")
    assert labels(found, ["12/31/1990", "01/02/1991"], 1) == ["1990-12", "1991-01"]
    found = made({"dates": ["year"], "format": "%y%m%d"}, date_format="%m/%d/%Y")
    assert labels(found, ["901231"], 1) == ["1990"]
    assert (
        labels(made({"dates": ["year"]}), ["31.12.1990", "1990-12-31 10:00", "19901231"], 1) == ["1990"] * 3
    )
    with pytest.raises(HierarchyError, match="format"):
        made({"dates": ["year"]}).bind(np.array(["12/31/1990"], dtype=object), "c")


def test_the_digest_covers_built_in_hierarchies(tmp_path):
    steps = {"steps": [{"method": "generalization"}]}
    found = spec.parse({"hierarchies": {"age": {"builtin": "thesis-adult"}}, **steps}, tmp_path)
    assert found.document["hierarchies"]["age"] == {"levels": [[28, 36, 48], [36]], "open_ends": True}
    written = spec.parse(
        {"hierarchies": {"age": {"levels": [[28, 36, 48], [36]], "open_ends": True}}, **steps}, tmp_path
    )
    assert written.digest == found.digest
    json.dumps(found.document)


def test_intervals_of_equal_frequency_by_a_specification(tmp_path, run):
    rng = np.arange(2000)
    frame = pd.DataFrame({"income": (rng * 7919) % 2000 + 17, "job": ["abcd"[i % 4] for i in rng]})
    frame.to_csv("data.csv", index=False)
    (tmp_path / "s.toml").write_text(
        '[roles]\nquasi_identifiers = ["income"]\n[hierarchies]\nincome = { equal_frequency = [8, 2] }\n'
        '[[steps]]\nmethod = "generalization"\nlevels = { income = 1 }\n'
    )
    run("anonymize data.csv --spec s.toml -o out.csv")
    counts = pd.read_csv("out.csv")["income"].value_counts()
    assert len(counts) == 8
    assert counts.min() >= 240
    assert not any("17" in label.split() or "2016" in label for label in counts.index), (
        "extremes are not told"
    )
    _, told = run("anonymize data.csv --spec s.toml -o out.csv --chunk-rows 100", 78)
    assert "whole table" in told


@pytest.mark.parametrize("numbers", [[0] * 95 + [5, 6, 7, 8, 9], [3, 3, 3], [1, 2], [7]])
def test_equal_frequency_of_few_values(numbers):
    table = Table.of(pl.DataFrame({"c": numbers}), Roles(), {"c": EqualFrequencyHierarchy([16, 4, 2])})
    bound = table.hierarchies["c"].bind(np.unique(numbers), "c")
    assert all(len(level.labels) <= len(set(numbers)) for level in bound)
    assert bound[-1].labels == (ANY,)
    assert all((level.loss >= 0).all() and (level.loss <= 1).all() for level in bound)


def test_open_intervals_lose_what_they_cover():
    known = IntervalHierarchy([[10, 20], [20]], open_ends=True, bounds=(0, 100))
    assert known.bind(np.array([1, 15, 50]), "c")[1].loss.tolist() == [0.1, 0.1, 0.8]
    assert known.bind(np.array([1, 15, 50]), "c")[2].loss.tolist() == [0.2, 0.8]


def test_groups_by_correlation_by_a_specification(tmp_path, run):
    codes = {"a": 0.9, "b": 0.85, "c": 0.1, "d": 0.12, "e": 0.1}
    rows = [(code, "high" if i / 100 < part else "low") for code, part in codes.items() for i in range(100)]
    pd.DataFrame([*rows, ("e", None)], columns=["code", "income"]).to_csv("data.csv", index=False)
    (tmp_path / "s.toml").write_text(
        '[roles]\nquasi_identifiers = ["code"]\nsensitive = ["income"]\n'
        '[hierarchies]\ncode = { correlation = "income", groups = [2] }\n'
        '[[steps]]\nmethod = "generalization"\nlevels = { code = 1 }\n'
    )
    run("anonymize data.csv --spec s.toml -o out.csv")
    assert set(pd.read_csv("out.csv")["code"]) == {"{a, b}", "{c, d, e}"}


RELATIVES = ("weber ulm", "klein neu-ulm", "roth senden", "bauer blaubeuren", "wolf ehingen")
CORRELATED = {
    "roles": {"quasi_identifiers": ["of"], "sensitive": ["income"]},
    "hierarchies": {"of": {"correlation": "income", "groups": [2]}},
    "steps": [{"method": "generalization", "levels": {"of": 1}}],
}


@pytest.mark.parametrize(
    ("values", "columns", "labels"),
    [
        (RELATIVES, {}, {"group 1 of 2", "group 2 of 2"}),
        (tuple(f"4711-08{i}" for i in range(5)), {}, {"group 1 of 2", "group 2 of 2"}),
        (("Kim", "Ota", "Ulm", "May", "Roy"), {}, {"group 1 of 2", "group 2 of 2"}),
        (("山田", "佐藤", "鈴木", "南", "東"), {}, {"group 1 of 2", "group 2 of 2"}),
        (
            ("group 1 of 2", "group 2 of 2", "Rosa Klein", "Kurz", "Lang"),
            {},
            {"group of groups 1 of 2", "group of groups 2 of 2"},
        ),
        (
            RELATIVES,
            {"of": {"type": "category", "categories": [*RELATIVES]}},
            {"{klein neu-ulm, weber ulm}", "{bauer blaubeuren, roth senden, wolf ehingen}"},
        ),
        (("F32.1", "I21.9", "NL", "m", "80331"), {}, {"{F32.1, I21.9}", "{80331, NL, m}"}),
    ],
    ids=["texts", "long codes", "short names", "two characters", "of a release", "declared", "short codes"],
)
def test_a_learned_group_is_named_by_values_that_are_public_alone(tmp_path, values, columns, labels):
    """The name of a group listed its values, so that a release of groups told every value of the column."""
    parts = (0.9, 0.85, 0.1, 0.12, 0.1)
    rows = [
        (value, "high" if i / 100 < part else "low")
        for value, part in zip(values, parts, strict=True)
        for i in range(100)
    ]
    frame = pd.DataFrame(rows, columns=["of", "income"])
    read = spec.parse({**CORRELATED, "columns": columns}, tmp_path)
    release = read.pipeline().release(Table.of(frame).declare(read.roles, read.hierarchies, read.schema))
    assert set(release.native["of"]) == labels


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_gap_as_a_value_is_a_category_of_the_hierarchy(library):
    ages = [20.0, 21.0, None, 22.0, None, 23.0] * 5
    towns = ["Ulm", None, None, "Rom", "Rom", "Ulm"] * 5
    frame = (pd if library == "pandas" else pl).DataFrame({"age": ages, "town": towns})
    hierarchies = {
        "age": IntervalHierarchy.of_widths(0, 100, [10, 50]),
        "town": ValueHierarchy([["Ulm", "south", ANY], ["Rom", "south", ANY]]),
    }
    schema = Schema.from_mapping({"age": {"missing": "value"}, "town": {"missing": "value"}})
    table = Table.of(frame, Roles(quasi_identifiers=("age", "town")), hierarchies, schema)
    method = LocalRecoding(k=5)
    release = method.fit_transform_table(table)
    cells = list(zip(release.frame["age"].to_list(), release.frame["town"].to_list(), strict=True))
    assert min(cells.count(one) for one in cells) >= 5
    assert (GAP, GAP) in cells
    assert simulate_attack(table, release, method).risk <= 0.2


def test_a_gap_joins_the_others_at_the_top_only():
    hierarchy = GapHierarchy(ValueHierarchy([["a", "x", ANY], ["b", "x", ANY]]))
    assert [labels(hierarchy, ["a", GAP, "b"], level) for level in range(3)] == [
        ["a", GAP, "b"],
        ["x", GAP, "x"],
        [ANY, ANY, ANY],
    ]
    assert labels(hierarchy, [GAP], 1) == [GAP]
    assert labels(hierarchy, [GAP], 2) == [ANY]
