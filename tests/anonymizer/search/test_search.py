"""The search: spaces read from specifications, the best point, the front, errors."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonymizer.errors import FileError, SpecError, TableError, UnreachableError
from anonymizer.search.measure import ReleaseMeasure
from anonymizer.search.search import SearchResult, SearchTrial, progress_bar, search
from anonymizer.search.space import Range, SearchSpace
from anonymizer.tables.randomness import Randomness
from anonymizer.tables.table import Table
from anonymizer.utility.objectives import Learning, fidelity

TEXT = """
[roles]
quasi_identifiers = ["age"]
sensitive = ["ill"]

[hierarchies]
age = { widths = [10, 50], lower = 0, upper = 100 }

[[steps]]
method = "generalization"
levels = { age = { choices = [1, 2] } }

[[steps]]
method = "sampling"
rate = { from = 0.5, to = 0.9, points = 3 }
"""


def space(text=TEXT, folder="."):
    from pathlib import Path

    return SearchSpace.of(tomllib.loads(text), Path(folder), "release.toml")


def people(count):
    r = Randomness(1)
    age = r.integers(100, count)
    ill = np.array(["no", "yes"], dtype=object)[(age + 10 * r.normal(count) > 60).astype(int)]
    return Table.of(pd.DataFrame({"age": age, "ill": ill}))


def test_a_space_names_its_parameters_and_fills_them(tmp_path):
    (tmp_path / "release.toml").write_text(TEXT, encoding="utf-8")
    found = SearchSpace.read(tmp_path / "release.toml")
    assert set(found.free) == {"generalization.levels.age", "sampling.rate"}
    assert found.free["sampling.rate"].grid == (0.5, 0.7, 0.9)
    assert len(found.grid) == 6
    steps = found.spec({"generalization.levels.age": 2, "sampling.rate": 0.6}).steps
    assert steps[0]["levels"] == {"age": 2}
    assert steps[1]["rate"] == 0.6
    assert found.document["steps"][1]["rate"] == {"from": 0.5, "to": 0.9, "points": 3}


def test_what_a_search_chose_says_so():
    chosen = space().spec({"generalization.levels.age": 2, "sampling.rate": 0.6})
    assert chosen.document["chosen_on"] == "the data"
    assert "release of them too" in chosen.choice


def test_a_method_that_comes_twice_has_its_number_in_the_name():
    text = TEXT + '[[steps]]\nmethod = "sampling"\nrate = { choices = [0.9] }\n'
    assert set(space(text).free) == {"generalization.levels.age", "2-sampling.rate", "3-sampling.rate"}


@given(st.integers(1, 50), st.integers(0, 60), st.integers(1, 20), st.booleans())
def test_grids_stay_between_their_ends(low, more, points, log):
    for ends in ((low, low + more), (low / 7, (low + more) / 7)):
        grid = Range(*ends, points, log, isinstance(ends[0], int)).grid
        assert grid[0] == pytest.approx(ends[0])
        assert points == 1 or more == 0 or grid[-1] == pytest.approx(ends[1])
        assert list(grid) == sorted(set(grid))
        assert len(grid) <= points


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("rate = { from = 0.5, to = 0.9, point = 3 }", "unknown key 'point'"),
        ("rate = { from = 1.0, to = 0.5 }", "not a range"),
        ("rate = { from = 0.0, to = 0.5, scale = 'log' }", "not a range"),
        ("rate = { from = 0.1, to = 0.5, scale = 'lag' }", "'log'"),
        ("rate = { from = 'a', to = 0.5 }", "not a number"),
        ("rate = { from = 0.1, to = 0.5, points = 0 }", "points"),
        ("rate = { choices = [] }", "empty"),
    ],
)
def test_malformed_ranges_are_named(line, message):
    with pytest.raises(SpecError, match=message) as caught:
        space(TEXT.replace("rate = { from = 0.5, to = 0.9, points = 3 }", line))
    assert "release.toml, sampling.rate" in str(caught.value)


def test_nothing_to_search_for_and_no_file(tmp_path):
    with pytest.raises(SpecError, match="nothing to search"):
        space("[[steps]]\nmethod = 'sampling'\nrate = 0.5")
    with pytest.raises(FileError):
        SearchSpace.read(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("a = ", encoding="utf-8")
    with pytest.raises(SpecError, match="not valid TOML"):
        SearchSpace.read(tmp_path / "bad.toml")
    with pytest.raises(SpecError, match="no method 'samplin'"):
        space(TEXT.replace('"sampling"', '"samplin"')).spec(
            {"generalization.levels.age": 1, "samplin.rate": 0.5}
        )


def test_the_grid_finds_the_best_within_the_limit():
    told = []

    def measure(point):
        rate, level = point["sampling.rate"], point["generalization.levels.age"]
        if rate == 0.7:
            raise TableError("No such release.", "Take another.")
        return rate / level, rate + (level == 1)

    found = search(space(), measure, 0.5, on_progress=lambda *state: told.append(state))
    assert found.best.point == {"generalization.levels.age": 1, "sampling.rate": 0.5}
    assert [state[:2] for state in told] == [(done, 6) for done in range(1, 7)]
    frame = found.frame
    assert len(frame) == 6
    assert frame.problem.astype(bool).sum() == 2
    assert frame.loc[frame.allowed, "risk"].max() <= 0.5
    with pytest.raises(UnreachableError, match=r"risk of 0.1 or less; the lowest is 0.25"):
        _ = SearchResult(0.1, found.trials).best
    with pytest.raises(UnreachableError, match="None of 1 trials"):
        _ = SearchResult(0.1, (SearchTrial({}, problem="No such release."),)).best


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20))
def test_the_front_equals_brute_force(pairs):
    trials = tuple(SearchTrial({}, float(risk), float(utility)) for risk, utility in pairs)
    beaten = [
        any((r <= risk and u >= utility) and (r < risk or u > utility) for r, u in pairs)
        for risk, utility in pairs
    ]
    assert SearchResult(1, trials).front.tolist() == [not one for one in beaten]


def test_a_search_over_real_releases():
    table = people(300)
    with progress_bar() as told:
        by_learning = search(
            space(),
            ReleaseMeasure(space(), table, Learning(table, target="ill", random_state=1)),
            0.2,
            on_progress=told,
        )
    assert by_learning.best.risk <= 0.2
    assert 0.5 < by_learning.best.utility < 1.2
    measure = ReleaseMeasure(space(), table, fidelity, repetitions=2, average=True, random_state=1)
    first, second = (search(space(), measure, 0.5) for _ in range(2))
    assert first.trials == second.trials
    finest = {
        one.point["generalization.levels.age"]: one
        for one in first.trials
        if one.point["sampling.rate"] == 0.9
    }
    assert finest[1].utility > finest[2].utility
    assert finest[1].risk > finest[2].risk


def test_an_unknown_strategy_is_named():
    with pytest.raises(SpecError, match="'bayes'"):
        search(space(), lambda point: (0.0, 0.0), 1, strategy="bayesian")


def test_bayesian_search_keeps_the_limit():
    pytest.importorskip("optuna")
    found = search(
        space(),
        lambda point: (point["sampling.rate"], point["sampling.rate"] * point["generalization.levels.age"]),
        0.8,
        strategy="bayes",
        trials=40,
        random_state=1,
    )
    assert len(found.trials) == 40
    assert found.best.risk <= 0.8
    assert found.best.utility > 1.5


@pytest.mark.parametrize(
    ("points", "word"), [(10**9, "points is not 1 to 10,000"), (True, "points"), (0, "points")]
)
def test_grids_are_not_built_before_they_are_checked(tmp_path, points, word):
    given = {"from": 0.1, "to": 1.0, "points": points}
    with pytest.raises(SpecError, match=word):
        SearchSpace.of({"steps": [{"method": "noise", "epsilon": given}]}, tmp_path)


def test_too_many_combinations_are_refused(tmp_path):
    free = {"from": 0.1, "to": 1.0, "points": 5000}
    steps = [{"method": "noise", "epsilon": free}, {"method": "sampling", "rate": free}]
    with pytest.raises(SpecError, match="25,000,000 combinations"):
        SearchSpace.of({"steps": steps}, tmp_path).grid  # noqa: B018


@pytest.mark.parametrize("end", [10**400, float("inf"), float("nan"), True, "1"])
def test_ends_that_are_no_numbers_are_refused(tmp_path, end):
    with pytest.raises(SpecError, match="end is not a number"):
        SearchSpace.of({"steps": [{"method": "noise", "epsilon": {"from": 0, "to": end}}]}, tmp_path)


WEIGHED = """
[roles]
quasi_identifiers = ["age", "town"]
sensitive = ["ill"]

