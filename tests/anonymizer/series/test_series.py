"""Logs as matrices, factorization, and what is released of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from anonymizer.errors import AnonymizerError, GateError, TableError
from anonymizer.gate.gate import Gate
from anonymizer.methods.perturbation.dp_noise import DpNoise
from anonymizer.methods.perturbation.mdav import MDAV
from anonymizer.methods.perturbation.noise import Noise
from anonymizer.methods.recoding.clustering import KMember
from anonymizer.methods.reduction.sampling import Sampling
from anonymizer.pipelines.pipeline import Pipeline
from anonymizer.series.factorization import Factors, deviation, factorize, refit_features
from anonymizer.series.log import Log
from anonymizer.series.matrix import Window, matrices
from anonymizer.series.recombined import Recombined
from anonymizer.tables import files
from anonymizer.tables.table import Table

TABLE_5_1 = pd.DataFrame(
    {
        "ID": [*"xyxzxxz"],
        "Date": [f"2016-12-01 16:{clock}" for clock in
                 ("13:48", "15:14", "17:13", "19:01", "21:15", "22:42", "25:01")],
        "URL": ["www.google.com", "mail.google.com", "www.youtube.com", "www.facebook.com",
                "www.youtube.com", "www.google.com", "www.youtube.com"],
    }
)  # fmt: skip
FIRST = Window("2016-12-01T16:10:00", "2016-12-01T16:20:00")
SECOND = Window("2016-12-01T16:20:00", "2016-12-01T16:30:00")


def log_of(frame: pd.DataFrame, **named: str) -> Log:
    return Log.of(Table.of(frame), **{"user": "ID", "time": "Date", "item": "URL"} | named)


def behaviour(users: int, items: int, seed: int = 1) -> np.ndarray:
    """Binary cells with six habits behind them."""
    draw = np.random.default_rng(seed)
    chance = draw.random((users, 6)) ** 3 @ draw.random((6, items)) ** 3
    return (draw.random((users, items)) < chance / chance.max()).astype(float)


def matrix_table(cells: np.ndarray) -> Table:
    user, item = np.nonzero(np.ones_like(cells))
    frame = pd.DataFrame(
        {"ID": [f"u{one:04d}" for one in user], "Date": 0.0, "URL": [f"i{one:03d}" for one in item]}
    )
    frame["much"] = cells.ravel()
    log = log_of(frame, amount="much")
    (found,) = matrices(log, [Window(0, 1)], cells="sum", minimum_users=1)
    assert found.cells.shape == ((cells != 0).any(axis=1).sum(), (cells != 0).any(axis=0).sum())
    return found.table()


def test_the_example_of_the_thesis():
    first, second = matrices(log_of(TABLE_5_1), [FIRST, SECOND], minimum_users=1)
    # only items of both windows are kept: www.google.com and www.youtube.com
    assert first.items == ("www.google.com", "www.youtube.com")
    assert first.users == ("x",)
    assert second.users == ("x", "z")
    assert_array_equal(second.cells.toarray(), [[1, 1], [0, 1]])
    (whole,) = matrices(log_of(TABLE_5_1), [FIRST], minimum_users=1)
    order = [whole.items.index(name) for name in
             ("www.google.com", "mail.google.com", "www.youtube.com", "www.facebook.com")]  # fmt: skip
    assert_array_equal(whole.cells.toarray()[:, order], [[1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]])


def test_windows_hold_their_start_and_not_their_end():
    frame = pd.DataFrame({"ID": ["a", "b"], "Date": ["2025-01-01", "2025-01-02"], "URL": ["x", "x"]})
    for start, end in (
        (date(2025, 1, 1), date(2025, 1, 2)),
        (datetime(2025, 1, 1), datetime(2025, 1, 2, tzinfo=UTC)),
        ("2025-01-01T01:00+01:00", datetime(2025, 1, 2, 2, tzinfo=timezone(timedelta(hours=2)))),
    ):
        (found,) = matrices(log_of(frame), [Window(start, end)], minimum_users=1)
        assert found.users == ("a",)


def test_amounts_add_up_and_users_differ_where_binary():
    frame = pd.DataFrame({"ID": ["a", "a", "b"], "Date": [1, 1, 1], "URL": ["x"] * 3, "much": [2.0, 0.5, 1]})
    log = log_of(frame, amount="much")
    assert_array_equal(
        matrices(log, [Window(1, 2)], cells="sum", minimum_users=2)[0].cells.toarray(), [[2.5], [1]]
    )
    assert_array_equal(matrices(log, [Window(1, 2)], minimum_users=2)[0].cells.toarray(), [[1], [1]])
    with pytest.raises(TableError, match="No item has 3 users"):
        matrices(log, [Window(1, 2)], minimum_users=3)


def test_places_become_squares():
    frame = pd.DataFrame(
        {"ID": ["a", "a", "b"], "Date": [1, 1, 1], "x": [0.14, -0.01, 0.11], "y": [0.0, 0, 0.09]}
    )
    log = Log.of_places(Table.of(frame), user="ID", time="Date", place=("x", "y"), cell=0.1)
    (found,) = matrices(log, [Window(1, 2)], minimum_users=1)
    assert found.items == ("-0.1:0", "0.1:0")
    assert_array_equal(found.cells.toarray(), [[1, 1], [0, 1]])
    far = Table.of(frame.assign(x=[0.0, 1e300, 2.0]))
    with pytest.raises(TableError, match=r"'x' has 1 places too far away .* in row 2") as problem:
        Log.of_places(far, user="ID", time="Date", place=("x", "y"), cell=0.1)
    assert problem.value.hint
    with pytest.raises(TableError, match="side of a grid cell"):
        Log.of_places(Table.of(frame), user="ID", time="Date", place=("x", "y"), cell=0.0)


def test_pseudonyms_change_with_the_window():
    frame = pd.DataFrame({"ID": [f"u{n}" for n in range(50)] * 2, "Date": [1] * 50 + [2] * 50, "URL": "x"})
    one, other = matrices(log_of(frame), [Window(1, 2), Window(2, 3)])
    (first, stood), (second, places) = one.pseudonymize(7), other.pseudonymize(7)
    assert first.users == second.users
    assert set(first.users).isdisjoint(one.users)
    assert sorted(stood) == list(range(50))
    # two random orders agree in more than 12 of 50 places with a probability below 1e-9
    assert (stood == places).sum() <= 12


@pytest.mark.parametrize(
    ("change", "windows", "says"),
    [
        ({"Date": "soon"}, [FIRST], "times that cannot be read, the first in row 1: 'soon'"),
        ({"Date": None}, [FIRST], "missing cells"),
        ({}, [], "There is no window"),
        (
            {},
            [Window("2017-01-01", "2017-02-01")],
            "holds no user: the events of the log are from 2016-12-01T16:13",
        ),
        ({}, [Window("2017-01-01", "2016-02-01")], "ends before it begins"),
        ({}, [Window("early", "2016-02-01")], "'early', which is not a date"),
        ({}, [Window(1, 2)], "the times of the log are dates"),
        ({"Date": 3}, [FIRST], "the times of the log are numbers"),
        ({}, [FIRST, Window("2016-12-01T16:15", "2016-12-01T16:25")], "overlap"),
    ],
)
def test_bad_logs_and_windows_are_refused(change, windows, says):
    with pytest.raises(TableError, match=says) as problem:
        matrices(log_of(TABLE_5_1.assign(**change)), windows)
    assert problem.value.hint


def test_an_empty_log_is_refused():
    with pytest.raises(TableError, match="empty"):
        log_of(TABLE_5_1.iloc[:0])
    with pytest.raises(TableError, match="no column 'nobody'"):
        log_of(TABLE_5_1, user="nobody")


@pytest.mark.parametrize("kind", ["sgd", "nmf"])
def test_factorization_comes_near_the_best_of_its_rank(kind):
    cells = behaviour(80, 120)
    singular = np.linalg.svd(cells, compute_uv=False)
    best = np.sqrt((singular[10:] ** 2).sum())
    found = factorize(cells, 10, kind=kind, seed=1)
    error = np.linalg.norm(cells - found.users @ found.items.T)
    assert best <= error < 1.1 * best
    assert_allclose(deviation(cells, found), np.abs(cells - found.users @ found.items.T).sum())
    if kind == "nmf":
        assert found.users.min() >= 0
        assert found.items.min() >= 0


@pytest.mark.parametrize("kind", ["sgd", "nmf"])
def test_a_seed_makes_factors_repeatable_and_sparse_and_dense_alike(kind):
    cells = behaviour(40, 60)
    one, two = (factorize(cells, 5, kind=kind, seed=3, iterations=20) for _ in range(2))
    assert_array_equal(one.users, two.users)
    assert_array_equal(one.items, two.items)
    other = factorize(cells, 5, kind=kind, seed=4, iterations=20)
    free = factorize(cells, 5, kind=kind, iterations=20)
    assert not np.array_equal(one.users, other.users)
    assert not np.array_equal(one.users, free.users)
    sparse = factorize(csr_matrix(cells), 5, kind=kind, seed=3, iterations=20)
    assert_allclose(sparse.users, one.users, rtol=1e-9)


def test_sgd_of_blocks_is_the_same_by_sparse_steps(monkeypatch):
    cells = behaviour(40, 60)
    one = factorize(cells, 5, seed=3, iterations=20)
    monkeypatch.setattr("anonymizer.series.factorization._SMALL", 0)
    two = factorize(cells, 5, seed=3, iterations=20)
    assert_allclose(two.users, one.users, rtol=1e-9, atol=1e-12)


def objective(cells: np.ndarray, factors: Factors, penalty: float) -> float:
    """Eq. 2.10 as printed: the penalty counts in every cell."""
    (n, m), u, v = cells.shape, factors.users, factors.items
    return ((cells - u @ v.T) ** 2).sum() + penalty * (m * (u**2).sum() + n * (v**2).sum())


@pytest.mark.parametrize("penalty", [0.0, 0.02, 0.1])
def test_sgd_minimises_the_printed_equation(penalty):
    """Neither factor can be made much better for the other, which alternating least squares would do."""
    cells = behaviour(40, 60)
    found = factorize(cells, 3, seed=1, iterations=200, penalty=penalty)
    items = refit_features(cells, found.users, penalty=penalty)
    users = refit_features(cells.T, found.items, penalty=penalty)
    least = objective(cells, found, penalty)
    assert least < objective(cells, Factors(found.users, np.zeros_like(items)), penalty)
    assert 0.99 * least < objective(cells, Factors(found.users, items), penalty) <= least
    assert 0.99 * least < objective(cells, Factors(users, found.items), penalty) <= least


def test_the_error_falls_with_iterations_and_rank():
    cells = behaviour(60, 80)
    by_time = [deviation(cells, factorize(cells, 10, seed=1, iterations=some)) for some in (1, 10, 100)]
    assert by_time[0] > by_time[1] > by_time[2]
    by_rank = [deviation(cells, factorize(cells, rank, seed=1)) for rank in (2, 10, 40)]
    assert by_rank[0] > by_rank[1] > by_rank[2]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"rank": 21}, "at most the rank 20"),
        ({"rank": 0}, "rank is 0"),
        ({"rank": 2, "kind": "svd"}, "'svd' is not a valid factorization"),
        ({"rank": 2, "iterations": 0}, "out of range"),
        ({"rank": 2, "rate": float("nan")}, "out of range"),
    ],
)
def test_bad_parameters_are_refused(given, says):
    with pytest.raises(TableError, match=says) as problem:
        factorize(behaviour(20, 30), **given)
    assert problem.value.hint


def test_nmf_takes_no_negative_cell_and_sgd_does():
    cells = behaviour(20, 30)
    cells[3, 4] = -1
    with pytest.raises(TableError, match="negative, and NMF"):
        factorize(cells, 2, kind="nmf")
    assert factorize(cells, 2, seed=1).users.shape == (20, 2)
    cells[3, 4] = np.inf
    with pytest.raises(TableError, match="infinite"):
        factorize(cells, 2)


def test_one_user_has_the_rank_one_at_most():
    assert factorize(np.ones((1, 5)), 1, seed=1).users.shape == (1, 1)
    with pytest.raises(TableError, match="1 users and 5 items has at most the rank 1"):
        factorize(np.ones((1, 5)), 2)


RELEASES = [
    ("sgd", 10, (("mdav", MDAV(k=4)),), False),
    ("sgd", 20, (("k-member", KMember(k=5, random_state=1)),), False),
    ("nmf", 10, (("mdav", MDAV(k=4)),), True),
    ("sgd", 8, (("sampling", Sampling(rate=0.5)), ("mdav", MDAV(k=3))), True),
]


@pytest.mark.parametrize(("kind", "rank", "steps", "refit"), RELEASES)
def test_k_equal_rows_in_the_bytes_that_leave(tmp_path, kind, rank, steps, refit):
    """Theorem 5.1, as who reads the file sees it."""
    table = matrix_table(behaviour(120, 60))
    k = steps[-1][1].k
    release = Pipeline(
        steps=[("factorization", Recombined(rank=rank, factorization=kind, steps=steps, refit=refit))]
    ).release(table)
    (promise,) = release.guarantees
    assert (promise.kind, promise.parameters) == ("k-anonymity", {"k": k})
    assert promise.columns == table.roles.quasi_identifiers
    Gate().write(release, tmp_path / "out.csv")
    lines = (tmp_path / "out.csv").read_text().splitlines()[1:]
    counts = pd.Series(lines).value_counts()
    assert counts.min() >= k
    assert len(counts) > 1
    assert "u0001" not in (tmp_path / "out.csv").read_text()


def test_users_with_equal_factors_have_equal_rows_before_rounding():
    method = Recombined(rank=10, steps=(("mdav", MDAV(k=4)),), digits=12, random_state=1)
    Pipeline(steps=[("factorization", method)]).release(matrix_table(behaviour(120, 60)))
    _, groups = np.unique(method.factors_.users, axis=0, return_inverse=True)
    assert np.bincount(groups.ravel()).min() >= 4


def test_a_false_promise_is_found_by_the_gate(tmp_path):
    """As printed, line 9 of Algorithm 3 multiplies U and not U' (erratum 16): nobody is protected."""
    table = matrix_table(behaviour(60, 40))
    method = Recombined(rank=10, steps=(("mdav", MDAV(k=4)),), random_state=1)
    release = Pipeline(steps=[("factorization", method)]).release(table)
    plain = Pipeline(steps=[("factorization", Recombined(rank=10, random_state=1))]).release(table)
    printed = replace(plain, guarantees=release.guarantees)
    with pytest.raises(GateError, match="k-anonymity is promised and does not hold"):
        Gate().write(printed, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_noise_on_factors_promises_nothing_of_the_matrix(tmp_path):
    table = matrix_table(behaviour(60, 40))
    method = Recombined(
        rank=3,
        bounds=(-2.0, 2.0),
        steps=(("noise", DpNoise(epsilon=3.0, bounds={f"f{n}": (-2.0, 2.0) for n in (1, 2, 3)})),),
    )
    release = Pipeline(steps=[("factorization", method)]).release(table)
    assert release.guarantees == ()
    assert release.manifest.epsilon is None
    assert any("local-dp" in note or "dp" in note for note in method.notes)
    Gate().write(release, tmp_path / "out.csv")


def test_laplace_noise_has_the_stated_scale():
    """The mean of |noise| over 4,000 draws of scale 0.2 misses by 10 % with a probability below 1e-9."""
    cells = behaviour(400, 40)
    table = matrix_table(cells)
    plain = Recombined(rank=10, random_state=1)
    noisy = Recombined(
        rank=10, random_state=1, steps=(("noise", Noise(scales=0.2, digits=6, random_state=2)),)
    )
    before, after = (
        (Pipeline(steps=[("f", method)]).release(table), method.factors_.users)[1]
        for method in (plain, noisy)
    )
    assert_allclose(np.abs(after - before).mean(), 0.2, rtol=0.1)


@pytest.mark.parametrize(
    ("method", "says"),
    [
        (Recombined(rank=99), "at most the rank"),
        (Recombined(digits=-1), "digits is -1"),
        (Recombined(bounds=(1.0, 0.0)), "wrong way round"),
        (Recombined(factorization="nmf", rank=3), "negative"),
        (Recombined(factorization="pca", rank=3), "'pca' is not a valid factorization"),
        (Recombined(rank=3, steps=(("mdav", MDAV(k=90)),)), "k is 90"),
        (Recombined(rank=3, steps=(("k", KMember(k=90)),)), "not even|k"),
    ],
)
def test_bad_recombinations_are_refused(method, says):
    cells = behaviour(60, 40)
    cells[0, 0] = -1
    frame = matrix_table(np.abs(cells)).native.copy()
    frame.iloc[0, 1] = -1
    table = Table.of(frame, matrix_table(np.abs(cells)).roles)
    with pytest.raises(AnonymizerError, match=says):
        Pipeline(steps=[("f", method)]).release(table)


def test_refitting_lowers_the_error():
    cells = behaviour(100, 50)
    found = factorize(cells, 10, seed=1)
    coarse = np.round(found.users, 1)
    again = refit_features(cells, coarse)
    assert np.linalg.norm(cells - coarse @ again.T) < np.linalg.norm(cells - coarse @ found.items.T)
    assert isinstance(Factors(coarse, again).items, np.ndarray)


def test_a_released_matrix_reads_back(tmp_path):
    table = matrix_table(behaviour(60, 40))
    release = Pipeline(steps=[("f", Recombined(rank=5, digits=2))]).release(table)
    Gate().write(release, tmp_path / "out.parquet")
    read = files.table(tmp_path / "out.parquet")
    assert read.names == table.roles.quasi_identifiers
    assert_allclose(np.round(read.numbers("i001"), 2), read.numbers("i001"))
