"""Specifications: what they say, what they refuse, and the digest that is signed."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, get_type_hints

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import AnonymizerError, FileError, HierarchyError, RoleError, SpecError
from anonymizer.methods.registry import METHODS
from anonymizer.pipelines import spec
from anonymizer.pipelines.parameters import describe_type, fits

TEXT = """
title = "Release of spring"

[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "city"]
sensitive = ["illness"]

[hierarchies]
age = { widths = [10, 40], lower = 0, upper = 120 }
city = { file = "city.csv" }

[[steps]]
method = "generalization"
levels = { city = 1 }

[[steps]]
name = "blur"
method = "noise"
epsilon = 1
columns = ["age"]
bounds = { age = [0, 120] }

[[steps]]
method = "sampling"
rate = 0.5
"""
CITIES = "Łódź;east;*\nKyiv;east;*\nLyon;west;*\nPorto;west;*\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "city.csv").write_text(CITIES, encoding="utf-8")
    (tmp_path / "release.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def people(rows: int = 20) -> pd.DataFrame:
    number = np.arange(rows)
    cities = ("Łódź", "Kyiv", "Lyon", "Porto")
    return pd.DataFrame(
        {
            "name": [f"p{i}" for i in number],
            "age": 18 + (number * 11) % 60,
            "city": [cities[i % 4] for i in number],
            "illness": ["uvw"[i % 3] for i in number],
        }
    )


def changed(folder, old: str, new: str, file: str = "release.toml"):
    """The specification with another text in it or in a file beside it."""
    path = folder / file
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return spec.read(folder / "release.toml")


def test_a_file_becomes_a_pipeline(folder):
    found = spec.read(folder / "release.toml")
    assert found.title == "Release of spring"
    assert found.roles.quasi_identifiers == ("age", "city")
    pipeline = found.pipeline()
    assert [name for name, _ in pipeline.steps] == ["1-generalization", "blur", "3-sampling"]
    assert pipeline.get_params()["blur__columns"] == ("age",)
    assert pipeline.get_params()["blur__bounds"] == {"age": (0, 120)}
    release = pipeline.fit_transform(people())
    assert list(release.columns) == ["age", "city", "illness"]
    assert set(release["city"]) == {"east", "west"}
    assert len(release) == 10


def test_a_seed_repeats_a_release_and_no_seed_does_not(folder):
    found = spec.read(folder / "release.toml")
    first, again, other = (found.pipeline(seed).fit_transform(people()) for seed in (7, 7, 8))
    assert first.equals(again)
    assert not first.equals(other)
    assert found.pipeline(7).get_params()["blur__random_state"] == 8
    free = [found.pipeline().fit_transform(people())["age"].tolist() for _ in range(2)]
    assert free[0] != free[1]


def test_pipelines_of_one_specification_share_nothing(folder):
    found = spec.read(folder / "release.toml")
    found.pipeline().set_params(blur__epsilon=5.0)
    assert found.pipeline().get_params()["blur__epsilon"] == 1


def test_the_digest_covers_what_counts_and_no_more(folder):
    first = spec.read(folder / "release.toml").digest
    assert len(first) == 64
    assert changed(folder, "[roles]\nidentifiers", "# seen\n[roles]\nidentifiers").digest == first
    assert changed(folder, "rate = 0.5", "rate = 0.6").digest != first
    assert changed(folder, "rate = 0.6", "rate = 0.5").digest == first
    assert changed(folder, "Lyon;west", "Lyon;east", "city.csv").digest != first
    assert changed(folder, "Lyon;east", "Lyon;west", "city.csv").digest == first
    assert changed(folder, "spring", "autumn").digest != first


def test_it_is_written_as_one_file_with_the_same_digest(folder):
    found = spec.read(folder / "release.toml")
    alone = folder / "elsewhere"
    alone.mkdir()
    (alone / "whole.toml").write_text(found.to_toml(), encoding="utf-8")
    again = spec.read(alone / "whole.toml")
    assert again.digest == found.digest
    assert again.document == found.document
    assert again.pipeline(3).fit_transform(people()).equals(found.pipeline(3).fit_transform(people()))


@given(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
    st.lists(st.integers(1, 50), min_size=1, max_size=3, unique=True),
    st.floats(0.01, 1),
    st.permutations(["title", "roles", "hierarchies", "steps"]),
)
def test_documents_round_trip(tmp_path_factory, title, bounds, rate, order):
    document = {
        "title": title,
        "roles": {"quasi_identifiers": ["age"]},
        "hierarchies": {"age": {"levels": [sorted(bounds)], "open_ends": True}},
        "steps": [{"method": "generalization"}, {"method": "sampling", "rate": rate}],
    }
    folder = tmp_path_factory.getbasetemp()
    found = spec.parse(document, folder)
    assert spec.parse({key: document[key] for key in order}, folder).digest == found.digest
    again = spec.parse(tomllib.loads(found.to_toml()), folder)
    assert again.document == found.document
    assert again.digest == found.digest


WRONG = [
    ("[roles]", "[rolls]", SpecError, ("'rolls'", "'roles'")),
    ("quasi_identifiers", "quasi_identifier", RoleError, ("'quasi_identifier'", "'quasi_identifiers'")),
    ('identifiers = ["name"]', 'identifiers = "name"', RoleError, ("identifiers", "[")),
    ('method = "noise"', 'method = "noize"', SpecError, ("step 2", "'noize'", "'noise'")),
    ("epsilon = 1", "epsilom = 1", SpecError, ("step 2", "'epsilom'", "'epsilon'")),
    ("epsilon = 1", 'epsilon = "1"', SpecError, ("step 2", "epsilon = '1'", "a number")),
    ("rate = 0.5", "rate = true", SpecError, ("step 3", "rate = True", "a number")),
    ("{ city = 1 }", "{ city = 1.5 }", SpecError, ("step 1", "levels", "a whole number for each column")),
    ('columns = ["age"]', 'columns = "age"', SpecError, ("step 2", "columns", "a list of texts")),
    ("[0, 120] }", "[0] }", SpecError, ("step 2", "bounds", "a list of numbers")),
    ('method = "noise"', "", SpecError, ("step 2", "names no method")),
    ("lower = 0, ", "", SpecError, ("'age'", "lower")),
    ("widths", "wdths", SpecError, ("'age'", "widths")),
    ("upper = 120", "upper = 120, step = 2", SpecError, ("'age'", "'step'")),
    ("[10, 40]", "[10, 25]", HierarchyError, ("Level 2",)),
    ('{ file = "city.csv" }', '"city.csv"', SpecError, ("'city'", "file")),
    ('{ file = "city.csv" }', '{ file = "city.csv", prefix = 2 }', SpecError, ("'city'", "'prefix'")),
    ('{ file = "city.csv" }', '{ file = "town.csv" }', FileError, ("town.csv",)),
    ('{ file = "city.csv" }', '{ builtin = "thesis-adult" }', HierarchyError, ("'city'", "workclass")),
    ('title = "Release', "title = 4 # ", SpecError, ("title",)),
    ("[[steps]]", "[[setps]]", SpecError, ("'setps'", "'steps'")),
    ("[roles]", "[roles", SpecError, ("release.toml", "TOML")),
]


@pytest.mark.parametrize(("old", "new", "kind", "words"), WRONG)
def test_what_is_wrong_is_named(folder, old, new, kind, words):
    with pytest.raises(kind) as caught:
        changed(folder, old, new)
    for word in words:
        assert word in str(caught.value)


def test_no_steps_and_no_file_are_refused(folder, tmp_path):
    with pytest.raises(SpecError, match="no steps"):
        spec.parse({"roles": {}}, tmp_path)
    with pytest.raises(SpecError, match="not a table"):
        spec.parse({"roles": 3, "steps": [{"method": "sampling"}]}, tmp_path)
    with pytest.raises(FileError, match=r"missing\.toml"):
        spec.read(folder / "missing.toml")
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FileError, match=r"binary\.toml"):
        spec.read(folder / "binary.toml")


def test_a_hierarchy_file_with_a_fault_is_named(folder):
    with pytest.raises(HierarchyError, match=r"city\.csv"):
        changed(folder, "Lyon;west;*", "Lyon;west", "city.csv")


@pytest.mark.parametrize(
    ("given", "value", "label"),
    [
        ({"rows": [["x", "y", "*"]]}, "x", "y"),
        ({"widths": [5], "lower": 0, "upper": 20}, 7, "[5, 10)"),
        ({"levels": [[3, 8]], "open_ends": True}, 2, "< 3"),
        ({"dates": ["month", "year"]}, pd.Timestamp("2024-05-06"), "2024-05"),
        ({"prefix": 5}, "12345", "1234*"),
    ],
)
def test_every_kind_of_hierarchy(tmp_path, given, value, label):
    document = {
        "roles": {"quasi_identifiers": ["c"]},
        "hierarchies": {"c": given},
        "steps": [{"method": "generalization", "levels": {"c": 1}}],
    }
    found = spec.parse(document, tmp_path)
    assert found.pipeline().fit_transform(pd.DataFrame({"c": [value]}))["c"].tolist() == [label]


def test_the_hierarchies_of_the_thesis_are_built_in(tmp_path):
    document = {
        "roles": {"quasi_identifiers": ["workclass"]},
        "hierarchies": {"workclass": {"builtin": "thesis-adult"}},
        "steps": [{"method": "generalization"}],
    }
    frame = pd.DataFrame({"workclass": ["?", "Private", "State-gov"]})
    release = spec.parse(document, tmp_path).pipeline().fit_transform(frame)
    assert release["workclass"].tolist() == ["other", "private", "government"]


@pytest.mark.parametrize("word", sorted(METHODS))
def test_every_method_can_stand_in_a_specification_with_what_it_takes_by_itself(word):
    hints = get_type_hints(METHODS[word].__init__)
    parameters = METHODS[word]().get_params()
    assert all(fits(value, hints[key]) for key, value in parameters.items())
    assert all(describe_type(hints[key]) for key in parameters)
    assert type(spec.make_method({"method": word, **METHODS[word].example}, "here")) is METHODS[word]


@pytest.mark.parametrize(
    ("value", "hint", "right"),
    [
        (1, float, True),
        (1.0, int, False),
        (True, int, False),
        (True, bool, True),
        (None, int | None, True),
        ((1, 2), tuple[float, float], True),
        ((1, 2, 3), tuple[float, float], False),
        ((1, "a"), tuple[int, ...], False),
        ((), tuple[int, ...], True),
        (("a",), Sequence[str], True),
        ({"a": (None, 1)}, Mapping[str, tuple[float | None, float | None]], True),
        ({"a": 1}, Mapping[str, str], False),
        ("x", Any, True),
    ],
)
def test_values_fit_annotations(value, hint, right):
    assert fits(value, hint) is right


def test_dates_in_a_specification_have_a_digest(tmp_path):
    text = '[[steps]]\nmethod = "sampling"\nname = '
    dates = ("2024-05-06", "2024-05-07", '"2024-05-06"')
    assert len({spec.parse(tomllib.loads(text + date), tmp_path).digest for date in dates}) == 3


def test_faults_in_the_data_are_errors_of_the_anonymizer(folder):
    frame = people()
    frame.loc[3, "city"] = "Rome"
    with pytest.raises(AnonymizerError, match=r"'city'.*'Rome'"):
        spec.read(folder / "release.toml").pipeline().fit_transform(frame)