[hierarchies]
age = { widths = [10, 50], lower = 0, upper = 100 }
town = { rows = [["a", "n", "*"], ["b", "n", "*"], ["c", "s", "*"], ["d", "s", "*"]] }

[[steps]]
method = "local-recoding"
k = 4
weights = { age = { from = 0.01, to = 100.0, points = 2, scale = "log" }, town = 1.0 }
limits = { age = { choices = [[0, 3], [1, 2]] }, town = [{ choices = [0, 1] }, 2] }
"""


def test_weights_and_limits_are_searched_for():
    names = ["weights.age", "limits.age", "limits.town.0"]
    free = space(WEIGHED)
    assert set(free.free) == {f"local-recoding.{name}" for name in names}
    assert len(free.grid) == 8
    original = people(200)
    r = Randomness(2)
    original = Table.of(original.native.assign(town=np.array(list("abcd"))[r.integers(4, 200)]))
    changed = {}
    for point in free.grid:
        spec = free.spec(point)
        release = spec.pipeline().release(original.declare(spec.roles, spec.hierarchies, spec.schema))
        frame = release.table.native
        weight, limits, least = (point[f"local-recoding.{name}"] for name in names)
        assert spec.steps[0]["weights"] == {"age": weight, "town": 1.0}
        if limits == [1, 2]:
            assert set(frame["age"]) <= {
                *(f"[{a}, {a + 10})" for a in range(0, 100, 10)),
                "[0, 50)",
                "[50, 100]",
            } | {"[90, 100]"}
        if least:
            assert not set(frame["town"]) & set("abcd")
        changed[weight, tuple(limits), least] = int((frame["town"].isin(list("abcd"))).sum())
    assert changed[0.01, (0, 3), 0] > changed[100.0, (0, 3), 0]
    measured = ReleaseMeasure(free, original, fidelity)(free.grid[0])
    assert 0 < measured[0] <= 1


def test_limits_that_cannot_be_are_named_at_the_point():
    wrong = space(WEIGHED.replace("[1, 2]]", "[1, 7]]"))
    bad = [point for point in wrong.grid if point["local-recoding.limits.age"] == [1, 7]]
    with pytest.raises(SpecError, match="limits of 'age'"):
        ReleaseMeasure(wrong, people(40).replace({"town": np.array(["a", "c"] * 20)}), fidelity)(bad[0])
