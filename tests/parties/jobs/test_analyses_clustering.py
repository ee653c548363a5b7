"""Clustering from a job file to both results: each layout, exact and with noise, against the plain twin."""

from __future__ import annotations

import pytest

from tests.parties.jobs.institutions import job

X = {"type": "integer", "lower": 0, "upper": 100}
Y = {"type": "decimal", "scale": 1, "lower": "0", "upper": "50"}
CENTRES = [["10", "10"], ["90", "40"], ["50", "25"]]


def points(shift, count=8):
    """Rows around three centres."""
    middles = [(12, 11), (88, 41), (52, 24)]
    rows = [(i, *middles[i % 3]) for i in range(count)]
    return {
        "x": [x + (i * 5 + shift) % 7 - 3 for i, x, _ in rows],
        "y": [f"{y + ((i * 3 + shift) % 5 - 2) / 2:.1f}" for i, _, y in rows],
    }


def clustering(columns=("x", "y"), recipients=("alice", "bob"), **parameters):
    given = {"clusters": 3, "centres": CENTRES, "iterations": 3, **parameters}
    if "start" in parameters:
        del given["centres"]
    if not isinstance(columns, dict):
        given["columns"] = [*columns]
    return job("clustering", given, columns, recipients=recipients)


@pytest.fixture
def scattered(institutions):
    for name, shift in (("north", 0), ("south", 3)):
        institutions.hold(name, points(shift), {"x": X, "y": Y})
    return institutions


def close(done, name="north"):
    """Assert that centres, sizes, labels and inertia are those of the plain twin, up to fixed point."""
    joint, plain = done.tables(name), done.plain_tables(name)
    assert {*joint} == {*plain}
    assert joint["centres"]["size"] == plain["centres"]["size"]
    for axis, width in (("x", 100), ("y", 50)):
        for one, other in zip(joint["centres"][axis], plain["centres"][axis], strict=True):
            assert abs(float(one) - float(other)) < width / 1000
    assert joint.get("labels") == plain.get("labels")
    if "fit" in plain:
        one, other = joint["fit"]["inertia"][0], plain["fit"]["inertia"][0]
        assert abs(one - other) <= 0.001 * other
    return joint


def test_horizontal(scattered):
    done = scattered.run(clustering())
    for name in ("north", "south"):
        assert len(close(done, name)["labels"]["row"]) == 8
    assert done.tables("north")["centres"] == done.tables("south")["centres"]


def test_a_job_for_a_slow_link_sends_fewer_bytes(institutions):
    for name, shift in (("north", 0), ("south", 3)):
        institutions.hold(name, points(shift, 6_500), {"x": X, "y": Y})
    sent = {}
    for network in ({}, {"network": {"rtt_ms": 20, "mbit": 100}}):
        done = institutions.run(clustering(labels=False) | network)
        close(done)
        sent[bool(network)] = done.results["north"]["facts"]["sent"]
    assert sent[True] < 0.8 * sent[False]


def test_to_one_party_with_a_tolerance(scattered):
    done = scattered.run(clustering(recipients=["alice"], tolerance="0", iterations=6, labels=False))
    assert done.tables("south") == {}
    assert "labels" not in close(done)
    assert done.tables("north")["fit"]["iterations"][0] < 6


def test_vertical(institutions):
    cells = points(0)
    institutions.hold("north", {"x": cells["x"]}, {"x": X})
    institutions.hold("south", {"y": cells["y"]}, {"y": Y})
    columns = {"alice": ["x"], "bob": ["y"]}
    done = institutions.run(clustering(columns, layout="vertical", alice_columns=["x"], bob_columns=["y"]))
    assert close(done, "north")["labels"] == close(done, "south")["labels"]


@pytest.mark.parametrize("loss", [{}, {"epsilon": "8", "iterations": 1}])
def test_matched(institutions, loss):
    """Rows are in another order on either side, and 40 of 60 and 50 have a key in common."""
    cells = points(0, 70)
    declared = {"id": {"type": "text"}, "x": X, "y": Y}
    for name, axis, numbers in (("north", "x", range(60)), ("south", "y", range(69, 19, -1))):
        held = {"id": [f"P{i}" for i in numbers], axis: [cells[axis][i] for i in numbers]}
        institutions.hold(name, held, {key: declared[key] for key in held})
    columns = {"alice": ["id", "x"], "bob": ["id", "y"]}
    split = {"alice_columns": ["x"], "bob_columns": ["y"], "match": {"keys": ["id"]}}
    done = institutions.run(clustering(columns, layout="vertical", **split, **loss))
    assert done.tables("north") == done.tables("south")
    if loss:
        assert {*done.tables("north")} == {"centres"}
        assert institutions.spent("south") == 8
    else:
        assert sum(close(done)["centres"]["size"]) == 40


def test_arbitrary(institutions):
    """Every value lies with one of the parties; the other holds 0."""
    cells = points(0)
    for name, odd in (("north", 0), ("south", 1)):
        mine = [number % 2 == odd for number in range(8)]
        x = [value if own else 0 for value, own in zip(cells["x"], mine, strict=True)]
        y = [value if not own else "0" for value, own in zip(cells["y"], mine, strict=True)]
        institutions.hold(name, {"x": x, "y": y}, {"x": X, "y": Y})
    done = institutions.run(clustering(layout="arbitrary"))
    close(done)
    assert sorted(done.tables("north")["centres"]["size"]) == [2, 3, 3]


@pytest.mark.parametrize("start", ["kmeans++", "random", "uniform"])
def test_starts(scattered, start):
    done = scattered.run(clustering(start=start))
    assert sum(done.tables("south")["centres"]["size"]) == 16


def test_noisy(institutions):
    """60 persons; noise of epsilon 8 / 3 moves a centre by more than 25 with negligible probability."""
    for name in ("north", "south"):
        institutions.hold(name, points(1, 300), {"x": X, "y": Y})
    done = institutions.run(clustering(epsilon="8", iterations=1))
    assert done.tables("north")["centres"] == done.tables("south")["centres"]
    joint, plain = done.tables("north")["centres"], done.plain_tables("north")["centres"]
    for one, other in zip(joint["x"], plain["x"], strict=True):
        assert abs(float(one) - float(other)) < 25
    assert "fit" not in done.tables("north")
    assert institutions.spent("south") == 8


def test_centres_of_dates_are_dates(institutions):
    born = {"type": "date", "lower": "1940-01-01", "upper": "2000-12-31"}
    for name in ("north", "south"):
        cells = {"born": ["1950-06-01"] * 6 + ["1990-06-01"] * 6, "age": [*range(12)]}
        institutions.hold(name, cells, {"born": born, "age": {"type": "integer", "lower": 0, "upper": 20}})
    parameters = {"clusters": 2, "columns": ["born", "age"], "iterations": 3}
    done = institutions.run(job("clustering", parameters, ["born", "age"]))
    assert done.details("north")["kinds"] == {"centres": {"born": "day"}}
    for days in done.tables("north")["centres"]["born"]:
        assert -7200 < days < 7600
