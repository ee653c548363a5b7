"""Every analysis from a job file on public data sets, where the folder with them lies beside the checkout.

Another folder can be named by the environment variable DUETTO_SHARED_DATA. The data: FEBRL 4 and the
vertically split persons of anonlink (linkage), wine quality and adult income of the UCI repository.
"""

from __future__ import annotations

import csv
import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.parties.jobs.institutions import job
from tests.support.grids import grid

DATA = Path(os.environ.get("DUETTO_SHARED_DATA", Path(__file__).parents[4] / "shared" / "data"))
NAMES = ("north", "south")
TEXT = {"type": "text"}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not here")


def cells(name, columns, keep):
    """Some columns of the rows of a file whose number `keep` takes."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = [row for number, row in enumerate(csv.DictReader(file)) if keep(number, row)]
    return {column: [row[column].strip() for row in rows] for column in columns}


FEBRL = ("rec_id", "given_name", "surname", "postcode", "date_of_birth")
FIELDS = [
    {"column": "given_name"},
    {"column": "surname", "weight": 2},
    {"column": "date_of_birth", "weight": 2},
]
OPTIONAL = {"type": "text", "impute": ""}


@pytest.mark.parametrize("persons", grid([150, 2000], [150]))
def test_persons_with_typing_errors(institutions, persons):
    with (DATA / "linkage" / "febrl4_truth.csv").open(newline="") as file:
        truth = [*islice(csv.reader(file), 1, persons + 1)]
    for name, file, place in (("north", "febrl4a.csv", 0), ("south", "febrl4b.csv", 1)):
        wanted = {pair[place] for pair in truth}
        own = cells(f"linkage/{file}", FEBRL, lambda _, row, w=wanted: row["rec_id"] in w)
        institutions.hold(name, own, dict.fromkeys(FEBRL, OPTIONAL) | {"rec_id": TEXT})
    document = job(
        "matching",
        {
            "method": "tolerant",
            "fields": FIELDS,
            "threshold": "0.7",
            "blocking": [["date_of_birth:value"], ["surname:soundex"], ["postcode:value"]],
            "show": ["rec_id"],
        },
        FEBRL,
    )
    done = institutions.run(document)
    tables = [done.tables(name)["pairs"] for name in NAMES]
    plain = done.plain_tables("north")["pairs"]
    joint = {*zip(tables[0]["row"], tables[1]["row"], strict=True)}
    assert joint == {*zip(plain["row"], plain["partner"], strict=True)}
    found = {*zip(tables[0]["rec_id"], tables[1]["rec_id"], strict=True)}
    true = found & {(one, other) for one, other in truth}
    assert 2 * len(true) / (len(found) + persons) > 0.9


@pytest.mark.parametrize("output", ["keys", "size", "shares"])
def test_persons_by_number(institutions, output):
    for name, file in (("north", "vertical_alice.csv"), ("south", "vertical_bob.csv")):
        institutions.hold_source(name, DATA / "linkage" / file, {"id": TEXT, "surname": OPTIONAL})
    done = institutions.run(job("matching", {"method": "exact", "keys": ["id"], "output": output}, ["id"]))
    ids = [
        {*cells(f"linkage/vertical_{name}.csv", ["id"], lambda *_: True)["id"]} for name in ("alice", "bob")
    ]
    both = len(ids[0] & ids[1])
    assert both > 1000
    if output == "shares":
        parts = [map(int, done.tables(name)["shares"]["member"]) for name in NAMES]
        assert sum(sum(pair) % 2**64 for pair in zip(*parts, strict=True)) == both
    else:
        assert done.tables("north") == done.plain_tables("north")
        assert done.tables("south")["intersection"]["size"] == [both]


def decimal(lower, upper, scale=2):
    return {"type": "decimal", "scale": scale, "lower": lower, "upper": upper}


WINE = {
    "alcohol": decimal("8", "15", 15),
    "pH": decimal("2", "5"),
    "residual_sugar": decimal("0", "70"),
}


def wines(institutions, keep):
    for name, colour in (("north", "red"), ("south", "white")):
        own = cells(f"wine_{colour}.csv", WINE, keep)
        own["alcohol"] = [f"{float(cell):.2f}" for cell in own["alcohol"]]
        institutions.hold(name, own, WINE | {"alcohol": decimal("8", "15")})


@pytest.mark.parametrize("every", grid([4, 1], [4]))
def test_clusters_of_wines(institutions, every):
    wines(institutions, lambda number, _: number % every == 0)
    centres = [["9.5", "3.2", "2"], ["10", "3.1", "14"], ["12.5", "3.3", "3"]]
    parameters = {"clusters": 3, "columns": [*WINE], "centres": centres, "iterations": 5}
    done = institutions.run(job("clustering", parameters, [*WINE]))
    for name in NAMES:
        joint, plain = done.tables(name), done.plain_tables(name)
        alike = [a == b for a, b in zip(joint["labels"]["cluster"], plain["labels"]["cluster"], strict=True)]
        assert sum(alike) >= 0.99 * len(alike)
        assert joint["fit"]["inertia"][0] == pytest.approx(plain["fit"]["inertia"][0], rel=0.001)


def test_wines_that_are_alike(institutions):
    """Many wines are equally far away, so that the distances are compared, up to the precision of 16 bits."""
    wines(institutions, lambda number, _: number < 80)
    parameters = {"method": "vectors", "columns": [*WINE], "nearest": 2, "scaling": "range", "precision": 16}
    document = job("matching", parameters, [*WINE])
    done = institutions.run(document)
    ranges = np.array([700, 300, 7000])
    red, white = (
        np.array([institutions.data(name, document)[column].array for column in WINE]).T / ranges
        for name in NAMES
    )
    rows = [np.array(done.tables(name)["pairs"]["row"]) - 1 for name in NAMES]
    assert sorted(rows[0]) == sorted([*range(80)] * 2)
    distances = ((red[:, None] - white[None]) ** 2).sum(axis=2)
    nearest = np.sort(distances, axis=1)[:, :2].sum(axis=1)
    found = np.bincount(rows[0], distances[rows[0], rows[1]])
    assert np.abs(found - nearest).max() < 1e-4


ADULT = {
    "age": {"type": "integer", "lower": 17, "upper": 90},
    "hours_per_week": {"type": "integer", "lower": 1, "upper": 99},
    "sex": {"type": "category", "values": ["Female", "Male"]},
    "income": {"type": "category", "values": ["<=50K", ">50K"]},
    "workclass": {
        "type": "category",
        "values": [
            *("Federal-gov", "Local-gov", "Never-worked", "Private"),
            *("Self-emp-inc", "Self-emp-not-inc", "State-gov", "Without-pay"),
        ],
        "missing": "drop",
        "missing_tokens": ["?"],
    },
}
QUERIES = [
    {"kind": "histogram", "column": "workclass"},
    {"kind": "crosstab", "columns": ["sex", "income"], "test": True},
    {"kind": "mean", "column": "hours_per_week", "by": "sex"},
]
NOISY = [
    *QUERIES,
    {"kind": "median", "column": "age", "step": "1"},
    {"kind": "correlation", "columns": ["age", "hours_per_week"]},
    {"kind": "regression", "target": "hours_per_week", "on": ["age"]},
    {"kind": "t-test", "column": "hours_per_week", "by": "sex"},
]


def adults(institutions):
    for name, file in (("north", "adult_train.csv"), ("south", "adult_test.csv")):
        institutions.hold_source(name, DATA / file, ADULT)


def test_exact_statistics_of_adults(institutions):
    adults(institutions)
    done = institutions.run(job("statistics", {"noise": "none", "queries": QUERIES}, [*ADULT][1:]))
    assert done.tables("north") == done.plain_tables("north")
    assert "missing: 1836; by column: workclass (1836)" in done.notes("north")


@pytest.mark.parametrize("noise", [{"epsilon": "1"}, {"noise": "gaussian", "rho": "1/20"}])
def test_noisy_statistics_of_adults(institutions, noise):
    """The noise is 40 times its scale with a probability of e**-40."""
    adults(institutions)
    parameters = {"maximum_rows": 100_000, "queries": NOISY, **noise}
    done = institutions.run(job("statistics", parameters, [*ADULT]))
    noisy, plain = (tables["results"] for tables in (done.tables("south"), done.plain_tables("south")))
    for place, kind in enumerate(plain["kind"]):
        value, exactly = noisy["value"][place], plain["value"][place]
        if kind == "mean":
            assert abs(value - exactly) < 0.5
        elif kind == "median":
            assert abs(int(value) - int(exactly)) <= 1
        elif kind == "t-test":
            assert abs(value - exactly) < 0.5
            assert noisy["lower_95"][place] < value < noisy["upper_95"][place]
    bins = [tables["histogram of workclass"] for tables in (done.tables("south"), done.plain_tables("south"))]
    assert bins[0].keys() == bins[1].keys()
