"""Releases whose quasi-identifiers are others, or were drawn at random, beside those before them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from anonymizer.gate.recording import Recording
from anonymizer.gate.together import HeldRelease, ReleasesTogether, measure_together
from anonymizer.hierarchies.labels import spans_of
from anonymizer.pipelines.spec import read
from anonymizer.releases.ledger import NAME, ReleaseLedger, SourceTable
from anonymizer.releases.release import Release
from anonymizer.tables import files
from anonymizer.tables.table import Table

TREES = {
    "age": "age = { widths = [5, 10, 20, 40], lower = 0, upper = 120 }\n",
    "zip": "zip = { prefix = 5 }\n",
    "sex": 'sex = { rows = [["F", "*"], ["M", "*"]] }\n',
}
JOBS = 'job = { rows = [["clerk", "*"], ["nurse", "*"], ["farmer", "*"], ["cook", "*"]] }\n'
INTERVALS = "age = { levels = [[0, 18, 33, 47, 53, 67, 87, 120]] }\n"
TOWNS = """zip = { rows = [["89073", "x", "*"], ["89075", "x", "*"], ["88400", "y", "*"],
    ["88410", "y", "*"]] }
"""
AGES = '[columns]\nage = { type = "integer", bounds = [0, 120] }\n'
CHANCE = {
    "sex": ("pram", '[columns]\nsex = { categories = ["F", "M"] }\n', "retention = 0.99"),
    "age": ("dp-noise", AGES, "epsilon = 50.0"),
    "zip": ("swapping", "", "rate = 0.1"),
}
K = '[[steps]]\nmethod = "local-recoding"\nk = 5\n'


def spec(keys: str, steps: str = K, columns: str = "", **trees: str) -> str:
    names = keys.split()
    out = [name for name in ("id", "age", "zip", "sex", "job") if name not in names]
    roles = f"[roles]\nidentifiers = {json.dumps(out)}\nquasi_identifiers = {json.dumps(names)}\n"
    known = "".join(line for name, line in {**TREES, **trees}.items() if name in names)
    return f'{roles}sensitive = ["dx", "income"]\n{columns}[hierarchies]\n{known}{steps}'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(5)
    rows = 200
    pd.DataFrame(
        {
            "id": [f"P{number:05d}" for number in range(rows)],
            "age": draw.integers(18, 96, rows),
            "zip": draw.choice(["89073", "89075", "88400", "88410"], rows),
            "sex": draw.choice(list("FM"), rows),
            "job": draw.choice(["clerk", "nurse", "farmer", "cook"], rows),
            "dx": draw.choice(["I10", "E11", "J45", "F32"], rows),
            "income": 37 * draw.permutation(rows) + 2000,
        }
    ).to_csv("p.csv", index=False)


def made(text: str) -> Release:
    Path("spec.toml").write_text(text)
    known = read(Path("spec.toml"))
    original = files.table("p.csv").declare(known.roles, known.hierarchies, known.schema)
    return known.pipeline(1).release(original)


def chance(name: str) -> str:
    method, columns, how = CHANCE[name]
    return spec("age zip sex", f'[[steps]]\nmethod = "{method}"\n{how}\ncolumns = ["{name}"]\n', columns)


def beside(second: Release, *before: Release) -> ReleasesTogether:
    """The last release beside others, which are as they are read of their files."""
    held = [
        HeldRelease(
            "this release" if record is None else f"release {record}",
            record,
            one.table if record is None else Table.of(one.native),
            one.table.roles.quasi_identifiers,
            one.guarantees,
            persons=one.origin if record is None else None,
            blurred=one.blurred,
        )
        for record, one in ((None, second), *enumerate(before))
    ]
    assert second.original is not None
    return measure_together(second.original, held)


def test_a_release_with_fewer_quasi_identifiers_does_not_undo_one_with_more():
    """Who knows age, zip and sex has k = 5 in the first; the rows of the second link by dx and income."""
    step = '[[steps]]\nmethod = "generalization"\nlevels = { age = 1 }\n'
    second = made(spec("age sex", step, age="age = { levels = [[0, 53, 120]] }\n"))
    first = made(spec("age zip sex", age="age = { widths = [40], lower = 0, upper = 120 }\n"))
    joint = beside(second, first)
    [finding] = joint.findings()
    assert "k = 5 is promised of release 0" in finding.what
    assert joint.worst is not None
    assert joint.worst.left[1].k == fewest(first, 53) < 5
    assert joint.unmeasured == ()


def fewest(first: Release, boundary: int) -> int:
    """The fewest rows of the first that a person may be, of its sex and on its side of a boundary of ages.

    Incomes are all different, so that each row of the first has one partner in the second.
    """
    people = pd.read_csv("p.csv", dtype={"zip": str})
    labels = first.table.native.to_pandas().astype(str)
    spans = spans_of(labels["age"])
    least = len(people)
    rows = people.iloc[first.origin]
    for one in people.itertuples():
        fits = (spans[:, 0] <= one.age) & ((one.age < spans[:, 1]) | (spans[:, 0] == spans[:, 1]))
        fits &= np.array([one.zip.startswith(label.rstrip("*")) for label in labels["zip"]])
        fits &= labels["sex"].isin(["*", one.sex]).to_numpy()
        alike = (rows["sex"] == one.sex) & ((rows["age"] < boundary) == (one.age < boundary))
        least = min(least, int((fits & alike.to_numpy()).sum()))
    return least


def test_who_knows_what_two_releases_ask_for_apart_is_looked_for_by_all_of_it():
    """The second asks for sex and job alone; who knows age and zip besides has both releases."""
    joint = beside(made(spec("sex job", job=JOBS)), made(spec("age zip sex")))
    assert joint.worst is not None
    assert joint.worst.k < 5
    assert any("k = 5 is promised of release 0" in one.what for one in joint.findings())


@pytest.mark.parametrize("name", CHANCE)
@pytest.mark.parametrize("is_last", [True, False])
def test_chance_on_one_quasi_identifier_hides_nothing_of_the_others(name, is_last):
    exact, drawn = made(spec("age zip sex")), made(chance(name))
    joint = beside(drawn, exact) if is_last else beside(exact, drawn)
    assert joint.worst is not None
    assert joint.worst.k < 5
    assert any("k = 5 is promised of" in one.what for one in joint.findings())
    record = None if is_last else 0
    assert [one.to_document() for one in joint.unmeasured] == [
        {"record": record, "why": "drawn", "columns": [name]}
    ]


def test_who_knows_less_than_all_is_not_hidden_by_who_knows_more():
    """With income among what is known everybody is alone in the first; its promise is not about that."""
    wide = spec("age sex income", '[[steps]]\nmethod = "generalization"\nlevels = { age = 3, income = 2 }\n')
    wide = wide.replace('"dx", "income"', '"dx"').replace(
        "[hierarchies]\n", "[hierarchies]\nincome = { widths = [2, 4], lower = 2000, upper = 9400 }\n"
    )
    joint = beside(
        made(wide), made(spec("age zip sex", age=INTERVALS, steps=K.replace("local-recoding", "incognito")))
    )
    alone = [view.left[places.index(1)].k_alone for places, view in joint.views if 1 in places]
    assert min(alone) == 1 < 5 <= max(alone)


def test_labels_of_another_hierarchy_are_said_and_not_taken_for_nobodys():
    levels = '[[steps]]\nmethod = "generalization"\nlevels = { age = 3, zip = 1, sex = 1 }\n'
    joint = beside(made(spec("age zip sex")), made(spec("age zip sex", levels, zip=TOWNS)))
    assert [one.to_document() for one in joint.unmeasured] == [
        {"record": 0, "why": "labels", "columns": ["zip"]}
    ]
    assert joint.worst is not None
    assert joint.worst.left[1].persons == 200


def test_masked_codes_are_read_without_a_hierarchy():
    joint = beside(made(spec("age sex", age=INTERVALS)), made(spec("age zip sex")))
    assert joint.unmeasured == ()
    assert {view.left[places.index(1)].persons for places, view in joint.views} == {200}


def test_a_column_that_the_table_has_no_more_is_said():
    before = made(spec("age zip sex"))
    frame = pd.read_csv("p.csv", dtype=str)
    frame.drop(columns="zip").to_csv("p.csv", index=False)
    joint = beside(made(spec("age sex").replace('"zip", ', "")), before)
    assert [(one.why, one.columns) for one in joint.unmeasured] == [("columns", ("zip",))]


def test_a_release_by_the_command_has_what_is_not_known_in_its_manifest(run):
    Path("first.toml").write_text(spec("age zip sex"))
    run("anonymize p.csv --spec first.toml -o first.csv")
    accepted = '[[accept]]\nfinding = "together"\nwhy = "a trial"\n'
    Path("second.toml").write_text(chance("sex") + accepted)
    out, err = run("anonymize p.csv --spec second.toml -o second.csv")
    together = json.loads(Path("second.csv.manifest.json").read_text())["together"]
    assert "together with 1 release before: at most k = " in out
    assert "The cells of sex in this release were drawn at random" in " ".join(err.split())
    assert together["k"] is None
    assert together["l"] == {}
    assert together["at_most"]["k"] < 5
    assert together["unmeasured"] == [{"record": None, "why": "drawn", "columns": ["sex"]}]


def test_chance_on_all_quasi_identifiers_is_said():
    only = CHANCE["age"][2]
    text = spec("age", f'[[steps]]\nmethod = "dp-noise"\n{only}\ncolumns = ["age"]\n', AGES)
    joint = beside(made(text), made(spec("age zip sex")))
    assert joint.worst is None
    assert [one.why for one in joint.unmeasured] == ["drawn", "keys"]


def test_means_are_not_taken_for_the_ages_of_others():
    steps = '[[steps]]\nmethod = "mdav"\nk = 5\ncolumns = ["age"]\n'
    with ReleaseLedger(Path(NAME).resolve()).open() as held:
        one = Recording.of(held, SourceTable("p.csv", "1" * 64))
        release = made(spec("age", steps, AGES))
        assert one.beside(release, None).blurred == ("age",)
        assert one.beside(made(spec("age zip sex")), None).blurred == ()


def test_quasi_identifiers_are_on_record_and_of_older_records_those_that_were_promised(run):
    Path("first.toml").write_text(spec("age zip sex"))
    run("anonymize p.csv --spec first.toml -o first.csv")
    ledger = ReleaseLedger(Path(NAME).resolve())
    [one] = ledger.history(SourceTable("p.csv", "")).releases
    assert one.quasi_identifiers == one.keys == ("age", "zip", "sex")
    assert set(replace(one, quasi_identifiers=()).keys) == {"age", "zip", "sex"}


def test_the_same_release_once_more_is_measured_whole():
    one = made(spec("age zip sex"))
    joint = beside(one, one)
    assert joint.worst is not None
    assert joint.worst.k == joint.worst.left[0].k_alone >= 5
    assert joint.unmeasured == ()
    assert list(joint.findings()) == []
