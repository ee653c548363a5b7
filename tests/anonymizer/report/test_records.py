"""Each record before and after: exact where rows are shuffled, sampled and suppressed."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from anonymizer.errors import TableError
from anonymizer.measures.risk import simulator
from anonymizer.pipelines.spec import read as read_spec
from anonymizer.report.records import record_risks
from anonymizer.risk.simulator import simulate_attack
from anonymizer.tables import files
from tests.anonymizer.cli.test_cli import people

SPEC = """
[roles]
identifiers = ["name"]
quasi_identifiers = ["age", "city"]
sensitive = ["illness"]
[hierarchies]
age = { widths = [10, 40], lower = 0, upper = 120 }
city = { rows = [["Ulm", "south", "*"], ["Rom", "south", "*"], ["Oslo", "north", "*"]] }
"""
SUPPRESSED = """
[[steps]]
method = "sampling"
rate = 0.75
[[steps]]
method = "generalization"
levels = { age = 1, city = 1 }
[[steps]]
method = "suppress-records"
k = 2
maximum_suppression = 0.9
unchanged = "nobody stands alone this time"
"""
SYNTHETIC = """
[columns]
age = { type = "integer", bounds = [0, 120] }
city = { type = "category", categories = ["Ulm", "Rom", "Oslo"] }
illness = { type = "category", categories = ["flu", "cold"] }
[[steps]]
method = "synth-copula"
columns = ["age", "city", "illness"]
"""


@pytest.fixture
def home(tmp_path):
    people().to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "s.toml").write_text(SPEC + SUPPRESSED)
    (tmp_path / "out").mkdir()
    return tmp_path


def test_records_are_those_of_the_release_however_its_rows_were_moved(run, home):
    run("anonymize data.csv --spec s.toml -o out/out.csv --records records.csv")
    records, data, released = (pd.read_csv(name) for name in ("records.csv", "data.csv", "out/out.csv"))
    assert sorted(records.row) == list(range(1, 61))
    own = data.loc[records.row - 1].reset_index(drop=True)
    assert (records["age before"] == own.age).all()
    assert (records["city before"] == own.city).all()
    kept = records[records.released == "yes"]
    assert len(kept) == len(released) < 60
    sizes = released.groupby(["age", "city"]).size().to_dict()
    assert (
        kept.alike == [sizes[key] for key in zip(kept["age after"], kept["city after"], strict=True)]
    ).all()
    lost = records[records.released == "no"]
    assert lost[["age after", "city after"]].isna().all(axis=None)
    assert (lost.alike == 0).all()
    assert (lost.risk == 0).all()
    assert records.risk.is_monotonic_decreasing
    for age, label in zip(kept["age before"], kept["age after"], strict=True):
        low, high = ends(label)
        assert low <= age < high, "the label is of the record's own age"


def ends(label: str) -> tuple[float, float]:
    low, high = label.strip("[]()").replace(" ", "").split(",")
    return float(low), float(high)


def test_risks_are_those_of_the_simulator(home):
    spec = read_spec(home / "s.toml")
    table = files.table(home / "data.csv").declare(spec.roles, spec.hierarchies, spec.schema)
    pipeline = spec.pipeline(3)
    release = pipeline.fit_transform_table(table)
    found = record_risks(table, release, pipeline)
    risks = simulate_attack(table, release, pipeline, rate=pipeline.sampling_rate).risks
    assert found.measure == "simulator"
    assert (found.risks == risks[found.rows]).all()
    assert risks.max() > 0


def test_where_the_simulator_takes_too_long_all_are_measured_by_rows_alike(home, monkeypatch):
    spec = read_spec(home / "s.toml")
    table = files.table(home / "data.csv").declare(spec.roles, spec.hierarchies, spec.schema)
    pipeline = spec.pipeline(3)
    release = pipeline.fit_transform_table(table)
    monkeypatch.setattr(simulator, "PAIRS", 1)
    monkeypatch.setattr(simulator, "MIN_RECORDS", 20)
    found = record_risks(table, release, pipeline)
    assert found.measure == "prosecutor"
    assert found.why == "the attack simulator would take too long for all records"
    here = found.alike > 0
    assert (found.risks[here] == 1 / found.alike[here]).all()


def test_nobody_else_may_read_the_file(run, home):
    Path("records.csv").write_text("older")
    Path("records.csv").chmod(0o644)
    run("anonymize data.csv --spec s.toml -o out/out.csv --records records.csv")
    assert stat.S_IMODE(Path("records.csv").stat().st_mode) == 0o600
    Path("duetto-releases.jsonl").unlink()
    run("anonymize data.csv --spec s.toml -o out/out.csv --records records.parquet")
    assert len(pl.read_parquet("records.parquet")) == 60


def test_it_does_not_lie_beside_the_release(run, home):
    Path("out/for me").mkdir()
    for place in ("out/records.csv", "out/for me/records.csv"):
        _, err = run(f"anonymize data.csv --spec s.toml -o out/out.csv --records '{place}'", status=65)
        assert f"{place} holds personal data and would lie beside the release, or below its folder." in err
    assert [path.name for path in Path("out").rglob("*")] == ["for me"]
    Path("mine").mkdir()
    run("anonymize data.csv --spec s.toml -o out.csv --records mine/records.csv")  # where the original lies
    Path("out/original").mkdir()
    Path("data.csv").rename("out/original/data.csv")
    run("anonymize out/original/data.csv --spec s.toml -o out/out.csv --records out/original/records.csv")


def test_the_first_are_printed_beside_each_other(run, home):
    out, _ = run("anonymize data.csv --spec s.toml -o out/out.csv --top 3")
    lines = out.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("the 3 records in most danger, by the"))
    assert lines[head].endswith("(personal data):")
    assert lines[head + 1].split() == ["row", "alike", "risk", "age", "city"]
    assert len(lines) == head + 5
    assert all(len(line) <= 80 and "→" in line for line in lines[head + 2 :])
    Path("duetto-releases.jsonl").unlink()
    told = json.loads(run("anonymize data.csv --spec s.toml -o out/out.csv --top 3 --json")[0])
    assert [set(one) for one in told["top"]] == [{"row", "released", "alike", "risk", "before", "after"}] * 3
    assert told["records"] is None


def test_wide_records_are_printed_below_each_other_and_obey_nobody(run, home):
    frame = people().assign(city=["\x1b[31mUlm" + "x" * 90] * 60)
    frame.to_csv("data.csv", index=False)
    text = (SPEC + SUPPRESSED).replace('"Ulm"', '"\\u001b[31mUlm' + "x" * 90 + '"')
    Path("s.toml").write_text(text)
    out, _ = run("anonymize data.csv --spec s.toml -o out/out.csv --top 2")
    assert "\x1b" not in out
    assert out.count("  city:  [31mUlm") == 2


def test_a_synthetic_row_is_no_record(run, home):
    Path("s.toml").write_text(SPEC + SYNTHETIC)
    _, err = run("anonymize data.csv --spec s.toml -o out/out.csv --records r.csv", status=65)
    assert "nobody's: no record has become one of them" in err
    assert not list(Path("out").iterdir()), "said before anything is released"
    assert not Path("r.csv").exists()


def test_without_quasi_identifiers_there_is_nothing_to_show(home):
    spec = read_spec(home / "s.toml")
    table = files.table(home / "data.csv")
    with pytest.raises(TableError, match="No quasi-identifiers"):
        record_risks(table, table, spec.pipeline())
