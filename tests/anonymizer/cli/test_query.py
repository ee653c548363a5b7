"""`duetto query`: answers from a released file, and what it refuses."""

from __future__ import annotations

import json

import pandas as pd
import pyarrow.parquet as pq
import pytest

from anonymizer.gate.gate import manifest_path

SPEC = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age"]
sensitive = ["diagnosis"]
[columns]
diagnosis = { type = "category", categories = ["flu", "cold", "gout", "none", "rare"] }
[hierarchies]
age = { widths = [10, 40], lower = 0, upper = 120 }
[[steps]]
method = "top-bottom-coding"
bounds = { age = [25, 60] }
[[steps]]
method = "splu-gen"
gamma = 3
"""


@pytest.fixture
def released(run, tmp_path):
    """A release of 1,202 rows in the form of a name's ending, and the original."""
    frame = pd.DataFrame({"age": [20 + (7 * i) % 50 for i in range(1202)]})
    names = ["flu", "cold", "gout", "none"]
    frame["diagnosis"] = [names[(i + (i % 3 == 0) * (age > 45)) % 4] for i, age in enumerate(frame["age"])]
    frame["name"] = [f"person {i}" for i in range(1202)]
    frame.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "spec.toml").write_text(SPEC)

    def made(name: str):
        run(f"anonymize data.csv --spec spec.toml -o {name}")
        return tmp_path / name

    return made, frame


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_a_count_with_its_interval(run, released, name):
    made, frame = released
    made(name)
    true = int(((frame["diagnosis"] == "flu") & (frame["age"] < 40)).sum())
    found = json.loads(run(f"query {name} --where 'diagnosis = flu and age < 40' --json")[0])
    assert found["success"] is True
    low, high = found["interval"]
    assert low <= found["count"] <= high
    # An interval is cut off at 0: the farther end gives the standard error. Five of them: once in 1e6 runs.
    error = max(high - found["count"], found["count"] - low) / 1.96
    assert abs(found["count"] - true) < 5 * error + 1
    assert (found["gamma"], found["rows"]) == (3, 1200)
    assert "nothing of a person" in found["guarantee"]["condition"]
    told, _ = run(f"query {name} --where 'diagnosis = rare'")
    assert told.startswith("about 0 of 1,200 rows; 95 % interval 0 to ")
    assert "nothing of a person" in told


def test_parquet_is_enough_by_itself(run, released):
    path = released[0]("out.parquet")
    manifest_path(path).unlink()
    assert "about" in run("query out.parquet --where 'diagnosis = flu'")[0]


@pytest.mark.parametrize(
    ("where", "status", "said"),
    [
        ("diagnose = flu", 78, "Did you mean 'diagnosis'"),
        ("diagnosis = fluu", 78, "Did you mean 'flu'"),
        ("diagnosis < flu", 78, "no order"),
        ("diagnosis = flu or age < 3", 78, "joined by `and` only"),
    ],
)
def test_questions_that_do_not_fit_are_refused(run, released, where, status, said):
    released[0]("out.parquet")
    assert said in run(f'query out.parquet --where "{where}"', status)[1]


def test_a_manifest_of_another_release_is_refused(run, released):
    first, second = released[0]("out.csv"), released[0]("other.csv")
    manifest_path(second).replace(manifest_path(first))
    assert "of another release" in run("query out.csv --where 'diagnosis = flu'", 65)[1]


def test_an_edited_manifest_is_refused(run, released):
    path = manifest_path(released[0]("out.parquet"))
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "gamma": 9}))
    assert "was edited" in run("query out.parquet --where 'diagnosis = flu'", 65)[1]
    path.write_text(json.dumps({**document, "colour": "red"}))
    assert "unknown key" in run("query out.parquet --where 'diagnosis = flu'", 65)[1]
    path.write_text("{")
    assert "not JSON" in run("query out.parquet --where 'diagnosis = flu'", 65)[1]


def test_a_manifest_that_contradicts_itself_is_refused(run, released):
    path = manifest_path(released[0]("out.csv"))
    document = json.loads(path.read_text())
    for gamma in (9, 2.5, 0):
        path.write_text(json.dumps({**document, "gamma": gamma}))
        assert "does not fit" in run("query out.csv --where 'diagnosis = flu'", 65)[1]


def test_releases_of_other_methods_and_without_manifest_are_refused(run, released, tmp_path):
    path = released[0]("out.csv")
    manifest_path(path).unlink()
    assert "has no manifest" in run("query out.csv --where 'diagnosis = flu'", 65)[1]
    text = (tmp_path / "spec.toml").read_text()
    (tmp_path / "spec.toml").write_text(text.replace('"splu-gen"\ngamma = 3', '"dbr"'))
    released[0]("out.csv")
    assert "splu-gen" in run("query out.csv --where 'diagnosis = flu'", 65)[1]


def test_a_part_of_a_release_is_refused(run, released):
    path = released[0]("out.parquet")
    manifest_path(path).unlink()
    notes = pq.read_metadata(path).metadata
    pq.write_table(pq.read_table(path).slice(0, 100).replace_schema_metadata(notes), path)
    assert "speaks of 1,200 rows" in run("query out.parquet --where 'diagnosis = flu'", 65)[1]
